"""From source rows to scenarios: which rows can be used, what is expected, what somebody prefers, how it is told."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from materials.models import Item
from protocols.asking import Asked, PromptFiles, answers, plan_asking, start_asking
from protocols.context import Made, StageContext
from protocols.labelling import decided, key_of, start_labelling, undecided
from protocols.pact.checks import faults, typed
from protocols.pact.draws import drawn
from protocols.pact.model_questions import EXPECTATION, PREFERENCE, PROMPTS, REWRITE, USABILITY, USABILITY_CHECK
from protocols.stages import EndpointName, Plan, Stage, StageResult, StageSettings

UNASKED = ("normad",)  # NormAd-ETI has been filtered by its authors
NO_ANSWER = "without an answer that could be read"


class Asking(StageSettings):
    endpoint: EndpointName = Field("", description="The model that is asked.")
    temperature: float = Field(0.0, ge=0, le=2, description="0 gives the same answer to the same question.")
    max_tokens: int = Field(400, ge=16, le=8000, description="The longest answer, in tokens.")

    @property
    def fields(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}


def prompt(name: str) -> PromptFiles:
    return PromptFiles(PROMPTS, name)


def asked_about(ctx: StageContext, code: str, name: str, questions: Sequence[Mapping[str, Any]]) -> Asked:
    """The questions about all items of an earlier stage, with the prompt of this name."""
    settings: Asking = ctx.settings
    return Asked(
        dataset=ctx.dataset(code),
        instrument=f"pact-{ctx.stage.code.replace('_', '-')}",
        title=ctx.stage.title,
        questions=questions,
        prompts=(prompt(name),),
        endpoints=(settings.endpoint,),
        fields=settings.fields,
    )


# Which rows can be used


class CheckOfFilter(StageSettings):
    check: int = Field(50, ge=0, le=10_000, description="So many of the model's proposals are checked by a person.")
    seed: int = Field(1, ge=0, description="Draws what is checked.")


def _usability(ctx: StageContext) -> Asked:
    asked = asked_about(ctx, "read", "usability", USABILITY)
    sources = set(asked.dataset.items.values_list("content__source", flat=True).distinct()) - set(UNASKED)
    return replace(asked, fields={**asked.fields, "item_filter": {"source": sorted(sources)}})


def _has_rows_to_filter(ctx: StageContext) -> bool:
    return ctx.dataset("read").items.exclude(content__source__in=UNASKED).exists()


def plan_filter(ctx: StageContext) -> Plan:
    return plan_asking(ctx, _usability(ctx)) if _has_rows_to_filter(ctx) else Plan(calls=0)


def start_filter(ctx: StageContext) -> StageResult:
    if not _has_rows_to_filter(ctx):
        return collect_filter(ctx)
    return StageResult({"job": start_asking(ctx, _usability(ctx))}, done=False)


def collect_filter(ctx: StageContext) -> StageResult:
    proposals = {one.item.pk: one for one in answers(ctx, ctx.output("filter").get("job", []))}
    made = ctx.make_dataset(
        Made(item.external_id, {**item.content, **proposals[item.pk].values}, proposals[item.pk].lineage)
        if item.pk in proposals
        else Made(item.external_id, item.content, {"item": item.pk})
        for item in ctx.items("read")
        if item.pk in proposals or item.content["source"] in UNASKED
    )
    came, out = ctx.dataset("read").items.count(), made.items.count()
    return StageResult({"dataset": made.slug}, came, out, {NO_ANSWER: came - out} if came > out else {})


def start_check(ctx: StageContext) -> StageResult:
    """Half of what is drawn are rows the model would use and half rows it would not, as far as there are any."""
    settings: CheckOfFilter = ctx.settings
    proposals = [item for item in ctx.items("filter") if "usable" in item.content]
    chosen = [
        item
        for verdict in ("yes", "no")
        for item in drawn(
            [item for item in proposals if item.content["usable"] == verdict],
            (settings.check + (verdict == "no")) // 2,
            seed=settings.seed,
            key=lambda item: item.external_id,
        )
    ]
    open_ones = undecided(chosen, _row_decisions(ctx))
    if not open_ones:
        return collect_check(ctx)
    made = ctx.make_dataset(
        (Made(item.external_id, item.content, {"item": item.pk}) for item in open_ones), part="to-check"
    )
    label_project = start_labelling(
        ctx,
        dataset=made,
        instrument="pact-usability-check",
        title="Can a source row be used?",
        questions=USABILITY_CHECK,
        item_fields=[
            "country",
            {"field": "norm", "label": "Norm"},
            {"field": "story", "label": "Story or assertion"},
            {"field": "usable", "label": "The model says"},
            {"field": "usable_reason", "label": "Because"},
        ],
    )
    return StageResult({"label_project": label_project.slug}, done=False)


def _row_decisions(ctx: StageContext) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    return decided(ctx, "filter_check")


def collect_check(ctx: StageContext) -> StageResult:
    decisions = _row_decisions(ctx)
    why = {"discarded by the model": 0, "discarded by a person": 0, "taken back by a person": 0}

    def used() -> Iterator[Made]:
        for item in ctx.items("filter"):
            proposed, said = item.content.get("usable", "yes"), decisions.get(key_of(item), {}).get("use")
            if said == "yes" and proposed == "no":
                why["taken back by a person"] += 1
            if (said or proposed) == "yes":
                yield Made(item.external_id, _without_proposal(item), {"item": item.pk})
            else:
                why["discarded by a person" if said else "discarded by the model"] += 1

    made = ctx.make_dataset(used())
    came = ctx.dataset("filter").items.count()
    taken_back = why.pop("taken back by a person")
    note = [f"People checked {len(decisions):,} rows and took {taken_back:,} back that the model had discarded."]
    return StageResult({"dataset": made.slug, "note": note}, came, made.items.count(), _counted(why))


def _without_proposal(item: Item) -> dict[str, Any]:
    return {name: value for name, value in item.content.items() if name not in ("usable", "usable_reason")}


def _counted(why: Mapping[str, int]) -> dict[str, int]:
    return {reason: n for reason, n in why.items() if n}


# What is expected


def _expectation(ctx: StageContext) -> Asked:
    return asked_about(ctx, "filter_check", "expectation", EXPECTATION)


def answered_dataset(ctx: StageContext, code: str) -> StageResult:
    """The items of an earlier stage with what the model added to them; those without an answer are left out."""
    found = answers(ctx, ctx.output(ctx.stage.code)["job"])
    made = ctx.make_dataset(
        Made(one.item.external_id, {**one.item.content, **one.values}, one.lineage) for one in found
    )
    came, out = ctx.dataset(code).items.count(), made.items.count()
    return StageResult({"dataset": made.slug}, came, out, _counted({NO_ANSWER: came - out}))


# What somebody prefers


class Preferring(Asking):
    temperature: float = Field(0.7, ge=0, le=2, description="Higher values make preferences more varied.")


def _preferences(ctx: StageContext, dataset: Any) -> list[Asked]:
    """One job for the rows of each source that there are, as its prompt is another one."""
    asked = replace(asked_about(ctx, "expectation", "preference_normad", PREFERENCE), dataset=dataset)
    there = set(dataset.items.values_list("content__source", flat=True).distinct())
    return [
        replace(
            asked,
            part=part,
            prompts=(prompt(name),),
            fields={**asked.fields, "item_filter": {"source": sorted(sources)}},
        )
        for name, part, sources in (
            ("preference_normad", "stories", there - {"cultureatlas"}),
            ("preference_cultureatlas", "assertions", there & {"cultureatlas"}),
        )
        if sources
    ]


def plan_preferences(ctx: StageContext) -> Plan:
    """Planned on the rows before they have a type of preference, whose name takes a token or two."""
    plans = [plan_asking(ctx, asked) for asked in _preferences(ctx, ctx.dataset("expectation"))]
    prices = [plan.price for plan in plans if plan.price is not None]
    return Plan(
        calls=sum(plan.calls for plan in plans),
        price=sum(prices[1:], prices[0]) if len(prices) == len(plans) else None,
        notes=tuple(dict.fromkeys(note for plan in plans for note in plan.notes)),
    )


def start_preferences(ctx: StageContext) -> StageResult:
    items = list(ctx.items("expectation"))
    types = typed([item.content["country"] for item in items])
    made = ctx.make_dataset(
        (
            Made(item.external_id, {**item.content, "preference_type": kind}, {"item": item.pk})
            for item, kind in zip(items, types, strict=True)
        ),
        part="types",
    )
    jobs = [pk for asked in _preferences(ctx, made) for pk in start_asking(ctx, asked)]
    return StageResult({"dataset_types": made.slug, "job": jobs}, done=False)


# How it is told


def _rewrite(ctx: StageContext) -> Asked:
    return asked_about(ctx, "preference", "rewrite", REWRITE)


def collect_rewrite(ctx: StageContext) -> StageResult:
    """Items in the fields that people and models are asked about from here on, with what they were made from."""
    found = answers(ctx, ctx.output("rewrite")["job"])
    made = ctx.make_dataset(
        Made(one.item.external_id, _scenario({**one.item.content, **one.values}), one.lineage) for one in found
    )
    came, out = ctx.dataset("preference").items.count(), made.items.count()
    return StageResult({"dataset": made.slug}, came, out, _counted({NO_ANSWER: came - out}))


SCENARIO = (
    "source", "setting", "receiver_country", "actor_role", "receiver_role", "situation", "cultural_expectation",
    "personal_preference", "preference_type", "motivation", "option_culture", "option_preference",
)  # fmt: skip


def _scenario(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: content["country" if name == "receiver_country" else name] for name in SCENARIO}


class Checking(StageSettings):
    most_overlap: float = Field(0.7, ge=0, le=1, description="Most that the words of the two options may overlap.")
    most_length_ratio: float = Field(2.5, ge=1, le=20, description="Most that one option may be longer than the other.")


def check(ctx: StageContext) -> StageResult:
    settings: Checking = ctx.settings
    why: dict[str, int] = {}

    def good() -> Iterator[Made]:
        for item in ctx.items("rewrite"):
            fault = next(faults(item.content, **settings.model_dump()), None)
            if fault:
                why[fault] = why.get(fault, 0) + 1
            else:
                yield Made(item.external_id, item.content, {"item": item.pk})

    made = ctx.make_dataset(good())
    return StageResult({"dataset": made.slug}, ctx.dataset("rewrite").items.count(), made.items.count(), why)


STAGES = (
    Stage(
        code="filter",
        title="Usability filter",
        says="A model says of each row whether it is about how people treat each other and can be acted on, and why. "
        "NormAd-ETI rows pass: their authors have filtered them.",
        kind="job",
        needs=("read",),
        settings=Asking,
        prompts=prompt("usability").paths,
        plan=plan_filter,
        run=start_filter,
        collect=collect_filter,
    ),
    Stage(
        code="filter_check",
        title="Check of the filter",
        says="A sample of the model’s proposals, half of them discarded rows, is looked at; what a person says holds.",
        decides="A researcher or annotator says of each row in the sample whether it is used.",
        kind="decision",
        needs=("filter",),
        settings=CheckOfFilter,
        run=start_check,
        collect=collect_check,
    ),
    Stage(
        code="expectation",
        title="Expectation",
        says="One sentence on what people there usually do, from story and rule or from assertion and statement; where "
        "the story breaks the rule, the model is told so.",
        kind="job",
        needs=("filter_check",),
        settings=Asking,
        prompts=prompt("expectation").paths,
        plan=lambda ctx: plan_asking(ctx, _expectation(ctx)),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _expectation(ctx))}, done=False),
        collect=lambda ctx: answered_dataset(ctx, "filter_check"),
    ),
    Stage(
        code="preference",
        title="Preference",
        says="A personal preference against the expectation and the two actions. Convenience, habit and value or style "
        "take turns within each country.",
        kind="job",
        needs=("expectation",),
        settings=Preferring,
        prompts=(*prompt("preference_normad").paths, *prompt("preference_cultureatlas").paths),
        plan=plan_preferences,
        run=start_preferences,
        collect=lambda ctx: answered_dataset(ctx, "expectation"),
    ),
    Stage(
        code="rewrite",
        title="Rewrite",
        says="The situation told neutrally, so that both actions are open.",
        kind="job",
        needs=("preference",),
        settings=Asking,
        prompts=prompt("rewrite").paths,
        plan=lambda ctx: plan_asking(ctx, _rewrite(ctx)),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _rewrite(ctx))}, done=False),
        collect=collect_rewrite,
    ),
    Stage(
        code="check",
        title="Automatic checks",
        says="Leaves out scenarios with empty fields, options that hardly differ or differ in length, preferences that "
        "name a group, and situations that say what is right.",
        kind="transformation",
        needs=("rewrite",),
        settings=Checking,
        run=check,
    ),
)
