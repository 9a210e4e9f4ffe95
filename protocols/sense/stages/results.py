"""How well the judge follows each person, beside no preferences and other judges; over runs and topics."""

from collections.abc import Iterator
from typing import Any, Literal

from django.db.models import QuerySet
from pydantic import Field

from evaluation.models import Report
from llm.models import Job
from materials.reading import read_rows
from materials.reading_faults import Fault, SourceError
from materials.reading_source import find_source
from protocols.asking import Asked
from protocols.context import Made, StageContext
from protocols.files import Given, open_given
from protocols.models import StageRun
from protocols.reporting import ask_for_report, collect_reports
from protocols.sense.categories import topics
from protocols.sense.stages.asking import Judge, asking_stage
from protocols.sense.stages.judging import count, judging, selection, under
from protocols.stages import Stage, StageError, StageResult, StageSettings

VERDICTS = "verdicts"
NEEDED = ("pair", "judge", "winner_order_12")


class Reporting(StageSettings):
    people: Literal["real", "simulated", "all"] = Field(
        default="real", description="Whose labels are compared; simulated ones say nothing about people."
    )


class Crossing(StageSettings):
    source: str = Field(
        default="math", description=f"Whose preferences: one of {', '.join(topics())}; empty for the first there is."
    )
    targets: tuple[str, ...] = Field(
        default=("reasoning", "translation"),
        description="On whose test pairs; the paper takes these two. None for all other topics.",
    )


def read_verdicts(ctx: StageContext) -> StageResult:
    """Verdicts of other judges; there may be no file."""
    given = ctx.files.get(VERDICTS)
    made = ctx.make_dataset(_verdicts(given) if given else [])
    out = made.items.count()
    return StageResult({"dataset": made.slug}, out, out)


def _verdicts(given: Given) -> Iterator[Made]:
    with open_given(given) as file:
        try:
            for entry in read_rows(file, find_source(file, given.name)):
                if isinstance(entry, Fault):
                    raise StageError(f"{given.name}, {entry}")
                number, row = entry
                if lacking := [name for name in NEEDED if name not in row]:
                    raise StageError(f"{given.name}, row {number}: it has no {', '.join(lacking)}.")
                content = {name: str(row[name]) for name in (*NEEDED, "winner_order_21") if name in row}
                yield Made(str(number), content, {"file": given.name, "sha256": given.sha256, "file_row": number})
        except SourceError as error:
            raise StageError(f"{given.name}: {error}") from error


def about_pairs(ctx: StageContext) -> dict[str, Any]:
    """What every report on the labelled pairs is asked."""
    return {
        "dataset": ctx.output("pairs")["dataset"],
        "instrument": "sense-pair",
        "question": "better",
        "people": ctx.settings.people,
        "kinds": ["annotator"],
        "topic": "item_topic",
        "first_author": "item_model_1",
        "second_author": "item_model_2",
    }


def report(ctx: StageContext) -> StageResult:
    judge = _endpoint(ctx, "judge_test")
    for code in ("judge_dev", "baseline"):
        if (other := _endpoint(ctx, code)) != judge:
            title = ctx.run.protocol.stage(code).title
            raise StageError(
                f'"{title}" asked {other}, but the test pairs were judged by {judge}; ask one model in all.'
            )
    asked = about_pairs(ctx) | {
        "dev": [ctx.output("preferences")["dataset_dev"]],
        "test": [ctx.output("select")["dataset_test"]],
        "difference_penalty": ctx.inputs["select"].settings.get("difference_penalty", False),
    }
    if ctx.dataset("verdicts").items.exists():
        asked["verdicts"] = ctx.output("verdicts")["dataset"]
    return StageResult({"report": ask_for_report(ctx, "judging", asked)}, done=False)


def _endpoint(ctx: StageContext, code: str) -> str:
    return Job.objects.select_related("endpoint").get(pk=ctx.output(code)["job"][0]).endpoint.name


def compare(ctx: StageContext) -> StageResult:
    """A report like the latest one on accuracy, with the pairs of all of them and those of other topics."""
    pks = [stage_run.outputs["report"] for stage_run in _done(ctx, "accuracy")]
    earlier = list(Report.objects.filter(pk__in=pks).order_by("pk").values_list("parameters", flat=True))
    runs = dict.fromkeys(pair for asked in earlier for pair in zip(asked["dev"], asked["test"], strict=True))
    asked = earlier[-1] | {"dev": [dev for dev, _ in runs], "test": [test for _, test in runs]}
    if crossed := _done(ctx, "judge_cross").last():
        asked["crossed"] = Job.objects.get(pk=crossed.outputs["job"][0]).dataset.slug
    return StageResult({"report": ask_for_report(ctx, "judging", asked)}, done=False)


def _done(ctx: StageContext, code: str) -> QuerySet[StageRun]:
    return StageRun.objects.filter(run=ctx.run, code=code, status=StageRun.Status.DONE).order_by("pk")


def cross_pairs(ctx: StageContext) -> StageResult:
    """Test pairs of other topics under the preferences that were selected for one."""
    settings, found = ctx.settings, selection(ctx)
    if unknown := [topic for topic in (settings.source, *settings.targets) if topic and topic not in topics()]:
        raise StageError(f"There is no topic {', '.join(unknown)}; there are {', '.join(topics())}.")
    written = {item.external_id: item.content for item in ctx.items("preferences")}
    source = settings.source or min((topic for _, topic in found), default="")
    targets = set(settings.targets or topics()) - {source}
    test = [item for item in ctx.items("split", "dataset_test") if item.content["topic"] in targets]
    made = ctx.make_dataset(
        under(item, number, id, written[id])
        for number, item in enumerate(test, start=1)
        if (chosen := found.get((item.content["annotator"], source)))
        for id in chosen.one
    )
    if not made.items.exists():
        raise StageError("There are no such preferences or no such test pairs; choose other topics.")
    return StageResult({"dataset": made.slug}, len(test), len(test))


def _judge_crossed(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("cross"), "judge")


STAGES = (
    Stage(
        code="verdicts",
        title="Other judges",
        says="Verdicts of other judges on the labelled pairs, from a file: trained judges and reward models that "
        "cannot be asked here. Without a file there are none.",
        kind="import",
        sources=(VERDICTS,),
        run=read_verdicts,
    ),
    Stage(
        code="accuracy",
        title="Accuracy",
        says="A report on the labelled pairs: how far people agree; how often the judge chooses what each person "
        "chose, with the selected preferences, without any, and by other judges; whether the place decides; and how "
        "people and the judge rank the models.",
        kind="report",
        needs=("pairs", "labels", "preferences", "judge_dev", "select", "judge_test", "baseline", "verdicts"),
        settings=Reporting,
        run=report,
        collect=collect_reports,
    ),
    Stage(
        code="cross",
        title="Other topics: pairs",
        says="Test pairs of other topics are put under the preferences that were selected for one topic.",
        kind="transformation",
        needs=("split", "preferences", "select"),
        settings=Crossing,
        run=cross_pairs,
    ),
    asking_stage(
        _judge_crossed,
        code="judge_cross",
        title="Other topics: judge",
        says="The judge decides pairs of one topic under preferences of another, in both orders.",
        needs=("cross",),
        settings=Judge,
        prompts=["judge"],
        collect=count,
    ),
    Stage(
        code="compare",
        title="Compare",
        says="A report that holds judges, authors of preferences and repeated runs beside each other: all that were "
        "scored so far, runs with their mean and its interval, and preferences of another topic where they were "
        "tried.",
        kind="report",
        needs=("accuracy",),
        run=compare,
        collect=collect_reports,
    ),
)
