"""What an annotator does with a place: draft, submit, change, skip, flag. Nothing typed is ever lost or doubled."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.utils import timezone

from annotation.allocation import disagreement, disputed_rank
from annotation.answers import Checked, check_answers
from annotation.models import Assignment, Draft, Flag, LabelMember, LabelProject, Submission
from annotation.refusals import RefusedError
from annotation.services.claiming import set_shown
from annotation.services.known_answers import settle_training
from annotation.services.members import let_in, member_for
from annotation.suggested import AUDITED, contradictions, with_audits
from projects.models import Project, User
from responses.kept import kept_id
from responses.models import RespondentKind, Response, SourceKind
from responses.querysets import standing_values
from responses.services import Answer, OnConflict, get_condition, get_respondent, record_many, withdraw

TEXT_LIMIT = 500


class NotValidError(RefusedError):
    """Some answers are missing or wrong; `errors` has a sentence for each question."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("Some answers need your attention.")
        self.errors = dict(errors)


class NoLongerYoursError(RefusedError):
    """The person no longer holds the place; `free` says that nobody does, so that it was taken back."""

    def __init__(self, *, free: bool = False) -> None:
        why = (
            "The researchers took this item back."
            if free
            else "This item was passed on to somebody else: your time for it ran out, or the researchers chose so."
        )
        super().__init__(f"{why} What you typed is kept as a draft and comes back if the item returns to you.")


class _NotHeldError(Exception):
    """The person holds no place of the item."""


class AlreadyAnsweredError(RefusedError):
    """Other answers were submitted for the same item, for example in another tab."""

    def __init__(self) -> None:
        super().__init__(
            "You have already submitted other answers for this item. They stand; submit again to replace them by "
            "what is shown here."
        )


class KeyReusedError(RefusedError):
    """The key of this sending was used before, with other answers or for another item."""

    def __init__(self) -> None:
        super().__init__(
            "This was sent before with other answers. Those stand; submit again to send what is shown here."
        )


def submit(
    assignment: Assignment,
    user: User,
    answers: Mapping[str, Any],
    *,
    changing: bool = False,
    key: UUID | None = None,
    seconds: float | None = None,
    simulated: bool = False,
) -> Assignment:
    """Store the answers and finish the place. Sending the same answers again changes nothing.

    `changing` says that the person saw their earlier answers and means to replace them; the earlier ones are kept as
    history. `key` names this sending: what arrives under it again changes nothing, and other answers under it are
    refused. `seconds` is the time with the item before the person, where the page knows it. `simulated` says that a bot
    answers in the person's place; it holds for all their answers in the project.
    Raises RefusedError or one of its kinds, after keeping what was typed as the person's draft.
    """
    sent = Submission(key=key or uuid4(), digest=_digest(answers), seconds=seconds, at=timezone.now())
    try:
        try:
            with transaction.atomic():
                place = _lock_own_place(assignment, user)
                return _submit(place, user, answers, sent=sent, changing=changing, simulated=simulated)
        except _NotHeldError:
            with transaction.atomic():
                place = _lock_free_place(assignment, user)
                return _submit(place, user, answers, sent=sent, changing=changing, simulated=simulated)
    except RefusedError:
        _keep_draft(assignment, user, answers)
        raise


def _digest(answers: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(answers), sort_keys=True).encode()).hexdigest()


def _submit(
    place: Assignment,
    user: User,
    answers: Mapping[str, Any],
    *,
    sent: Submission,
    changing: bool,
    simulated: bool,
) -> Assignment:
    # Behind the lock of the place: who ends the person's work waits for it, or is seen.
    member, is_new = _take_in(sent, place, user)
    if place.status == Assignment.Status.FREE:
        place.annotator = user
        place.opened_at = timezone.now()
        set_shown(place, member)
    if not is_new:
        _refuse_other(sent, place)
        _forget_draft(place, user)
        return place
    checked = _check(place, answers)
    submitted_before = place.status == Assignment.Status.SUBMITTED
    standing = standing_values(SourceKind.ASSIGNMENT, place.pk) if submitted_before else {}
    if submitted_before and standing == checked.values and not checked.errors:
        _forget_draft(place, user)
        return place
    _refuse_unless_changeable(place)
    if submitted_before and not changing:
        raise AlreadyAnsweredError
    if checked.errors:
        raise NotValidError(checked.errors)
    now = timezone.now()
    respondent = _respondent(place.label_project.project, user, simulated=simulated)
    given = _answers(place, respondent, checked.values, now, seconds=None if submitted_before else _seconds(place, now))
    _record(place, given, first=not submitted_before)
    if emptied := set(standing) - set(checked.values):
        withdraw(source_kind=SourceKind.ASSIGNMENT, source_id=place.pk, questions=emptied)
    _finish(place, Assignment.Status.SUBMITTED, now, statement=FINISH_AND_FORGET)
    place.member = member
    if place.purpose == Assignment.Purpose.TRAINING:
        settle_training(member)
    elif place.label_project.order == LabelProject.Order.MOST_DISPUTED:
        _rank_by_dispute(place)
    return place


def _check(place: Assignment, answers: Mapping[str, Any]) -> Checked:
    questionnaire, audited = place.label_project.instrument.questionnaire, place.suggested_as == AUDITED
    meant = with_audits(questionnaire, place.suggested, answers) if audited else answers
    checked = check_answers(questionnaire, meant, place.item.content)
    if audited:
        checked.errors.update(contradictions(place.suggested, answers, checked.values))
    return checked


LOCK_OWN = """
SELECT * FROM annotation_assignment
WHERE label_project_id = %s AND item_id = %s AND annotator_id = %s FOR UPDATE"""


def _lock_own_place(assignment: Assignment, user: User) -> Assignment:
    """The person's place of this item, locked. Raises _NotHeldError when it was given away.

    A place that is given away while this waits for it stays locked until the transaction ends, so that waiting for
    another one in the same transaction could deadlock with who locks both.
    """
    for place in Assignment.objects.raw(LOCK_OWN, [assignment.label_project_id, assignment.item_id, user.pk]):
        place.label_project, place.item = assignment.label_project, assignment.item
        return place
    raise _NotHeldError


def _lock_free_place(assignment: Assignment, user: User) -> Assignment:
    """A place of this item that is free, locked, or the person's when their other tab was faster."""
    places = Assignment.objects.filter(label_project=assignment.label_project_id, item=assignment.item_id)
    locked = places.select_for_update(of=("self",)).order_by("pk")
    place = locked.filter(status=Assignment.Status.FREE).first() or locked.filter(annotator=user).first()
    if place is None:
        raise NoLongerYoursError
    place.label_project, place.item = assignment.label_project, assignment.item
    return place


# Who sends the same key at the same moment waits here until the other one is stored, or refused and gone.
TAKE_IN = """
WITH sent AS (
  INSERT INTO annotation_submission (key, assignment_id, digest, seconds, at)
  VALUES (%(key)s, %(place)s, %(digest)s, %(seconds)s, %(at)s)
  ON CONFLICT DO NOTHING RETURNING key
)
SELECT member.*, arrived.is_new FROM (SELECT EXISTS (SELECT FROM sent) AS is_new) arrived
LEFT JOIN annotation_labelmember member ON member.label_project_id = %(label_project)s AND member.user_id = %(user)s"""


def _take_in(sent: Submission, place: Assignment, user: User) -> tuple[LabelMember, bool]:
    """Store the sending: the person as a member, and False when its key was there before. Raises as member_for."""
    values: dict[str, Any] = {"label_project": place.label_project_id, "user": user.pk, "place": place.pk}
    values |= {"key": sent.key, "digest": sent.digest, "seconds": sent.seconds, "at": sent.at}
    [member] = LabelMember.objects.raw(TAKE_IN, values)
    is_new: bool = vars(member)["is_new"]
    if member.pk is None:
        return member_for(place.label_project, user), is_new
    return let_in(member, place.label_project), is_new


def _refuse_other(sent: Submission, place: Assignment) -> None:
    """Raises KeyReusedError when what was stored under the key is not the same."""
    if not Submission.objects.filter(pk=sent.pk, assignment=place, digest=sent.digest).exists():
        raise KeyReusedError


def _refuse_unless_changeable(place: Assignment) -> None:
    if not place.label_project.is_open:
        raise RefusedError("Labelling is closed. What you typed is kept and comes back when it opens again.")
    if place.status == Assignment.Status.INVALID:
        raise RefusedError("The researchers have left this item out of your work; its answers stay as they are.")
    if place.purpose == Assignment.Purpose.TRAINING and place.status == Assignment.Status.SUBMITTED:
        raise RefusedError("You have seen the right answers to this training item, so yours stay as they are.")


def _respondent(project: Project, user: User, *, simulated: bool) -> int:
    def find() -> int:
        key = f"annotator:{user.pk}"
        kind = RespondentKind.ANNOTATOR
        return get_respondent(project=project, kind=kind, key=key, attributes={}, simulated=simulated).pk

    return kept_id(("annotator", project.pk, user.pk), find)


def _condition(project: Project, factors: tuple[tuple[str, str], ...]) -> int:
    return kept_id(("condition", project.pk, factors), lambda: get_condition(project=project, factors=dict(factors)).pk)


def _answers(
    place: Assignment, respondent: int, values: Mapping[str, Any], now: datetime, seconds: float | None
) -> list[Answer]:
    factors = {code: _factors(place, code) for code in values}
    # In one order for everybody: two who make the same new conditions in different ones would deadlock.
    conditions = {key: _condition(place.label_project.project, key) for key in sorted(set(factors.values()))}
    return [
        Answer(
            respondent_id=respondent,
            item_id=place.item_id,
            question=code,
            value=value,
            condition_id=conditions[factors[code]],
            sample=place.label_project.sample,
            answered_at=now,
            seconds=seconds,
            source_id=place.pk,
        )
        for code, value in values.items()
    ]


def _record(place: Assignment, answers: list[Answer], *, first: bool) -> None:
    """The first answers need not look for earlier ones, which is cheaper; if there are some all the same, they do."""
    instrument, project = place.label_project.instrument, place.label_project.project
    policies: tuple[OnConflict, ...] = ("keep", "supersede") if first else ("supersede",)
    for policy in policies:
        done = record_many(
            project=project,
            instrument=instrument,
            source_kind=SourceKind.ASSIGNMENT,
            on_conflict=policy,
            answers=answers,
        )
        if not done.kept:
            break


def _factors(place: Assignment, code: str) -> tuple[tuple[str, str], ...]:
    """What differs from person to person while they answer: option order, and how a suggestion was shown."""
    order = "|".join(place.orders.get(code, ()))
    suggestion = place.suggested_as if code in place.suggested else ""
    return tuple((name, value) for name, value in (("option_order", order), ("suggestion", suggestion)) if value)


def _seconds(place: Assignment, now: datetime) -> float | None:
    """From opening to submitting the whole form, for the first submission; later changes have no time of their own."""
    return (now - place.opened_at).total_seconds() if place.opened_at else None


FINISH = """
UPDATE annotation_assignment
SET status = %(status)s, lease_until = NULL, finished_at = %(finished_at)s, annotator_id = %(annotator)s,
  opened_at = %(opened_at)s, orders = %(orders)s, suggested = %(suggested)s, suggested_as = %(suggested_as)s,
  skip_reason = %(skip_reason)s, guidelines_version = COALESCE(guidelines_version, (
    SELECT max(version) FROM annotation_guidelines WHERE label_project_id = %(label_project)s))
WHERE id = %(place)s"""
FINISH_AND_FORGET = f"""
WITH forgotten AS (
  DELETE FROM annotation_draft
  WHERE label_project_id = %(label_project)s AND item_id = %(item)s AND annotator_id = %(annotator)s
)
{FINISH}"""


def _finish(place: Assignment, status: Assignment.Status, now: datetime, *, statement: str = FINISH) -> None:
    """Store the place as finished; FINISH_AND_FORGET takes the person's draft with it."""
    place.status, place.lease_until = status, None
    place.finished_at = place.finished_at or now
    values = {
        "place": place.pk,
        "label_project": place.label_project_id,
        "item": place.item_id,
        "annotator": place.annotator_id,
        "status": str(status),
        "finished_at": place.finished_at,
        "opened_at": place.opened_at,
        "orders": json.dumps(place.orders),
        "suggested": json.dumps(place.suggested),
        "suggested_as": place.suggested_as,
        "skip_reason": place.skip_reason,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def _rank_by_dispute(place: Assignment) -> None:
    """Hand out the item's free places earlier, the more its answers disagree."""
    of_item = Assignment.objects.filter(label_project=place.label_project_id, item=place.item_id)
    submitted = of_item.filter(purpose=Assignment.Purpose.LABEL, status=Assignment.Status.SUBMITTED)
    standing = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=submitted.values("pk"), superseded_by=None
    )
    values = defaultdict(list)
    for question, value in standing.values_list("question", "value"):
        values[question].append(value)
    free = of_item.filter(status=Assignment.Status.FREE).order_by("pk").select_for_update(of=("self",))
    disputed = disagreement(values)
    for other in free:
        other.rank = disputed_rank(other.rank, disputed)
        other.save(update_fields=["rank"])


def save_draft(assignment: Assignment, user: User, answers: Mapping[str, Any], *, changing: bool = False) -> bool:
    """Keep what was typed and extend the lease. False when the place was given away meanwhile (the draft is kept).

    A draft that arrives after its own submit is dropped: the answers are stored already.
    """
    own = Assignment.objects.filter(pk=assignment.pk, annotator=user)
    if not changing and own.finished().exists():
        return True
    _keep_draft(assignment, user, answers)
    until = timezone.now() + timedelta(minutes=assignment.label_project.lease_minutes)
    return bool(own.filter(status=Assignment.Status.LEASED).update(lease_until=until) or own.exists())


def _keep_draft(assignment: Assignment, user: User, answers: Mapping[str, Any]) -> None:
    Draft.objects.update_or_create(
        label_project_id=assignment.label_project_id,
        item_id=assignment.item_id,
        annotator=user,
        defaults={"answers": dict(answers)},
    )


def _forget_draft(place: Assignment, user: User) -> None:
    Draft.objects.filter(label_project=place.label_project_id, item=place.item_id, annotator=user).delete()


@transaction.atomic
def skip(assignment: Assignment, user: User, reason: str) -> Assignment:
    """Give no answer and say why. The place stays used, so that the researcher decides; answering later is possible."""
    reason = reason.replace("\x00", "").strip()[:TEXT_LIMIT]
    if not reason:
        raise RefusedError("Say in a few words why you skip this item.")
    place = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if place.annotator_id != user.pk:
        raise NoLongerYoursError(free=place.annotator_id is None)
    place.label_project = assignment.label_project
    member = member_for(place.label_project, user)
    if place.status == Assignment.Status.SUBMITTED:
        raise RefusedError("You have already submitted answers for this item; change them instead of skipping it.")
    _refuse_unless_changeable(place)
    place.skip_reason = reason
    _finish(place, Assignment.Status.SKIPPED, timezone.now())
    if place.purpose == Assignment.Purpose.TRAINING:
        settle_training(member)
    return place


def add_flag(assignment: Assignment, user: User, note: str) -> Flag:
    """Tell the researcher about an item. The same note twice is one flag."""
    note = note.replace("\x00", "").strip()[:TEXT_LIMIT]
    if not note:
        raise RefusedError("Say in a few words what the researcher should know about this item.")
    flag, _ = Flag.objects.get_or_create(
        label_project_id=assignment.label_project_id, item_id=assignment.item_id, annotator=user, note=note
    )
    return flag
