"""Stages in which people decide about items: asked once, and found again by the item's id."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from materials.models import Dataset
from protocols.care.stages.lineage import of
from protocols.context import Made, StageContext
from protocols.labelling import decided, start_labelling
from protocols.stages import StageError, StageResult

NOT_DECIDED = "not decided"
NAMED = 10  # items in a sentence


def ask_people(
    ctx: StageContext, items: Iterable[Made], finish: Callable[[StageContext, Dataset], StageResult], **labelling: Any
) -> StageResult:
    """A labelling project over the items that nobody has decided on in an earlier run; without any, the outcome.

    `labelling`: as for start_labelling. `finish` makes the outcome of the dataset of all the items.
    """
    dataset = ctx.make_dataset(items, part="asked")
    known = decisions(ctx, ctx.stage.code)
    left = [item for item in dataset.items.order_by("position", "pk") if item.external_id not in known]
    outputs = {"dataset_asked": dataset.slug}
    if not left:
        result = finish(ctx, dataset)
        return result._replace(outputs={**outputs, **result.outputs})
    if len(left) < dataset.items.count():
        made = (Made(item.external_id, item.content, of(item)) for item in left)
        dataset = ctx.make_dataset(made, part="open")
    label_project = start_labelling(ctx, dataset=dataset, **labelling)
    return StageResult({**outputs, "label_project": label_project.slug}, done=False)


def decisions(ctx: StageContext, code: str) -> dict[str, dict[str, Any]]:
    """By the item's id what people decided in any run of the stage, the latest content last."""
    found: dict[str, dict[str, Any]] = {}
    for (external_id, _), values in decided(ctx, code).items():
        found[external_id] = values
    return found


def collected(finish: Callable[[StageContext, Dataset], StageResult]) -> Callable[[StageContext], StageResult]:
    """`finish` as the collect of a stage that asked people."""
    return lambda ctx: finish(ctx, ctx.dataset(ctx.stage.code, "dataset_asked"))


def outcome(ctx: StageContext, made: Sequence[Made], left_out: int, why: Mapping[str, int]) -> StageResult:
    """What goes on, as the stage's dataset. Raises StageError when that is nothing."""
    if not made:
        raise StageError("Nothing is decided yet, so nothing can go on.")
    dataset = ctx.make_dataset(made)
    reasons = {reason: n for reason, n in why.items() if n}
    return StageResult({"dataset": dataset.slug}, len(made) + left_out, len(made), reasons)
