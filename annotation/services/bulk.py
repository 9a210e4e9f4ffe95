"""What a researcher does to places. Each is audited, and annotators who submit meanwhile lose nothing."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.models import Assignment, Draft, LabelMember, LabelProject
from annotation.refusals import LabelProjectError
from annotation.services.claiming import set_shown
from annotation.services.members import set_member_status
from projects.models import User
from projects.services import audit
from responses.models import SourceKind
from responses.services import withdraw_all

REOPENED = "Given to somebody else after it was skipped"
# A free place for each of those that are left out, behind the item's other places and as early in the order of work.
STAND_IN = """
INSERT INTO annotation_assignment (label_project_id, item_id, place, rank, status, purpose, orders, suggested,
                                   skip_reason, invalid_reason)
SELECT place.label_project_id, place.item_id,
       (SELECT max(other.place) FROM annotation_assignment other
        WHERE other.label_project_id = place.label_project_id AND other.item_id = place.item_id)
         + row_number() OVER (PARTITION BY place.item_id ORDER BY place.place),
       place.rank, 'free', 'label', '{}', '{}', '', ''
FROM annotation_assignment place WHERE place.id = ANY(%s) AND place.purpose = 'label'"""


@transaction.atomic
def release_leases(*, label_project: LabelProject, user: User | None = None, by: User | None) -> int:
    """Take back the items that this person, or everybody, has before them: how many.

    What was typed is kept as a draft and can still be submitted for as long as nobody else took the item.
    """
    held = _locked(label_project, Q(status=Assignment.Status.LEASED, purpose=Assignment.Purpose.LABEL))
    freed = _free(held.filter(annotator=user) if user else held)
    if freed:
        _audit(label_project, by, "labelling leases released", user=user, places=freed)
    return freed


def _free(held: QuerySet[Assignment]) -> int:
    places = list(held)
    for place in places:  # the trace that the item was theirs, with which a late submit still finds a free place
        Draft.objects.get_or_create(
            label_project_id=place.label_project_id, item_id=place.item_id, annotator_id=place.annotator_id
        )
    return Assignment.objects.filter(pk__in=[place.pk for place in places]).update(
        status=Assignment.Status.FREE,
        annotator=None,
        lease_until=None,
        opened_at=None,
        orders={},
        suggested={},
        suggested_as="",
    )


@transaction.atomic
def hand_over(*, seen: Assignment, to: User, by: User | None) -> Assignment:
    """Give a free or held place to this person, as the next item that they see, whatever their cap.

    `seen` is the place as the researcher saw it. What its holder typed is kept as a draft, and so is what the person
    typed about the item before them, which is free again. Raises LabelProjectError when somebody took or answered the
    place meanwhile, and for a person who has had the item or is at one with known answers.
    """
    label_project = seen.label_project
    locked = _locked(label_project, Q(item=seen.item_id) | Q(annotator=to, status=Assignment.Status.LEASED))
    places = {place.pk: place for place in locked.select_related("item")}
    place = places.pop(seen.pk)
    if (place.status, place.annotator_id) != (seen.status, seen.annotator_id):
        raise LabelProjectError("Somebody took or answered this item meanwhile; look at its places and choose again.")
    if any(other.annotator_id == to.pk and other.item_id == place.item_id for other in (place, *places.values())):
        raise LabelProjectError(f"{to} has had this item, and nobody gets an item twice; choose somebody else.")
    held = [other for other in places.values() if other.annotator_id == to.pk]
    if any(other.purpose != Assignment.Purpose.LABEL for other in held):
        raise LabelProjectError(f"{to} is at an item with known answers; hand them this one when they have answered.")
    leased = [other.pk for other in (place, *held) if other.status == Assignment.Status.LEASED]
    _free(Assignment.objects.filter(pk__in=leased))
    member, _ = LabelMember.objects.get_or_create(label_project=label_project, user=to)
    member.label_project = place.label_project = label_project
    place.annotator, place.status, place.opened_at = to, Assignment.Status.LEASED, None
    place.lease_until = timezone.now() + timedelta(minutes=label_project.lease_minutes)
    set_shown(place, member)
    try:
        with transaction.atomic():
            place.save()
    except IntegrityError as error:  # they claimed one between the look and the write
        raise LabelProjectError(f"{to} opened another item at this moment; try again.") from error
    _audit(
        label_project,
        by,
        "labelling item handed over",
        user=to,
        item=place.item.external_id,
        taken_from=seen.annotator.get_username() if seen.annotator else "",
    )
    return place


@transaction.atomic
def reopen_skipped(*, label_project: LabelProject, by: User | None) -> int:
    """Give every item that was skipped to somebody else: how many. Who skipped it and why stays with the old place."""
    _keep_places_apart(label_project)
    skipped = _locked(label_project, Q(status=Assignment.Status.SKIPPED, purpose=Assignment.Purpose.LABEL))
    reopened = _leave_out(list(skipped.values_list("pk", flat=True)), REOPENED)
    if reopened:
        _audit(label_project, by, "labelling skipped items reopened", places=reopened)
    return reopened


def invalidate(*, label_project: LabelProject, user: User, reason: str, by: User | None) -> int:
    """Exclude the person and leave out all their work, which others do again: how many places.

    Their answers are kept as history. Raises LabelProjectError without a reason. Doing it again changes nothing.
    """
    reason = reason.replace("\x00", "").strip()[:500]
    if not reason:
        raise LabelProjectError("Say why this person’s work is left out; the reason is kept with it.")
    member, _ = LabelMember.objects.get_or_create(label_project=label_project, user=user)
    member.label_project = label_project
    if member.status != LabelMember.Status.EXCLUDED:
        # By itself and first: whoever submits from now on is refused, and those that are under way are waited for.
        set_member_status(member=member, status=LabelMember.Status.EXCLUDED, reason=reason, by=by)
    with transaction.atomic():
        return _leave_out_work(label_project, user, reason, by)


def _leave_out_work(label_project: LabelProject, user: User, reason: str, by: User | None) -> int:
    _keep_places_apart(label_project)
    # A late submit may be taking a free place of an item that was theirs once, of which a draft is the trace.
    had = Assignment.objects.of(label_project, user).values("item")
    once_theirs = Draft.objects.filter(label_project=label_project, annotator=user).exclude(item__in=had)
    reachable = Q(annotator=user) | Q(status=Assignment.Status.FREE, item__in=once_theirs.values("item"))
    locked = list(_locked(label_project, reachable).values_list("pk", flat=True))
    theirs = Assignment.objects.filter(pk__in=locked, annotator=user).exclude(status=Assignment.Status.INVALID)
    _free(theirs.filter(status=Assignment.Status.LEASED, purpose=Assignment.Purpose.LABEL))
    places = list(theirs.values_list("pk", flat=True))
    answers = withdraw_all(source_kind=SourceKind.ASSIGNMENT, source_ids=places)
    left_out = _leave_out(places, reason)
    if left_out:
        _audit(label_project, by, "labelling work left out", user=user, reason=reason, places=left_out, answers=answers)
    return left_out


def _keep_places_apart(label_project: LabelProject) -> None:
    """New places of an item are numbered by one writer at a time. NO KEY lets annotators go on."""
    LabelProject.objects.select_for_update(of=("self",), no_key=True).get(pk=label_project.pk)


def _locked(label_project: LabelProject, which: Q) -> QuerySet[Assignment]:
    """Those places once nobody is submitting to them, as they are then."""
    places = Assignment.objects.filter(which, label_project=label_project)
    return places.order_by("pk").select_for_update(of=("self",))


def _leave_out(places: Sequence[int], reason: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(STAND_IN, [list(places)])
    return Assignment.objects.filter(pk__in=places).update(
        status=Assignment.Status.INVALID, lease_until=None, invalid_reason=reason
    )


def _audit(
    label_project: LabelProject, by: User | None, action: str, *, user: User | None = None, **detail: object
) -> None:
    named = {"member": user.get_username()} if user else {}
    audit(project=label_project.project, user=by, action=action, label_project=label_project.slug, **named, **detail)
