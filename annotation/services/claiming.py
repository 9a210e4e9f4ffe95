"""Giving out places. The database settles every race; nothing here reads first and writes later."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import Assignment, Draft, LabelProject
from materials.presentation import item_orders
from projects.models import User

# A lease that ran out while nobody else needed the place goes on, but its clock starts again: the person was away.
RENEW = """
UPDATE annotation_assignment
SET opened_at = CASE WHEN lease_until < %(now)s THEN %(now)s ELSE opened_at END, lease_until = %(until)s
WHERE label_project_id = %(label_project)s AND annotator_id = %(user)s AND status = 'leased'
RETURNING id, item_id, NULL::bigint"""

TAKE = """
WITH chosen AS (
  SELECT place.id, place.annotator_id FROM annotation_assignment place
  WHERE place.label_project_id = %(label_project)s AND {usable}
    AND NOT EXISTS (SELECT 1 FROM annotation_assignment mine WHERE mine.label_project_id = %(label_project)s
                    AND mine.item_id = place.item_id AND mine.annotator_id = %(user)s)
  ORDER BY place.rank, place.place LIMIT 1
  FOR UPDATE SKIP LOCKED
)
UPDATE annotation_assignment taken
SET status = 'leased', annotator_id = %(user)s, opened_at = %(now)s, lease_until = %(until)s, orders = '{{}}'
FROM chosen WHERE taken.id = chosen.id
RETURNING taken.id, taken.item_id, chosen.annotator_id"""

# Free places behind a person's furthest item are rare (given back ones), so looking ahead first keeps the claim as fast
# after a hundred thousand items as at the first: it does not step over the places of items they have had.
AHEAD = TAKE.format(
    usable="""place.status = 'free' AND place.rank > COALESCE((
      SELECT max(rank) FROM annotation_assignment WHERE label_project_id = %(label_project)s
      AND annotator_id = %(user)s), -1)"""
)
BEHIND = TAKE.format(usable="place.status = 'free'")
# Only when nothing is free is a lease that ran out taken from its holder.
RUN_OUT = TAKE.format(usable="place.status = 'leased' AND place.lease_until < %(now)s")


def claim_next(label_project: LabelProject, user: User) -> Assignment | None:
    """The person's open place, or a free one of an item they have not had, or one whose holder's lease ran out.

    None when the project is closed or nothing is left for this person.
    """
    if not label_project.is_open:
        return None
    for attempt in range(3):
        try:
            with transaction.atomic():
                return _claim(label_project, user, timezone.now())
        except IntegrityError:  # another tab of the same person was faster; what it got is found on the next round
            if attempt == 2:
                raise
    return None


def _claim(label_project: LabelProject, user: User, now: datetime) -> Assignment | None:
    values = {
        "label_project": label_project.pk,
        "user": user.pk,
        "now": now,
        "until": now + timedelta(minutes=label_project.lease_minutes),
    }
    for statement in (RENEW, AHEAD, BEHIND, RUN_OUT):
        row = _one_row(statement, values)
        if row is not None:
            pk, item, former_holder = row
            if former_holder is not None:
                # Their draft waits for them; an empty one still tells a late submit that the place was theirs once.
                Draft.objects.get_or_create(label_project=label_project, item_id=item, annotator_id=former_holder)
            return _with_orders(Assignment.objects.for_page().get(pk=pk), user)
    return None


def _one_row(statement: str, values: dict[str, Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone()


def orders_for(assignment: Assignment, user: User) -> dict[str, list[str]]:
    """The person's option orders on the item, whichever of its places they got; drawn again they are the same."""
    label_project = assignment.label_project
    key = f"{label_project.seed}/{label_project.slug}/{user.pk}/{assignment.item.external_id}"
    return item_orders(label_project.instrument.questionnaire, key=key)


def _with_orders(assignment: Assignment, user: User) -> Assignment:
    orders = orders_for(assignment, user)
    if orders != assignment.orders:
        assignment.orders = orders
        assignment.save(update_fields=["orders"])
    return assignment
