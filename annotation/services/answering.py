"""What an annotator does with a place: draft, submit, change, skip, flag. Nothing typed is ever lost or doubled."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.answers import check_answers
from annotation.models import Assignment, Draft, Flag
from annotation.refusals import RefusedError
from annotation.services.claiming import orders_for
from projects.models import User
from responses.models import Respondent, RespondentKind, SourceKind
from responses.querysets import standing_values
from responses.services import Answer, get_condition, get_respondent, record_many, withdraw

TEXT_LIMIT = 500


class NotValidError(RefusedError):
    """Some answers are missing or wrong; `errors` has a sentence for each question."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("Some answers need your attention.")
        self.errors = dict(errors)


class NoLongerYoursError(RefusedError):
    """The lease ran out and the place was given to somebody else."""

    def __init__(self) -> None:
        super().__init__(
            "Your time for this item ran out and it was passed on to somebody else. What you typed is kept as a draft "
            "and comes back if the item returns to you."
        )


class AlreadyAnsweredError(RefusedError):
    """Other answers were submitted for the same item, for example in another tab."""

    def __init__(self) -> None:
        super().__init__(
            "You have already submitted other answers for this item. They stand; submit again to replace them by "
            "what is shown here."
        )


def submit(
    assignment: Assignment,
    user: User,
    answers: Mapping[str, Any],
    *,
    changing: bool = False,
    simulated: bool = False,
) -> Assignment:
    """Store the answers and finish the place. Sending the same answers again changes nothing.

    `changing` says that the person saw their earlier answers and means to replace them; the earlier ones are kept as
    history. `simulated` says that a bot answers in the person's place; it holds for all their answers in the project.
    Raises RefusedError or one of its kinds, after keeping what was typed as the person's draft.
    """
    try:
        with transaction.atomic():
            return _submit(assignment, user, answers, changing, simulated)
    except RefusedError:
        _keep_draft(assignment, user, answers)
        raise


def _submit(
    assignment: Assignment, user: User, answers: Mapping[str, Any], changing: bool, simulated: bool
) -> Assignment:
    place = _lock_own_place(assignment, user)
    checked = check_answers(place.label_project.instrument.questionnaire, answers)
    submitted_before = place.status == Assignment.Status.SUBMITTED
    if submitted_before and standing_values(SourceKind.ASSIGNMENT, place.pk) == checked.values and not checked.errors:
        _forget_draft(place, user)
        return place
    if not place.label_project.is_open:
        raise RefusedError("Labelling is closed. What you typed is kept and comes back when it opens again.")
    if submitted_before and not changing:
        raise AlreadyAnsweredError
    if checked.errors:
        raise NotValidError(checked.errors)
    now = timezone.now()
    respondent = get_respondent(
        project=place.label_project.project,
        kind=RespondentKind.ANNOTATOR,
        key=f"annotator:{user.pk}",
        attributes={},
        simulated=simulated,
    )
    _record(place, respondent, checked.values, now, seconds=None if submitted_before else _seconds(place, now))
    place.status, place.lease_until = Assignment.Status.SUBMITTED, None
    place.finished_at = place.finished_at or now
    place.save(update_fields=["status", "lease_until", "finished_at", "annotator", "orders", "opened_at"])
    _forget_draft(place, user)
    return place


def _lock_own_place(assignment: Assignment, user: User) -> Assignment:
    """The person's place of this item, locked: the one they opened, or once it was given away any that is free."""
    places = (
        Assignment.objects.select_for_update(of=("self",))
        .for_page()
        .filter(label_project=assignment.label_project_id, item=assignment.item_id)
    )
    own = places.filter(annotator=user).first()
    if own is not None:
        return own
    free = places.filter(status=Assignment.Status.FREE).order_by("place").first()
    if free is None:
        # The same person's other tab may have taken the last free place while this one waited for it.
        own = places.filter(annotator=user).first()
        if own is None:
            raise NoLongerYoursError
        return own
    free.annotator = user
    free.opened_at = timezone.now()
    free.orders = orders_for(free, user)
    return free


def _record(
    place: Assignment, respondent: Respondent, values: Mapping[str, Any], now: datetime, seconds: float | None
) -> None:
    project = place.label_project.project
    conditions = {
        order: get_condition(project=project, factors={"option_order": order} if order else {})
        for order in {_shown_order(place, code) for code in values}
    }
    record_many(
        project=project,
        instrument=place.label_project.instrument,
        source_kind=SourceKind.ASSIGNMENT,
        on_conflict="supersede",
        answers=[
            Answer(
                respondent_id=respondent.pk,
                item_id=place.item_id,
                question=code,
                value=value,
                condition_id=conditions[_shown_order(place, code)].pk,
                sample=place.label_project.sample,
                answered_at=now,
                seconds=seconds,
                source_id=place.pk,
            )
            for code, value in values.items()
        ],
    )
    emptied = set(standing_values(SourceKind.ASSIGNMENT, place.pk)) - set(values)
    if emptied:
        withdraw(source_kind=SourceKind.ASSIGNMENT, source_id=place.pk, questions=emptied)


def _shown_order(place: Assignment, code: str) -> str:
    return "|".join(place.orders.get(code, ()))


def _seconds(place: Assignment, now: datetime) -> float | None:
    """From opening to submitting the whole form, for the first submission; later changes have no time of their own."""
    return (now - place.opened_at).total_seconds() if place.opened_at else None


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
    place = Assignment.objects.select_for_update(of=("self",)).for_page().filter(pk=assignment.pk).get()
    if place.annotator_id != user.pk:
        raise NoLongerYoursError
    if place.status == Assignment.Status.SUBMITTED:
        raise RefusedError("You have already submitted answers for this item; change them instead of skipping it.")
    place.status, place.lease_until, place.skip_reason = Assignment.Status.SKIPPED, None, reason
    place.finished_at = place.finished_at or timezone.now()
    place.save(update_fields=["status", "lease_until", "skip_reason", "finished_at"])
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
