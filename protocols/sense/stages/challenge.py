"""Dialogues that separate strong from weak models are kept, first by a judge and then by people, who clean them."""

from collections import Counter
from collections.abc import Iterator

from pydantic import Field

from llm.models import Job
from protocols.asking import Asked, answers, chosen_endpoints
from protocols.context import Made, StageContext
from protocols.labelling import decided, given_labels, key_of, undecided
from protocols.sense.challenge import STRONG_FIRST, Compared, discriminating, triples
from protocols.sense.instruments import COMPARISON_QUESTIONS, MANUAL_QUESTIONS, RESPONSE_QUESTIONS
from protocols.sense.stages.asking import AskOne, Responding, asking_stage, fields, prompt
from protocols.sense.stages.people import ask_people
from protocols.stages import EndpointNames, Stage, StageError, StageResult


class StrongAndWeak(Responding):
    strong: EndpointNames = Field(default=(), description="Models that are known to be strong; the paper takes two.")
    weak: EndpointNames = Field(default=(), description="Models that are known to be weaker; the paper takes two.")


class Comparing(AskOne):
    least_lead: int = Field(
        default=1, ge=1, le=2, description="By how much a strong response must lead: 1 is better, 2 is much better."
    )
    least_share: float = Field(
        default=0.75, ge=0, le=1, description="In which share of the pairs of a strong and a weak model it must lead, "
        "in both orders. The paper says “significantly outperforms” and no more."
    )  # fmt: skip


def _models(ctx: StageContext, names: tuple[str, ...], what: str) -> list[str]:
    if not names:
        raise StageError(f"Choose at least one {what} model in the settings.")
    return [endpoint.name for endpoint in chosen_endpoints(ctx, names)]


def _respond(ctx: StageContext) -> Asked:
    strong, weak = (_models(ctx, getattr(ctx.settings, which), which) for which in ("strong", "weak"))
    if both := sorted({*strong} & {*weak}):
        raise StageError(f"{', '.join(both)} cannot be strong and weak at once; choose it once.")
    return Asked(
        dataset=ctx.dataset("sort"),
        instrument="sense-response",
        title="Response",
        questions=RESPONSE_QUESTIONS,
        prompts=[prompt("respond")],
        endpoints=[*strong, *weak],
        fields=fields(ctx.settings),
    )


def _triples(ctx: StageContext) -> StageResult:
    """Items with the responses of a strong and a weak model, one for each order."""
    said: dict[str, dict[str, str]] = {}
    for answer in answers(ctx, ctx.output("contrast")["job"]):
        said.setdefault(answer.item.external_id, {})[answer.call.job.endpoint.name] = answer.values["response"]

    def made() -> Iterator[Made]:
        for item in ctx.items("sort"):
            for strong, weak, order in triples(ctx.settings.strong, ctx.settings.weak):
                responses = said.get(item.external_id, {})
                if strong not in responses or weak not in responses:
                    continue
                shown = [responses[strong], responses[weak]]
                first, second = shown if order == STRONG_FIRST else shown[::-1]
                content = item.content | {
                    "query_id": item.external_id,
                    "strong": strong,
                    "weak": weak,
                    "order": order,
                    "response_1": first,
                    "response_2": second,
                }
                yield Made(f"{item.external_id}/{strong}/{weak}/{order}", content, {"item": item.pk})

    dataset = ctx.make_dataset(made())
    came, out = ctx.dataset("sort").items.count(), len(said)
    return StageResult({"dataset": dataset.slug}, came, out, {"without a response": came - out} if came > out else {})


def _compare(ctx: StageContext) -> Asked:
    return Asked(
        dataset=ctx.dataset("contrast"),
        instrument="sense-comparison",
        title="Comparison",
        questions=COMPARISON_QUESTIONS,
        prompts=[prompt("compare")],
        endpoints=[ctx.settings.endpoint],
        kind=Job.Kind.JUDGE,
        fields=fields(ctx.settings),
    )


def _separating(ctx: StageContext) -> StageResult:
    """The dialogues that separate the models, each with one strong and one weak response for people to look at."""
    shown: dict[str, dict[str, str]] = {}
    for item in ctx.items("contrast"):
        content = item.content
        if content["order"] == STRONG_FIRST:
            texts = {"strong_response": content["response_1"], "weak_response": content["response_2"]}
            shown.setdefault(content["query_id"], texts)
    verdicts = (
        Compared(content["query_id"], content["strong"], content["weak"], content["order"], answer.values["comparison"])
        for answer in answers(ctx, ctx.output("challenge")["job"])
        for content in [answer.item.content]
    )
    pairs = ctx.inputs["contrast"].settings
    kept = discriminating(
        verdicts,
        n_pairs=len(pairs["strong"]) * len(pairs["weak"]),
        least_lead=ctx.settings.least_lead,
        least_share=ctx.settings.least_share,
    )
    made = [
        Made(item.external_id, item.content | shown[item.external_id], {"item": item.pk})
        for item in ctx.items("sort")
        if kept.get(item.external_id)
    ]
    dataset = ctx.make_dataset(made)
    came = len(shown)
    why = {"do not separate the models": came - len(made)} if came > len(made) else {}
    return StageResult({"dataset": dataset.slug}, came, len(made), why)


def look(ctx: StageContext) -> StageResult:
    items = list(ctx.items("challenge"))
    if not items:
        raise StageError(
            "No dialogue separates the models; lower least_share in the stage before (0 for a trial), or "
            "choose other models."
        )
    open_ones = undecided(items, decided(ctx, ctx.stage.code))
    if not open_ones:
        return _cleaned(ctx)
    return ask_people(
        ctx,
        ctx.dataset("challenge"),
        open_ones,
        instrument="sense-manual",
        title="What separates and what to clean",
        questions=MANUAL_QUESTIONS,
        item_fields=[
            {"field": "query", "label": "The dialogue"},
            {"field": "last_message", "label": "Its last message"},
            {"field": "strong_response", "label": "A strong model", "format": "markdown"},
            {"field": "weak_response", "label": "A weak model", "format": "markdown"},
        ],
        order="fixed",
    )


def _cleaned(ctx: StageContext) -> StageResult:
    """The dialogues that people kept, with the text they cleaned beside the original one."""
    known, why = decided(ctx, ctx.stage.code), Counter[str]()
    items = list(ctx.items("challenge"))
    people = {label.item: label.respondent for label in given_labels(ctx, ctx.stage.code)}

    def made() -> Iterator[Made]:
        for item in items:
            given = known.get(key_of(item), {})
            if given.get("separates") != "yes":
                why["do not separate the models" if given else "not looked at"] += 1
                continue
            original, last = item.content["query"], item.content["last_message"]
            cleaned = (given.get("cleaned") or last).strip()
            content = {
                "query": original.removesuffix(last) + cleaned,
                "original": original,
                "cleaned": cleaned != last,
                "topic": item.content["topic"],
                "subcategory": item.content["subcategory"],
            }
            yield Made(item.external_id, content, {"item": item.pk, "respondent": people.get(key_of(item))})

    dataset = ctx.make_dataset(made())
    return StageResult({"dataset": dataset.slug}, len(items), len(items) - why.total(), dict(why))


STAGES = (
    asking_stage(
        _respond,
        code="contrast",
        title="Strong and weak responses",
        says="Strong and weak models answer every dialogue.",
        needs=("sort",),
        settings=StrongAndWeak,
        prompts=["respond"],
        collect=_triples,
    ),
    asking_stage(
        _compare,
        code="challenge",
        title="Challenge",
        says="A judge compares each strong with each weak response, in both orders, and dialogues on which the strong "
        "ones are clearly better are kept.",
        needs=("sort", "contrast"),
        settings=Comparing,
        prompts=["compare"],
        collect=_separating,
    ),
    Stage(
        code="manual",
        title="Look and clean",
        says="People say whether the responses really differ, and clean the last message where its format or wording "
        "is faulty. The original stays beside it.",
        kind="labelling",
        needs=("challenge",),
        decides="A researcher or annotator: whether each dialogue stays, and how its last message should read.",
        run=look,
        collect=_cleaned,
    ),
)
