"""The benchmark's models respond, pairs of responses are made, and annotators say which one they prefer."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from materials.models import Item
from protocols.asking import Asked, answers
from protocols.context import Made, StageContext
from protocols.labelling import Given, Key, given_labels, key_of
from protocols.sense.instruments import PAIR_QUESTIONS, RESPONSE_QUESTIONS
from protocols.sense.pairs import PER_TOPIC, Pair, all_pairs, drawn_pairs, n_pairs
from protocols.sense.split import DEV_PER_TOPIC, SEED, LabelledPair, Split, split_pairs
from protocols.sense.stages.asking import Respond, asking_stage, fields, marks, prompt
from protocols.sense.stages.people import ask_people
from protocols.stages import Stage, StageError, StageResult, StageSettings
from responses.models import Respondent

GUIDELINES = """\
Two assistants answered the same person. Read the dialogue and both responses to the end, then choose the response that
**you** would rather have got. There is no right choice and no tie: where both seem alike, choose the one you would
send on.

What counts is up to you: whether it is right, how it is built, its tone, its length. Keep to your own taste throughout.
"""


class Pairing(StageSettings):
    per_topic: int = Field(
        default=PER_TOPIC,
        ge=1,
        description="How many pairs of each topic are labelled. The paper does not say how they were drawn: here every "
        "dialogue and every two models of a topic come equally often.",
    )
    seed: int = Field(default=SEED, ge=0, description="What draws the pairs.")


class Labelling(StageSettings):
    annotators: int = Field(default=3, ge=1, description="How many people label each pair; the paper has three.")


class Splitting(StageSettings):
    dev_per_topic: int = Field(
        default=DEV_PER_TOPIC, ge=1, description="Pairs of each annotator and topic from which preferences are written."
    )
    seed: int = Field(default=SEED, ge=0, description="What draws them.")


def _respond(ctx: StageContext) -> Asked:
    if len(ctx.settings.models) < 2:
        raise StageError("Choose at least two models in the settings; their responses are compared.")
    return Asked(
        dataset=ctx.dataset("manual"),
        instrument="sense-response",
        title="Response",
        questions=RESPONSE_QUESTIONS,
        prompts=[prompt("respond")],
        endpoints=ctx.settings.models,
        fields=fields(ctx.settings),
    )


def _responses(ctx: StageContext) -> StageResult:
    came = ctx.dataset("manual").items.count() * len(ctx.settings.models)
    made = ctx.make_dataset(
        Made(
            f"{answer.item.external_id}/{answer.call.job.endpoint.name}",
            {
                "query_id": answer.item.external_id,
                **{name: answer.item.content[name] for name in ("query", "topic", "subcategory")},
                "model": answer.call.job.endpoint.name,
                "response": answer.values["response"],
            },
            answer.lineage,
        )
        for answer in answers(ctx, ctx.output("respond")["job"])
    )
    out = made.items.count()
    return StageResult({"dataset": made.slug}, came, out, {"without a response": came - out} if came > out else {})


def pair_up(ctx: StageContext) -> StageResult:
    """All pairs, for the ranking of models, and those that annotators label."""
    responses: dict[str, dict[str, Item]] = defaultdict(dict)
    for item in ctx.items("respond"):
        responses[item.content["query_id"]][item.content["model"]] = item
    models = sorted({model for own in responses.values() for model in own})
    whole = {query: own for query, own in responses.items() if len(own) == len(models)}
    by_topic: dict[str, list[str]] = defaultdict(list)
    for query, own in whole.items():
        by_topic[own[models[0]].content["topic"]].append(query)
    drawn = drawn_pairs(by_topic, models, per_topic=ctx.settings.per_topic, seed=ctx.settings.seed)
    labelled = ctx.make_dataset(_pair(pair, whole[pair.query]) for pair in drawn)
    ranking = ctx.make_dataset((_pair(pair, whole[pair.query]) for pair in all_pairs(list(whole), models)), part="all")
    came = n_pairs(len(responses), len(models))
    why = {
        "a model gave no response": came - n_pairs(len(whole), len(models)),
        "only for the ranking": n_pairs(len(whole), len(models)) - len(drawn),
    }
    outputs = {"dataset": labelled.slug, "dataset_ranking": ranking.slug}
    return StageResult(outputs, came, len(drawn), {reason: n for reason, n in why.items() if n})


def _pair(pair: Pair, responses: Mapping[str, Item]) -> Made:
    first, second = responses[pair.first], responses[pair.second]
    shared = {name: first.content[name] for name in ("query_id", "query", "topic", "subcategory")}
    content = shared | {
        "model_1": pair.first,
        "model_2": pair.second,
        "response_1": first.content["response"],
        "response_2": second.content["response"],
    }
    return Made(pair.id, content, {"item": first.pk, "second_item": second.pk, **marks(first, second)})


def label(ctx: StageContext) -> StageResult:
    """Pairs that have fewer labels than they should, also by earlier runs of the stage, are given out."""
    items, given = list(ctx.items("pairs")), _given(ctx)
    people = Counter(key for key, _ in given)
    lacking = {item.pk: ctx.settings.annotators - people[key_of(item)] for item in items}
    open_ones = [item for item in items if lacking[item.pk] > 0]
    if not open_ones:
        return _labels(ctx)
    return ask_people(
        ctx,
        ctx.dataset("pairs"),
        open_ones,
        instrument="sense-pair",
        title="Which response is preferred",
        questions=PAIR_QUESTIONS,
        item_fields=[
            {"field": "query", "label": "The dialogue"},
            {"field": "response_1", "format": "markdown"},
            {"field": "response_2", "format": "markdown"},
        ],
        overlap=max(lacking.values()),
        guidelines=GUIDELINES,
    )


def _given(ctx: StageContext) -> dict[tuple[Key, int], Given]:
    """Everybody's latest label of each pair, in any run of the stage, by item and respondent."""
    labels = (label for label in given_labels(ctx, "labels") if label.question == "better")
    return {(label.item, label.respondent): label for label in labels}


def _labels(ctx: StageContext) -> StageResult:
    """One item for each pair and annotator, and how often all annotators of a pair agree, by topic."""
    items = {key_of(item): item for item in ctx.items("pairs")}
    given = {pair: label for pair, label in _given(ctx).items() if label.item in items}
    names = dict(Respondent.objects.filter(pk__in={person for _, person in given}).values_list("pk", "key"))
    chosen: dict[str, list[str]] = defaultdict(list)

    def made() -> Iterator[Made]:
        for number, ((key, person), label) in enumerate(given.items(), start=1):
            item = items[key]
            chosen[item.external_id].append(label.value)
            content = item.content | {"pair": item.external_id, "annotator": names[person], "human": label.value}
            lineage = {"item": item.pk, "respondent": person, **marks(item)}
            lineage |= {"simulated": True} if label.by_bot else {}
            yield Made(f"{names[person]}/{number}", content, lineage)

    dataset = ctx.make_dataset(made())
    agreement = ctx.make_dataset(_agreement(items.values(), chosen), part="agreement")
    out, lacking = len(given), 0
    for item in items.values():
        lacking += max(0, ctx.settings.annotators - len(chosen[item.external_id]))
    outputs = {"dataset": dataset.slug, "table_agreement": agreement.slug}
    return StageResult(outputs, out + lacking, out, {"not labelled": lacking} if lacking else {})


def _agreement(items: Any, chosen: Mapping[str, list[str]]) -> Iterator[Made]:
    """By topic, of the pairs that several people labelled."""
    by_topic: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        if len(labels := chosen.get(item.external_id, [])) > 1:
            by_topic[item.content["topic"]].append(len(set(labels)) == 1)
    for topic, same in sorted(by_topic.items()):
        content = {"topic": topic, "pairs": len(same), "all_the_same": sum(same), "not_the_same": same.count(False)}
        yield Made(topic, content, {})


def split(ctx: StageContext) -> StageResult:
    labels = list(ctx.items("labels"))
    by_person: dict[str, list[Item]] = defaultdict(list)
    for item in labels:
        by_person[item.content["annotator"]].append(item)
    splits = {
        person: split_pairs(map(_labelled, own), dev_per_topic=ctx.settings.dev_per_topic, seed=ctx.settings.seed)
        for person, own in by_person.items()
    }
    by_id = {item.external_id: item for item in labels}
    parts = {
        part: [by_id[pair.id] for found in splits.values() for pair in _pairs_of(found, part)]
        for part in ("dev", "test")
    }
    if not parts["test"]:
        raise StageError(
            f"No annotator labelled more than {ctx.settings.dev_per_topic} pairs of a topic; take fewer dev pairs."
        )
    made = {part: ctx.make_dataset(map(_with_choice, own), part=part).slug for part, own in parts.items()}
    out, different = len(parts["dev"]) + len(parts["test"]), sum(found.n_different for found in splits.values())
    why = {"the same two responses again": len(labels) - different, "in a topic with too few pairs": different - out}
    outputs = {f"dataset_{part}": slug for part, slug in made.items()}
    return StageResult(outputs, len(labels), out, {reason: n for reason, n in why.items() if n})


def _labelled(item: Item) -> LabelledPair:
    chosen, rejected = _sides(item)
    return LabelledPair(item.external_id, item.content["query"], item.content["topic"], chosen, rejected)


def _sides(item: Item) -> tuple[str, str]:
    sides = item.content["response_1"], item.content["response_2"]
    return sides if item.content["human"] == "first" else sides[::-1]


def _pairs_of(found: Split, part: str) -> Iterator[LabelledPair]:
    for own in (found.dev if part == "dev" else found.test).values():
        yield from own


def _with_choice(item: Item) -> Made:
    chosen, rejected = _sides(item)
    return Made(
        item.external_id, item.content | {"chosen": chosen, "rejected": rejected}, {"item": item.pk, **marks(item)}
    )


STAGES = (
    asking_stage(
        _respond,
        code="respond",
        title="Responses",
        says="The models that are compared answer every dialogue of the benchmark.",
        needs=("manual",),
        settings=Respond,
        prompts=["respond"],
        collect=_responses,
    ),
    Stage(
        code="pairs",
        title="Pairs",
        says="Every two models on every dialogue make the ranking set; some of each topic are drawn to be labelled.",
        kind="transformation",
        needs=("respond",),
        settings=Pairing,
        run=pair_up,
    ),
    Stage(
        code="labels",
        title="Labels",
        says="Annotators say which of two responses they prefer. Which one stands on which side is drawn for each of "
        "them and recorded; there are no ties.",
        kind="labelling",
        needs=("pairs",),
        decides="Annotators: which response they prefer, each on every pair.",
        settings=Labelling,
        run=label,
        collect=_labels,
    ),
    Stage(
        code="split",
        title="Dev and test pairs",
        says="For each annotator and topic some pairs are drawn from which preferences are written; the others test "
        "them.",
        kind="transformation",
        needs=("labels",),
        settings=Splitting,
        run=split,
    ),
)
