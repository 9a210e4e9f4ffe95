"""Giving out places. The database settles every race; nothing here reads first and writes later."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import Assignment, Draft, KnownAnswer, LabelMember, LabelProject
from annotation.services.known_answers import next_known
from annotation.services.members import cap_of, member_for
from annotation.suggestions import suggestions_for
from materials.models import Item
from materials.presentation import item_orders
from projects.models import User

# The place with its item, from the same statement that takes it.
RETURNED = "taken.*, item.dataset_id, item.external_id, item.content"
# The clock starts when the person comes to a place that was handed to them, and again after a lease that ran out.
RENEW = f"""
UPDATE annotation_assignment taken
SET opened_at = CASE WHEN opened_at IS NULL OR lease_until < %(now)s THEN %(now)s ELSE opened_at END,
  lease_until = %(until)s
FROM materials_item item WHERE item.id = taken.item_id
  AND taken.label_project_id = %(label_project)s AND annotator_id = %(user)s AND status = 'leased'
RETURNING {RETURNED}"""

OWN = f"""
SELECT {RETURNED} FROM annotation_assignment taken JOIN materials_item item ON item.id = taken.item_id
WHERE taken.id = %(place)s AND label_project_id = %(label_project)s AND annotator_id = %(user)s"""

# OFFSET 0 keeps the planner from joining with everything the person has had: before its statistics know of the places
# it takes these for few, and each claim of somebody with 5,000 answers then costs 200 ms instead of 0.2.
TAKE = f"""
WITH chosen AS (
  SELECT place.id, place.item_id, place.annotator_id FROM annotation_assignment place
  WHERE {{usable}} AND place.label_project_id = %(label_project)s AND place.purpose = 'label'
    AND NOT EXISTS (SELECT 1 FROM annotation_assignment mine WHERE mine.label_project_id = %(label_project)s
                    AND mine.item_id = place.item_id AND mine.annotator_id = %(user)s OFFSET 0)
  ORDER BY place.rank, place.place LIMIT 1
  FOR UPDATE SKIP LOCKED
)
UPDATE annotation_assignment taken
SET status = 'leased', annotator_id = %(user)s, opened_at = %(now)s, lease_until = %(until)s
FROM chosen JOIN materials_item item ON item.id = chosen.item_id WHERE taken.id = chosen.id
RETURNING {RETURNED}, chosen.annotator_id AS former_holder,
  NOT EXISTS (SELECT 1 FROM annotation_draft draft WHERE draft.label_project_id = %(label_project)s
              AND draft.item_id = taken.item_id AND draft.annotator_id = %(user)s)
  AND NOT EXISTS (SELECT 1 FROM annotation_flag flag WHERE flag.label_project_id = %(label_project)s
                  AND flag.item_id = taken.item_id AND flag.annotator_id = %(user)s) AS untouched"""

# Items that answers disagree about have ranks below zero, whichever items the person has come to.
DISPUTED = TAKE.format(usable="place.status = 'free' AND place.rank < 0")
# Free places behind a person's furthest item are rare (given back ones), so looking ahead first keeps the claim as fast
# after a hundred thousand items as at the first: it does not step over the places of items they have had.
FREE_AHEAD = """place.status = 'free' AND place.rank > COALESCE((
      SELECT max(rank) FROM annotation_assignment WHERE label_project_id = %(label_project)s
      AND annotator_id = %(user)s), -1)"""
AHEAD = TAKE.format(usable=FREE_AHEAD)
# Most labelling projects have no known answers, and then this is all that a claim takes.
WITHOUT_KNOWN = TAKE.format(
    usable=f"""NOT EXISTS (SELECT 1 FROM annotation_knownanswer WHERE label_project_id = %(label_project)s)
    AND {FREE_AHEAD}"""
)
BEHIND = TAKE.format(usable="place.status = 'free'")
# Only when nothing is free is a lease that ran out taken from its holder.
RUN_OUT = TAKE.format(usable="place.status = 'leased' AND place.lease_until < %(now)s")


def claim_next(
    label_project: LabelProject, user: User, *, holding: bool = True, member: LabelMember | None = None
) -> Assignment | None:
    """The person's open place, or an item whose answers are known and due, or a free place of an item they have not
    had, or one whose holder's lease ran out.

    `holding`: whether they are likely to have an open place, which is then looked for first and otherwise last.
    `member`: the person, when looked up just before.
    None when the project is closed, the person has labelled as many as they may, or nothing is left for them. Raises
    MembershipRefusedError with a sentence for somebody who may not label here.
    """
    if not label_project.is_open:
        return None
    member = member or member_for(label_project, user)
    for attempt in range(3):
        try:
            with transaction.atomic():
                place = _claim(member, timezone.now(), holding=holding)
            if place or holding:
                return place
        except IntegrityError:  # they have one already, perhaps by another tab; it is found on the next round
            if attempt == 2:
                raise
        holding = True
    return None


def _claim(member: LabelMember, now: datetime, *, holding: bool) -> Assignment | None:
    label_project = member.label_project
    until = now + timedelta(minutes=label_project.lease_minutes)
    values = {"label_project": label_project.pk, "user": member.user_id, "now": now, "until": until}
    if holding and (place := _place(RENEW, values, label_project)):
        return place
    cap = cap_of(member)
    disputed = label_project.order == LabelProject.Order.MOST_DISPUTED
    if cap is None and not disputed and (place := _place(WITHOUT_KNOWN, values, label_project)):
        return _taken(place, member)
    handled = labelled(member) if label_project.gold_every or cap is not None else 0
    known = next_known(member, handled)
    if known is not None:
        return _place_of_known(member, known, now, until)
    if cap is not None and handled >= cap:
        return None
    for statement in (*((DISPUTED,) if disputed else ()), AHEAD, BEHIND, RUN_OUT):
        if place := _place(statement, values, label_project):
            return _taken(place, member)
    return None


def _taken(place: Assignment, member: LabelMember) -> Assignment:
    if place.former_holder is not None:
        # Their draft waits for them; an empty one still tells a late submit that the place was theirs once.
        Draft.objects.get_or_create(
            label_project=member.label_project, item_id=place.item_id, annotator_id=place.former_holder
        )
    return _prepared(place, member)


def labelled(member: LabelMember) -> int:
    """How many ordinary items the person has submitted or skipped; costs a scan of their places."""
    ordinary = Assignment.objects.of(member.label_project_id, member.user_id).filter(purpose=Assignment.Purpose.LABEL)
    return ordinary.finished().count()


def own_place(label_project: LabelProject, user: User, pk: int) -> Assignment | None:
    """The place with its item if the person holds or finished it."""
    return _place(OWN, {"label_project": label_project.pk, "user": user.pk, "place": pk}, label_project)


def _place(statement: str, values: dict[str, Any], label_project: LabelProject) -> Assignment | None:
    """The place that the statement returns, with its item."""
    for place in Assignment.objects.raw(statement, values):
        place.label_project = label_project
        columns = vars(place)
        place.item = Item(
            pk=place.item_id,
            dataset_id=columns["dataset_id"],
            external_id=columns["external_id"],
            content=json.loads(columns["content"]),
        )
        return place
    return None


def _place_of_known(member: LabelMember, known: KnownAnswer, now: datetime, until: datetime) -> Assignment:
    place = Assignment.objects.create(
        label_project=member.label_project,
        item=known.item,
        place=-member.pk,
        purpose=known.purpose,
        rank=-1,  # before all others, so that claims ahead begin at the first
        annotator_id=member.user_id,
        status=Assignment.Status.LEASED,
        opened_at=now,
        lease_until=until,
    )
    return _prepared(place, member)


def orders_for(assignment: Assignment, user_id: int) -> dict[str, list[str]]:
    """The person's option orders on the item, whichever of its places they got; drawn again they are the same."""
    label_project = assignment.label_project
    key = f"{label_project.seed}/{label_project.slug}/{user_id}/{assignment.item.external_id}"
    return item_orders(label_project.instrument.questionnaire, key=key)


def set_shown(place: Assignment, member: LabelMember) -> None:
    """What the person sees on the item besides its content: option orders and, if they may see them, suggestions."""
    label_project = place.label_project
    place.orders = orders_for(place, member.user_id)
    seen = label_project.suggestions if member.sees_suggestions else LabelProject.Suggestions.NONE
    shown = seen != LabelProject.Suggestions.NONE
    place.suggested = suggestions_for(label_project, [place.item_id]).get(place.item_id, {}) if shown else {}
    place.suggested_as = seen if place.suggested else ""


def _prepared(place: Assignment, member: LabelMember) -> Assignment:
    before = place.orders, place.suggested, place.suggested_as
    set_shown(place, member)
    if before != (place.orders, place.suggested, place.suggested_as):
        place.save(update_fields=["orders", "suggested", "suggested_as"])
    return place
