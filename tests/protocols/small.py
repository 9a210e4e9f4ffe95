"""A protocol for tests: read lines, keep those that are long enough, have them labelled."""

from collections import Counter
from pathlib import Path

from pydantic import Field

from protocols.context import Made, StageContext
from protocols.files import open_given
from protocols.labelling import decided, key_of, start_labelling, undecided
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
    seed: int = 1


def read(ctx: StageContext) -> StageResult:
    with open_given(ctx.files["lines"]) as file:
        lines = file.read().decode().splitlines()
    if lines[0].startswith("fault"):
        raise StageError(f"Line 1 is a {lines[0]}; mend the file.")
    made = ctx.make_dataset(
        Made(f"line-{n}", {"text": line}, {"file_row": n}) for n, line in enumerate(lines, start=1) if line
    )
    return StageResult({"dataset": made.slug}, len(lines), len(lines))


def keep(ctx: StageContext) -> StageResult:
    items = list(ctx.items("read"))
    kept = [item for item in items if len(item.content["text"]) >= ctx.settings.characters]
    made = ctx.make_dataset(Made(item.external_id, item.content, {"item": item.pk}) for item in kept)
    return StageResult({"dataset": made.slug}, len(items), len(kept), {"too short": len(items) - len(kept)})


def label(ctx: StageContext) -> StageResult:
    open_ones = undecided(ctx.items("keep"), decided(ctx, "label"))
    if not open_ones:
        return labelled(ctx)
    made = ctx.make_dataset(Made(item.external_id, item.content, {"item": item.pk}) for item in open_ones)
    label_project = start_labelling(ctx, dataset=made, instrument="fine", title="Fine", questions=[QUESTION])
    return StageResult({"label_project": label_project.slug}, done=False)


def labelled(ctx: StageContext) -> StageResult:
    if ctx.run.stage_runs.filter(outputs__label_project="gone").exists():
        raise StageError("The labelling is nowhere to be found.")
    known = decided(ctx, "label")
    said = [known.get(key_of(item), {}).get("fine", "not labelled") for item in ctx.items("keep")]
    why = Counter(answer for answer in said if answer != "yes")
    return StageResult({}, len(said), said.count("yes"), dict(why))


PROTOCOL = Protocol(
    name="small",
    title="Small",
    says="Lines are read, filtered and labelled.",
    sources=(Source("lines", "Lines", "A text file.", LINES),),
    trial={"keep": {"seed": 2}},
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
