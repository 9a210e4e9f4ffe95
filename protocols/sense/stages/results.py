"""How well the judge follows each person, beside no preferences and other judges; over runs, topics and orders."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import pandas as pd
from pydantic import Field

from evaluation.metrics.preference import two_order_accuracy
from evaluation.metrics.ranking import repeated_runs
from llm.models import Job
from materials.models import Dataset, Item
from materials.reading import read_rows
from materials.reading_faults import Fault, SourceError
from materials.reading_source import find_source
from protocols.asking import Asked
from protocols.context import Made, StageContext
from protocols.files import Given, open_given
from protocols.models import StageRun
from protocols.reporting import ask_for_report, collect_reports
from protocols.sense.categories import topics
from protocols.sense.personal import by_topic, crossed, positions, scores
from protocols.sense.stages.asking import Judge, asking_stage
from protocols.sense.stages.judging import count, judged, judged_plain, judging, selection, under
from protocols.stages import Stage, StageError, StageResult, StageSettings

VERDICTS = "verdicts"
NEEDED = ("pair", "judge", "winner_order_12")
FRONT = {"winner_order_12": "first", "winner_order_21": "second"}  # the response that was shown first
WINNERS = {"1": "first", "2": "second", "first": "first", "second": "second"}


class Reporting(StageSettings):
    people: Literal["real", "simulated", "all"] = Field(
        default="real", description="Whose labels are compared; simulated ones say nothing about people."
    )


class Crossing(StageSettings):
    source: str = Field(default="math", description=f"Whose preferences: one of {', '.join(topics())}.")
    targets: tuple[str, ...] = Field(
        default=("reasoning", "translation"), description="On whose test pairs; the paper takes these two."
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


def table(ctx: StageContext, rows: Iterable[Mapping[str, Any]], part: str = "") -> str:
    """The dataset's slug: an item for each row, whose lineage names the runs of the stages it was counted from."""
    lineage = {"stage_runs": {code: stage_run.pk for code, stage_run in ctx.inputs.items()}, **_marks(ctx)}
    made = ctx.make_dataset(
        (Made(str(number), _without_nan(row), lineage) for number, row in enumerate(rows, start=1)), part=part
    )
    return made.slug


def _marks(ctx: StageContext) -> dict[str, bool]:
    """Whether bots or a demo model are behind anything that the stage takes."""
    outputs = [pair for stage_run in ctx.inputs.values() for pair in stage_run.outputs.items()]
    slugs = [slug for name, slug in outputs if name.startswith(("dataset", "table"))]
    jobs = [pk for name, pks in outputs if name == "job" for pk in pks]
    items = Item.objects.filter(dataset__project=ctx.project, dataset__slug__in=slugs)
    found = {
        "simulated": items.filter(lineage__simulated=True).exists(),
        "demo_model": items.filter(lineage__demo_model=True).exists()
        or Job.objects.filter(pk__in=jobs, endpoint__demo_model=True).exists(),
    }
    return {name: True for name, there in found.items() if there}


def _without_nan(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}


def report(ctx: StageContext) -> StageResult:
    judge, author = _endpoint(ctx, "judge_test"), _endpoint(ctx, "preferences")
    for code in ("judge_dev", "baseline"):
        if (other := _endpoint(ctx, code)) != judge:
            title = ctx.run.protocol.stage(code).title
            raise StageError(
                f'"{title}" asked {other}, but the test pairs were judged by {judge}; ask one model in all.'
            )
    chosen, test, plain = selection(ctx), judged(ctx, "judge_test"), judged_plain(ctx)
    rows = [{**row, "judge": judge, "preferences_by": author} for row in scores(test, plain, chosen)]
    others = list(_imported(ctx))
    outputs = {
        "table": table(ctx, rows),
        "table_topics": table(ctx, by_topic([*rows, *others]), "topics"),
        "table_positions": table(ctx, ({**row, "judge": judge} for row in positions(test, plain, chosen)), "positions"),
    }
    if others:
        outputs["table_others"] = table(ctx, others, "others")
    n_pairs = ctx.dataset("split", "dataset_test").items.count()
    out = sum(row["pairs"] for row in rows)
    return StageResult(outputs, n_pairs, out, {"not judged": n_pairs - out} if n_pairs > out else {})


def people_and_judge(ctx: StageContext) -> StageResult:
    parameters = {
        "dataset": ctx.output("pairs")["dataset"],
        "instrument": "sense-pair",
        "question": "better",
        "people": ctx.settings.people,
        "kinds": ["annotator"],
        "topic": "item_topic",
        "first_author": "item_model_1",
        "second_author": "item_model_2",
    }
    return StageResult({"report": ask_for_report(ctx, "judging", parameters)}, done=False)


def _endpoint(ctx: StageContext, code: str) -> str:
    return Job.objects.select_related("endpoint").get(pk=ctx.output(code)["job"][0]).endpoint.name


def _imported(ctx: StageContext) -> Iterator[dict[str, Any]]:
    """Accuracy of other judges' verdicts on the test pairs, by judge, annotator and topic. An empty winner is wrong."""
    verdicts: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for item in ctx.items("verdicts"):
        verdicts[item.content["pair"]].append(item.content)
    choices = pd.DataFrame(
        {
            "judge": verdict["judge"],
            "annotator": content["annotator"],
            "topic": content["topic"],
            "item": content["pair"],
            "right_first": int(content["human"] == front),
            "choice": {front: "A"}.get(winner, "B") if (winner := WINNERS.get(verdict[column], "")) else None,
        }
        for content in (item.content for item in ctx.items("split", "dataset_test"))
        for verdict in verdicts[content["pair"]]
        for column, front in FRONT.items()
        if column in verdict
    )
    if choices.empty:
        return
    for (judge, annotator, topic), own in choices.groupby(["judge", "annotator", "topic"]):
        accuracy = two_order_accuracy(own).value
        pairs = own["item"].nunique()
        yield {"topic": topic, "annotator": annotator, "accuracy": accuracy, "pairs": pairs, "judge": judge}


def compare(ctx: StageContext) -> StageResult:
    """Means over the runs of the report so far, for each judge, author of preferences and topic."""
    runs = StageRun.objects.filter(run=ctx.run, code="accuracy", status=StageRun.Status.DONE).order_by("pk")
    slugs = [outputs["table_topics"] for outputs in runs.values_list("outputs", flat=True)]
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for dataset in Dataset.objects.filter(project=ctx.project, slug__in=slugs).order_by("pk"):
        for content in dataset.items.order_by("position").values_list("content", flat=True):
            found[content["judge"], content["preferences_by"], content["topic"]].append(content)
    rows = []
    for (judge, author, topic), own in found.items():
        given = [content["accuracy"] for content in own if content["accuracy"] is not None]
        mean = repeated_runs(given).mean
        rows.append(
            {"topic": topic, "accuracy": mean.value, "low": mean.low, "high": mean.high, "runs": len(given)}
            | {"baseline": own[-1]["baseline"], "judge": judge, "preferences_by": author}
        )
    return StageResult({"table": table(ctx, rows)}, len(slugs), len(slugs))


def cross_pairs(ctx: StageContext) -> StageResult:
    """Test pairs of other topics under the preferences that were selected for one."""
    settings, found = ctx.settings, selection(ctx)
    if unknown := [topic for topic in (settings.source, *settings.targets) if topic not in topics()]:
        raise StageError(f"There is no topic {', '.join(unknown)}; there are {', '.join(topics())}.")
    texts = {item.external_id: item.content["preference"] for item in ctx.items("preferences")}
    test = [item for item in ctx.items("split", "dataset_test") if item.content["topic"] in settings.targets]
    made = ctx.make_dataset(
        under(item, number, id, texts[id], settings.source)
        for number, item in enumerate(test, start=1)
        if (chosen := found.get((item.content["annotator"], settings.source)))
        for id in chosen.one
    )
    if not made.items.exists():
        raise StageError("There are no such preferences or no such test pairs; choose other topics.")
    return StageResult({"dataset": made.slug}, len(test), len(test))


def _judge_crossed(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("cross"), "judge")


def _crossed(ctx: StageContext) -> StageResult:
    result = count(ctx)
    return result._replace(outputs={"table": table(ctx, crossed(judged(ctx, ctx.stage.code)))})


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
        says="How often the judge chooses what each person chose, in both orders: with the selected preferences, "
        "without any, and by other judges; how often it takes the first place, and whether it stays with its choice.",
        kind="report",
        needs=("split", "preferences", "judge_dev", "select", "judge_test", "baseline", "verdicts"),
        run=report,
    ),
    Stage(
        code="report",
        title="People and the judge",
        says="A report on the labelled pairs: how far people agree, how often the judge without preferences chooses "
        "what most of them chose, whether the place decides, and how people and the judge rank the models.",
        kind="report",
        needs=("pairs", "labels", "baseline"),
        settings=Reporting,
        run=people_and_judge,
        collect=collect_reports,
    ),
    Stage(
        code="compare",
        title="Compare",
        says="Judges, authors of preferences and repeated runs beside each other: every accuracy that was computed so "
        "far, as means over runs with their interval.",
        kind="report",
        needs=("accuracy",),
        run=compare,
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
        collect=_crossed,
    ),
)
