"""Setting up a labelling project, opening and closing it."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from django.db import connection, transaction

from annotation.allocation import Place, allocate
from annotation.models import Guidelines, LabelProject
from materials.fitting import field_names, missing_fields
from materials.models import Dataset, Instrument
from projects.models import Project, User
from projects.services import audit
from projects.slugs import free_slug

BATCH_ROWS = 20_000
MOST_NAMED = 20  # fields in a sentence
RESERVED_SLUGS = frozenset({"new"})  # the address of the form


class LabelProjectError(ValueError):
    """The labelling project cannot be made like this; the text says why and what to do."""


class UnknownFieldError(LabelProjectError):
    """No item has a field that is to be shown."""

    def __init__(self, field: str, dataset: Dataset, existing: Sequence[str]) -> None:
        more = ", …" if len(existing) > MOST_NAMED else ""
        super().__init__(
            f"No item of {dataset.name} has a field {field!r}; there are {', '.join(existing[:MOST_NAMED])}{more}."
        )


@transaction.atomic
def create_label_project(
    *,
    project: Project,
    name: str,
    dataset: Dataset,
    instrument: Instrument,
    by: User | None,
    guidelines: str = "",
    item_fields: Sequence[Any] = (),
    overlap: int = 1,
    order: str = LabelProject.Order.RANDOM,
    seed: int = 1,
    calibration_size: int = 0,
    calibration_overlap: int | None = None,
    lease_minutes: int = 30,
) -> LabelProject:
    """A new open labelling project with all its places. Raises LabelProjectError with a sentence."""
    if dataset.project_id != project.pk or instrument.project_id != project.pk:
        raise LabelProjectError("The dataset and the instrument must belong to this project.")
    items = list(dataset.items.order_by("position", "pk").values_list("pk", flat=True))
    if not items:
        raise LabelProjectError(f"The dataset {dataset.name} has no items; import some first.")
    _check_fields(dataset, instrument, item_fields)
    # Two at once would draw the same slug or repeat; the second waits here and then sees the first.
    Project.objects.select_for_update().get(pk=project.pk)
    others = dict(LabelProject.objects.filter(project=project).values_list("slug", "name"))
    if name in others.values():
        raise LabelProjectError(f"There is already a labelling project {name!r}; choose another name.")
    slug = free_slug(name, taken={*others, *RESERVED_SLUGS}, otherwise="labelling")
    label_project = LabelProject.objects.create(
        project=project,
        name=name,
        slug=slug,
        dataset=dataset,
        instrument=instrument,
        item_fields=list(item_fields),
        overlap=overlap,
        order=order,
        seed=seed,
        calibration_size=calibration_size,
        calibration_overlap=calibration_overlap if calibration_size else None,
        sample=LabelProject.objects.filter(dataset=dataset, instrument=instrument).count(),
        lease_minutes=lease_minutes,
    )
    if guidelines:
        Guidelines.objects.create(label_project=label_project, version=1, text=guidelines, created_by=by)
    _store_places(
        label_project,
        allocate(
            items,
            overlap=overlap,
            order=order,
            seed=seed,
            calibration_size=calibration_size,
            calibration_overlap=calibration_overlap,
        ),
    )
    audit(project=project, user=by, action="labelling created", label_project=slug, items=len(items), overlap=overlap)
    return label_project


def _check_fields(dataset: Dataset, instrument: Instrument, item_fields: Sequence[Any]) -> None:
    """Every field to show must be in some item, and the fields that options take their texts from in all of them."""
    misfit = next(missing_fields(dataset, instrument.questionnaire.questions), None)
    if misfit:
        raise LabelProjectError(
            f"{misfit}, from which a question takes a text to choose: add it to the item, or choose another instrument."
        )
    chosen = [entry if isinstance(entry, str) else entry["field"] for entry in item_fields]
    existing = field_names(dataset) if chosen else []
    for field in chosen:
        if field not in existing:
            raise UnknownFieldError(field, dataset, existing)


def _store_places(label_project: LabelProject, places: Iterable[Place]) -> None:
    places = iter(places)
    with connection.cursor() as cursor:
        while batch := list(islice(places, BATCH_ROWS)):
            cursor.execute(
                """INSERT INTO annotation_assignment
                     (label_project_id, item_id, place, rank, status, purpose, orders, suggested, skip_reason,
                      invalid_reason)
                   SELECT %s, item, place, rank, 'free', 'label', '{}', '{}', '', ''
                   FROM unnest(%s::bigint[], %s::int[], %s::bigint[]) AS incoming(item, place, rank)""",
                [
                    label_project.pk,
                    [place.item for place in batch],
                    [place.place for place in batch],
                    [place.rank for place in batch],
                ],
            )


@transaction.atomic
def set_status(*, label_project: LabelProject, status: str, by: User | None) -> LabelProject:
    """Open or close for annotators. Closing takes nothing away: drafts stay and come back on opening."""
    if LabelProject.objects.filter(pk=label_project.pk).exclude(status=status).update(status=status):
        audit(project=label_project.project, user=by, action=f"labelling {status}", label_project=label_project.slug)
    label_project.status = status
    return label_project
