"""A protocol for tests: read lines, keep those that are long enough, have them labelled."""

from pathlib import Path

from pydantic import Field

from annotation.models import LabelProject
from annotation.services import create_label_project
from materials.services import publish_instrument
from protocols.context import Made, StageContext
from protocols.files import open_given
from protocols.stages import Plan, Protocol, Source, Stage, StageError, StageResult, StageSettings

LINES = Path(__file__).parent / "lines.txt"
QUESTION = {
    "kind": "choice",
    "code": "fine",
    "text": "Is it fine?",
    "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
}


class Least(StageSettings):
    characters: int = Field(default=4, ge=1, le=100, description="Lines with fewer characters are left out.")


def read(ctx: StageContext) -> StageResult:
    with open_given(ctx.files["lines"]) as file:
        lines = file.read().decode().splitlines()
    if "fault" in lines:
        raise StageError("Line 1 is a fault; mend the file.")
    made = ctx.make_dataset(Made(f"line-{n}", {"text": line}, {"line": n}) for n, line in enumerate(lines, start=1))
    return StageResult({"dataset": made.slug}, len(lines), len(lines))


def keep(ctx: StageContext) -> StageResult:
    items = list(ctx.items("read"))
    kept = [item for item in items if len(item.content["text"]) >= ctx.settings.characters]
    made = ctx.make_dataset(Made(item.external_id, item.content, {"item": item.pk}) for item in kept)
    return StageResult({"dataset": made.slug}, len(items), len(kept), {"too short": len(items) - len(kept)})


def label(ctx: StageContext) -> StageResult:
    instrument = publish_instrument(project=ctx.project, name="fine", title="Fine", questions=[QUESTION])
    made = create_label_project(
        project=ctx.project, name=ctx.title, dataset=ctx.dataset("keep"), instrument=instrument, by=ctx.by
    )
    return StageResult({"label_project": made.slug}, done=False)


def labelled(ctx: StageContext) -> StageResult:
    label_project = LabelProject.objects.filter(slug=ctx.output("label")["label_project"]).first()
    if label_project is None:
        raise StageError("The labelling is nowhere to be found.")
    places = label_project.assignments
    answered = places.filter(status="submitted").count()
    return StageResult({}, places.count(), answered, {"not labelled": places.count() - answered})


PROTOCOL = Protocol(
    name="small",
    title="Small",
    says="Lines are read, filtered and labelled.",
    sources=(Source("lines", "Lines", "A text file.", LINES),),
    stages=(
        Stage(code="read", title="Read", says="Each line is an item.", kind="import", sources=("lines",), run=read),
        Stage(
            code="keep",
            title="Keep",
            says="Short lines are left out.",
            kind="transformation",
            needs=("read",),
            settings=Least,
            run=keep,
            plan=lambda ctx: Plan(calls=ctx.dataset("read").items.count()),
        ),
        Stage(
            code="label",
            title="Label",
            says="People say which are fine.",
            kind="labelling",
            needs=("keep",),
            decides="An annotator, for each line.",
            run=label,
            collect=labelled,
        ),
    ),
)
