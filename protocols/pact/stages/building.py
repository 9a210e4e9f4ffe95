"""From usable rows to scenarios: what is expected, what somebody prefers, how it is told."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from protocols.asking import Asked, answers, plan_asking, start_asking
from protocols.context import Made, StageContext, check_items
from protocols.pact.checks import faults, typed
from protocols.pact.model_questions import EXPECTATION, PREFERENCE, REWRITE
from protocols.pact.stages.common import NO_ANSWER, Writing, answered_dataset, asked_about, counted, prompt
from protocols.stages import Plan, Stage, StageResult, StageSettings

# What is expected


def _expectation(ctx: StageContext) -> Asked:
    return asked_about(ctx, "filter_check", "expectation", EXPECTATION)


# What somebody prefers


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
    check_items(ctx.dataset("expectation"))
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
    return StageResult({"dataset": made.slug}, came, out, counted({NO_ANSWER: came - out}))


SCENARIO = (
    "source", "setting", "receiver_country", "actor_role", "receiver_role", "situation", "cultural_expectation",
    "personal_preference", "preference_type", "motivation", "option_culture", "option_preference",
)  # fmt: skip


def _scenario(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: content["country" if name == "receiver_country" else name] for name in SCENARIO}


class Checking(StageSettings):
    most_overlap: float = Field(0.7, ge=0, le=1, description="Most that the words of the two options may overlap.")
    most_length_ratio: float = Field(2.5, ge=1, le=20, description="Most that one option may be longer than the other.")
    wording: bool = Field(
        True, description="Leave out also preferences that name a group, and situations that say what is right."
    )


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
        code="expectation",
        title="Expectation",
        says="One sentence on what people there usually do, from story and rule or from assertion and statement; where "
        "the story breaks the rule, the model is told so.",
        kind="job",
        needs=("filter_check",),
        settings=Writing,
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
        settings=Writing,
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
        settings=Writing,
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
