"""What a stage's functions get: the project, the settings, the outputs of earlier stages, and how datasets are made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.core.cache import cache

from materials.importing import ImportRefusedError, import_items
from materials.models import Dataset, Item
from materials.reading import Record, item_record
from materials.reading_faults import Fault
from projects.models import Project, User
from protocols.files import Given
from protocols.models import ProtocolRun, StageRun
from protocols.stages import Stage, StageError

PROGRESS = "protocols:stage:{}:rows"
PROGRESS_SECONDS = 600


class Made(NamedTuple):
    """An item to be made. `lineage` leads back: the item, call or source row it was made from."""

    external_id: str
    content: Mapping[str, Any]
    lineage: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """`inputs`: the latest done runs of the stages that this one needs, by code. `current`: this run; None while it is
    only planned."""

    run: ProtocolRun
    stage: Stage
    settings: Any  # of the type stage.settings
    inputs: Mapping[str, StageRun]
    files: Mapping[str, Given]
    current: StageRun | None = None
    by: User | None = None

    @property
    def project(self) -> Project:
        return self.run.project

    @property
    def title(self) -> str:
        """A name for what this run of the stage makes; another one for each run."""
        number = self.current.number if self.current else 1
        return f"{self.run}: {self.stage.title}" + (f" ({number})" if number > 1 else "")

    @property
    def slug(self) -> str:
        """As `title`, for addresses."""
        number = self.current.number if self.current else 1
        return f"{self.run.name}-{self.run.number}-{self.stage.code}" + (f"-{number}" if number > 1 else "")

    def output(self, code: str) -> Mapping[str, Any]:
        """What an earlier stage made, or this one while it is collected. Raises StageError when it is not done."""
        if self.current and code == self.stage.code:
            return self.current.outputs
        if code not in self.inputs:
            raise StageError(f'Run "{self.run.protocol.stage(code).title}" first.')
        return self.inputs[code].outputs

    def dataset(self, code: str, name: str = "dataset") -> Dataset:
        """A dataset among the outputs of a stage. Raises StageError when it was deleted."""
        slug = self.output(code)[name]
        if found := self.project.datasets.filter(slug=slug).first():
            return found
        raise StageError(f'The dataset {slug} was deleted; run "{self.run.protocol.stage(code).title}" again.')

    def items(self, code: str, name: str = "dataset") -> Iterator[Item]:
        """The items of a dataset among the outputs of a stage, in their order, in constant memory."""
        return self.dataset(code, name).items.order_by("position", "pk").iterator(chunk_size=2000)

    def make_dataset(self, items: Iterable[Made], *, part: str = "") -> Dataset:
        """A dataset of this run, named also by its `part`; where an earlier step made it, it gains the items.

        Raises StageError when an item is wrong.
        """
        slug = f"{self.slug}-{part}" if part else self.slug
        earlier = Item.objects.filter(dataset__project=self.project, dataset__slug=slug).count()
        records = (_record(row, item) for row, item in enumerate(items, start=1))
        try:
            made = import_items(
                project=self.project,
                dataset_slug=slug,
                records=records,
                source=f"{self.run}, stage {self.stage.code}",
                by=self.by,
                watch=lambda rows: self.say_rows(earlier + rows),
            )
        except ImportRefusedError as error:
            raise StageError(f"{error} The first is at {error.faults[0]}") from error
        made.dataset.name = f"{self.title}, {part}" if part else self.title
        made.dataset.save(update_fields=["name"])
        return made.dataset

    def say_rows(self, rows: int) -> None:
        """Tell those who look how many rows were worked through."""
        if self.current:
            cache.set(PROGRESS.format(self.current.pk), rows, timeout=PROGRESS_SECONDS)


def _record(row: int, item: Made) -> Record | Fault:
    """The item as a record; a fault stands in the row of the file that the item was read from, where it was read."""
    record = item_record(row, *item)
    return replace(record, row=item.lineage.get("file_row", row)) if isinstance(record, Fault) else record


def check_items(dataset: Dataset) -> None:
    """Raise StageError when there is nothing to ask about."""
    if not dataset.items.exists():
        raise StageError(f"Nothing is left to ask about: {dataset.name} has no items. The funnel says why.")


def rows_done(stage_run: StageRun) -> int:
    """How many rows a run that is being done has worked through, as it said last."""
    return int(cache.get(PROGRESS.format(stage_run.pk)) or 0)
