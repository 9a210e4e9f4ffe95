"""Items that people decide about, without those about which they decided in an earlier run."""

from collections.abc import Mapping, Sequence
from typing import Any

from materials.models import Dataset, Item
from protocols.context import Made, StageContext
from protocols.labelling import start_labelling
from protocols.stages import StageResult


def ask_people(
    ctx: StageContext,
    dataset: Dataset,
    items: Sequence[Item],
    *,
    instrument: str,
    title: str,
    questions: Sequence[Mapping[str, Any]],
    **settings: Any,
) -> StageResult:
    """A labelling project over these items of the dataset; over a copy of them where they are not all of it."""
    if len(items) < dataset.items.count():
        copies = (Made(item.external_id, item.content, {"item": item.pk}) for item in items)
        dataset = ctx.make_dataset(copies, part="to-label")
    made = start_labelling(ctx, dataset=dataset, instrument=instrument, title=title, questions=questions, **settings)
    return StageResult({"label_project": made.slug}, done=False)
