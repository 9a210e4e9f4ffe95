"""Preferences are written from dev pairs, judge them, the best are selected, and judge the test pairs."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd
from django.db.models import QuerySet
from pydantic import Field

from evaluation.judging_report.personal_scores import Chosen, Key, choose
from evaluation.judging_report.preference_votes import judgements_frame
from evaluation.metrics.decisions import parse_decision
from llm.models import Call, Job
from materials.models import Item
from protocols.asking import Asked, answers
from protocols.context import Made, StageContext
from protocols.sense.instruments import DECISION, PAIR_QUESTIONS, PREFERENCE_QUESTIONS
from protocols.sense.judgements import judgement
from protocols.sense.stages.asking import AskOne, Judge, asking_stage, fields, marks, prompt
from protocols.stages import Stage, StageError, StageResult, StageSettings

LABEL = ("annotator", "topic", "pair", "human")
CONTENT = (*LABEL, "preference_id", "preference_topic")
PAIR_FIELDS = ("query", "topic", "pair", "annotator", "human", "response_1", "response_2")


class Writing(AskOne):
    max_tokens: int = Field(default=1024, ge=1, le=100_000, description="The longest preference, in tokens.")
    temperature: float = Field(default=0, ge=0, le=2, description="The paper does not give it; 0 can be repeated.")


class Selecting(StageSettings):
    difference_penalty: bool = Field(
        default=False,
        description="Take off how far right choices of the two orders differ, as the published script can.",
    )


def judging(ctx: StageContext, dataset: Any, name: str) -> Asked:
    """Which response is better, in both orders; the reply is read once and strictly, as the paper counts."""
    return Asked(
        dataset=dataset,
        instrument="sense-pair",
        title="Which response is preferred",
        questions=PAIR_QUESTIONS,
        prompts=[prompt(name)],
        endpoints=[ctx.settings.endpoint],
        kind=Job.Kind.JUDGE,
        fields=fields(ctx.settings)
        | {
            "option_orders": Job.OptionOrders.BOTH,
            "answer_mode": "sentence",
            "answer_sentence": DECISION,
            "max_parse_attempts": 1,
        },
    )


def judged(ctx: StageContext, code: str) -> pd.DataFrame:
    """The judgements of a stage's jobs."""
    names = [f"item__content__{name}" for name in CONTENT]
    rows = _settled(ctx, code).values_list(*names, "orders", "text").order_by("pk").iterator(chunk_size=2000)
    return judgements_frame(
        judgement(
            {name: value for name, value in zip(CONTENT, values, strict=True) if value is not None},
            orders,
            text,
            mode="strict",
        )
        for *values, orders, text in rows
    )


def _settled(ctx: StageContext, code: str) -> QuerySet[Call]:
    calls = Call.objects.filter(job__project=ctx.project, job__in=ctx.output(code)["job"])
    return calls.exclude(status__in=[Call.Status.PENDING, Call.Status.CLAIMED])


def count(ctx: StageContext) -> StageResult:
    """Of the stage's calls, how many were asked and how many decide for a response."""
    texts = _settled(ctx, ctx.stage.code).values_list("text", flat=True).iterator(chunk_size=2000)
    why: Counter[str] = Counter()
    for text in texts:
        decides = bool(text) and parse_decision(text, mode="strict") is not None
        why["" if decides else "decide for neither response" if text else "without an answer"] += 1
    decided = why.pop("", 0)
    return StageResult({}, decided + why.total(), decided, dict(why))


def _prefer(ctx: StageContext) -> Asked:
    return Asked(
        dataset=ctx.dataset("split", "dataset_dev"),
        instrument="sense-preference",
        title="Preference",
        questions=PREFERENCE_QUESTIONS,
        prompts=[prompt("preference")],
        endpoints=[ctx.settings.endpoint],
        fields=fields(ctx.settings),
    )


def _preferences(ctx: StageContext) -> StageResult:
    """The preferences, and every dev pair under each preference of its annotator and topic."""
    written: dict[Key, list[Made]] = defaultdict(list)
    for answer in answers(ctx, ctx.output("preferences")["job"]):
        content = answer.item.content
        own = written[content["annotator"], content["topic"]]
        id = f"{content['annotator']}/{content['topic']}/{len(own) + 1:02}"
        about = {name: content[name] for name in ("annotator", "topic", "pair")}
        about["preference_by"] = answer.call.job.endpoint.name
        own.append(
            Made(
                id,
                {"preference": answer.values["preference"].strip(), **about},
                {**answer.lineage, **marks(answer.item)},
            )
        )
    made = ctx.make_dataset(preference for own in written.values() for preference in own)
    dev = list(ctx.items("split", "dataset_dev"))
    pairs = ctx.make_dataset(
        (
            under(item, number, id, content)
            for number, item in enumerate(dev, start=1)
            for id, content, _ in written[item.content["annotator"], item.content["topic"]]
        ),
        part="dev",
    )
    came, out = len(dev), made.items.count()
    outputs = {"dataset": made.slug, "dataset_dev": pairs.slug}
    return StageResult(outputs, came, out, {"without an answer": came - out} if came > out else {})


def under(item: Item, number: int, id: str, written: Mapping[str, Any]) -> Made:
    """A labelled pair to be judged under the preference with this id and content."""
    content = {name: item.content[name] for name in PAIR_FIELDS}
    content |= {"preference_id": id, "preference": written["preference"], "preference_topic": written["topic"]}
    content["preference_by"] = written["preference_by"]
    return Made(f"{number}/{id}", content, {"item": item.pk, **marks(item)})


def select(ctx: StageContext) -> StageResult:
    """The best subsets of preferences, and every test pair under those that any of them holds."""
    dev = judged(ctx, "judge_dev")
    if dev.empty:
        raise StageError("No dev pair was judged; run the stage before again.")
    found = choose(dev, difference_penalty=ctx.settings.difference_penalty)
    made = ctx.make_dataset(_selection(key, chosen) for key, chosen in found.items())
    written = {item.external_id: item.content for item in ctx.items("preferences")}
    test = list(ctx.items("split", "dataset_test"))
    pairs = ctx.make_dataset(
        (
            under(item, number, id, written[id])
            for number, item in enumerate(test, start=1)
            if (chosen := found.get((item.content["annotator"], item.content["topic"])))
            for id in chosen.union
        ),
        part="test",
    )
    used = sum(len(chosen.one) for chosen in found.values())
    came = sum(len(chosen.preferences) for chosen in found.values())
    return StageResult(
        {"table": made.slug, "dataset_test": pairs.slug}, came, used, {"not in the smallest best set": came - used}
    )


def _selection(key: Key, chosen: Chosen) -> Made:
    annotator, topic = key
    content = {
        "annotator": annotator,
        "topic": topic,
        "subsets_searched": 2 ** len(chosen.preferences) - 1,
        "dev_right": chosen.dev_right,
        "dev_rows": chosen.dev_rows,
        "best_subsets": len(chosen.subsets),
        "smallest": list(chosen.one),
        "preferences": list(chosen.preferences),
        "subsets": [list(subset) for subset in chosen.subsets],
    }
    return Made(f"{annotator}/{topic}", content, {})


def selection(ctx: StageContext) -> dict[Key, Chosen]:
    """What `select` found, by annotator and topic."""
    return {
        (content["annotator"], content["topic"]): Chosen(
            tuple(content["preferences"]),
            tuple(map(tuple, content["subsets"])),
            content["dev_right"],
            content["dev_rows"],
        )
        for content in (item.content for item in ctx.items("select", "table"))
    }


def _judge_dev(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("preferences", "dataset_dev"), "judge")


def _judge_test(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("select", "dataset_test"), "judge")


def _judge_plain(ctx: StageContext) -> Asked:
    return judging(ctx, ctx.dataset("pairs"), "judge_plain")


STAGES = (
    asking_stage(
        _prefer,
        code="preferences",
        title="Preferences",
        says="A strong model says in words what each choice on a dev pair tells of the person, with the paper’s own "
        "prompt. For the ablation of preference quality have them written again by the judge itself; Compare keeps "
        "both.",
        needs=("split",),
        settings=Writing,
        prompts=["preference"],
        collect=_preferences,
    ),
    asking_stage(
        _judge_dev,
        code="judge_dev",
        title="Judge dev pairs",
        says="The judge decides every dev pair under each preference of its annotator and topic, in both orders, with "
        "the paper’s own prompt.",
        needs=("preferences",),
        settings=Judge,
        prompts=["judge"],
        collect=count,
    ),
    Stage(
        code="select",
        title="Select preferences",
        says="All subsets of an annotator’s preferences of a topic are tried (1,023 of ten), and those are selected "
        "whose majority vote is right most often on the dev pairs. A tie is decided for the response shown first.",
        kind="transformation",
        needs=("split", "preferences", "judge_dev"),
        settings=Selecting,
        run=select,
    ),
    asking_stage(
        _judge_test,
        code="judge_test",
        title="Judge test pairs",
        says="The judge decides every test pair under the selected preferences, in both orders.",
        needs=("select",),
        settings=Judge,
        prompts=["judge"],
        collect=count,
    ),
    asking_stage(
        _judge_plain,
        code="baseline",
        title="Judge without preferences",
        says="The same judge decides the labelled pairs, in both orders, without any preference.",
        needs=("pairs",),
        settings=Judge,
        prompts=["judge_plain"],
        collect=count,
    ),
)
