"""The places of a labelling project: all of them from the start, those of items that came later, and more for each."""

from collections.abc import Iterable, Sequence
from itertools import islice

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.allocation import DISPUTE_STEP, PLACE_BY_PLACE, PLACE_STEP, Place, allocate
from annotation.models import Assignment, KnownAnswer, LabelProject
from annotation.refusals import LabelProjectError
from annotation.suggestions import model_name
from materials.models import Item
from projects.models import User
from projects.services import audit
from responses.uncertainty import uncertainty

BATCH_ROWS = 20_000
MANY = 10_000  # places, after which the database looks at its tables at once
# Ranks of new places follow from the item's position, which is what is left of a rank without place and dispute.
MORE_PLACES = """
INSERT INTO annotation_assignment (label_project_id, item_id, place, rank, status, purpose, orders, suggested,
                                   skip_reason, invalid_reason)
SELECT %(label_project)s, item.id, item.last + more, item.position + (item.places + more - 1) * %(step)s,
       'free', 'label', '{}', '{}', '', ''
FROM (SELECT item_id AS id, max(place) AS last, count(*) FILTER (WHERE status <> 'invalid') AS places,
             min((rank %% %(dispute)s + %(dispute)s) %% %(dispute)s %% %(place_step)s) AS position
      FROM annotation_assignment WHERE label_project_id = %(label_project)s AND purpose = 'label'
      GROUP BY item_id) item, generate_series(1, %(overlap)s - item.places) more"""


def items_without_places(label_project: LabelProject) -> QuerySet[Item]:
    """Items of the dataset that nobody is asked about and that are no examples of the guidelines: they came later, or
    their known answers were removed. In the dataset's order."""
    places = Assignment.objects.filter(label_project=label_project, item=OuterRef("pk"))
    known = KnownAnswer.objects.filter(label_project=label_project, item=OuterRef("pk"))
    latest = label_project.guidelines.first()
    examples = [example["item"] for example in latest.examples] if latest else []
    items = label_project.dataset.items.exclude(external_id__in=examples)
    return items.filter(~Exists(places), ~Exists(known)).order_by("position", "pk")


def drop_untouched_places(label_project: LabelProject, items: Sequence[str]) -> None:
    """Ask nobody about these items, by id, except those that somebody has begun."""
    named = Q(label_project=label_project, item__dataset=label_project.dataset_id, item__external_id__in=items)
    ordinary = Assignment.objects.filter(named, purpose=Assignment.Purpose.LABEL)
    places = list(ordinary.order_by("pk").select_for_update(of=("self",)))
    begun = {place.item_id for place in places if place.status != Assignment.Status.FREE}
    Assignment.objects.filter(pk__in=[place.pk for place in places if place.item_id not in begun]).delete()


def restore_places(label_project: LabelProject, items: Sequence[str]) -> None:
    """Places behind the others for those of these items, by id, that items_without_places has."""
    wanted = items_without_places(label_project).filter(external_id__in=items).values_list("pk", flat=True)
    if lacking := list(wanted):
        _store_behind(label_project, lacking)


def _store_behind(label_project: LabelProject, items: list[int]) -> None:
    store_places(label_project, items, start=label_project.dataset.items.count())  # more than any position given


def store_places(label_project: LabelProject, items: list[int], *, start: int = 0) -> None:
    """All places of these items; the calibration subset is drawn among them unless others were there before.

    Raises LabelProjectError when the order needs to know how certain the model is and nothing says so.
    """
    calibration = label_project.calibration_size if not start else 0
    places = allocate(
        items,
        overlap=label_project.overlap,
        order=label_project.order,
        seed=label_project.seed,
        calibration_size=calibration,
        calibration_overlap=label_project.calibration_overlap,
        uncertainty=_uncertainty(label_project),
        start=start,
    )
    _insert(label_project, places)


def _uncertainty(label_project: LabelProject) -> dict[int, float] | None:
    if label_project.order != LabelProject.Order.MODEL_UNCERTAIN:
        return None
    if label_project.suggestions_of is None:
        raise LabelProjectError("To begin where the model is least certain, choose the model.")
    known = uncertainty(label_project.suggestions_of, label_project.instrument)
    if not known:
        raise LabelProjectError(
            f"Nothing says how certain {model_name(label_project.suggestions_of)} is: its answers have no "
            "probabilities, and no question was put to it more than once. Choose another order, or run a job with "
            "probabilities or samples."
        )
    return known


def _insert(label_project: LabelProject, places: Iterable[Place]) -> None:
    places, stored = iter(places), 0
    with connection.cursor() as cursor:
        while batch := list(islice(places, BATCH_ROWS)):
            stored += len(batch)
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
        if stored >= MANY:
            # Plans that web processes made while the tables were small go through all of them, until statistics change.
            cursor.execute("ANALYZE annotation_assignment, materials_item")


@transaction.atomic
def add_items(*, label_project: LabelProject, by: User | None) -> int:
    """Give the items that came to the dataset later their places, after the others: the number of items."""
    locked = LabelProject.objects.select_for_update(of=("self",)).select_related("instrument").get(pk=label_project.pk)
    items = list(items_without_places(locked).values_list("pk", flat=True))
    if items:
        _store_behind(locked, items)
        audit(
            project=locked.project, user=by, action="labelling items added", label_project=locked.slug, items=len(items)
        )
    return len(items)


@transaction.atomic
def raise_overlap(*, label_project: LabelProject, overlap: int, by: User | None) -> int:
    """Ask for this many answers an item: how many places came. Raises LabelProjectError for a lower number."""
    locked = LabelProject.objects.select_for_update(of=("self",)).get(pk=label_project.pk)
    if overlap < locked.overlap:
        raise LabelProjectError(
            f"Each item has {locked.overlap} places already. The number can be raised but not lowered, because answers "
            "may be in them."
        )
    locked.overlap = label_project.overlap = overlap
    locked.save(update_fields=["overlap"])
    with connection.cursor() as cursor:
        cursor.execute(
            MORE_PLACES,
            {
                "label_project": locked.pk,
                "overlap": overlap,
                "step": PLACE_STEP if locked.order in PLACE_BY_PLACE else 0,
                "place_step": PLACE_STEP,
                "dispute": DISPUTE_STEP,
            },
        )
        made: int = cursor.rowcount
    if made:
        audit(
            project=locked.project,
            user=by,
            action="labelling overlap raised",
            label_project=locked.slug,
            overlap=overlap,
        )
    return made
