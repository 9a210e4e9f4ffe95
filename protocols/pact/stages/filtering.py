"""Which source rows can be used: a model proposes with a reason, a person looks at a sample."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from materials.models import Item
from protocols.asking import Asked, answers, plan_asking, start_asking
from protocols.context import Made, StageContext
from protocols.labelling import bots_note, decided, given_labels, key_of, start_labelling, undecided
from protocols.pact.draws import drawn
from protocols.pact.model_questions import USABILITY, USABILITY_CHECK
from protocols.pact.stages.common import NO_ANSWER, Asking, asked_about, counted, prompt
from protocols.stages import Plan, Stage, StageResult, StageSettings

UNASKED = ("normad",)  # NormAd-ETI has been filtered by its authors


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
    note += bots_note(given_labels(ctx, "filter_check"))
    return StageResult({"dataset": made.slug, "note": note}, came, made.items.count(), counted(why))


def _without_proposal(item: Item) -> dict[str, Any]:
    return {name: value for name, value in item.content.items() if name not in ("usable", "usable_reason")}


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
)
