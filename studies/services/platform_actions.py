"""Lists of what the platform is to do: planned, confirmed by a person, sent once.

An action is marked as sending before its request goes out. One whose answer was lost stays so until a person has looked
on the platform and says what it did; nothing sends it again by itself.
"""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from projects.crypto import DecryptionError, decrypt
from projects.models import User
from projects.services import audit
from studies.models import PlatformAction, PlatformSubmission, Study
from studies.platform_api import BusyError, NoAnswerError, PlatformClient, PlatformError
from studies.platform_words import OPEN, SENT_IN
from studies.services.platform_accounts import AccountError, open_client
from studies.services.platform_sync import set_status

SEND = "studies.tasks.send_platform_list"
BONUSES_AT_ONCE = 200  # the platform's limit
LONGEST_SENDING = timedelta(minutes=15)  # all attempts of the client take less
MOST_BONUS = Decimal(1000)  # for one person: more is a slip of the finger
Kind, Status = PlatformAction.Kind, PlatformAction.Status
FITTING = {  # how submissions stand for which something can be done
    Kind.APPROVE: ("AWAITING REVIEW",),
    Kind.REQUEST_RETURN: (*OPEN, "AWAITING REVIEW"),
    Kind.BONUS: SENT_IN,
}
UNDER_WAY = (Status.PLANNED, Status.CONFIRMED, Status.SENDING)


class PlanError(ValueError):
    """A list that cannot be made or sent; the text says why and what to do."""


@dataclass(frozen=True)
class Planned:
    """The new list; `left_out` do not stand as they must for it, or are on such a list already."""

    batch: uuid.UUID
    actions: int
    left_out: int


@transaction.atomic
def plan_list(
    *,
    study: Study,
    kind: str,
    submissions: Iterable[int],
    amount: Decimal | None = None,
    reason: str = "",
    by: User | None,
) -> Planned:
    """Plan the same for these submissions of the study (by primary key). Nothing is sent. Raises PlanError."""
    if kind not in Kind.values:
        raise PlanError("Choose what the platform is to do.")
    if kind == Kind.BONUS and not (amount and 0 < amount <= MOST_BONUS):
        raise PlanError(f"Give the bonus of each person, more than 0 and at most {MOST_BONUS}.")
    if kind == Kind.REQUEST_RETURN and not reason.strip():
        raise PlanError("Give the reason; the person reads it.")
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # two lists at once would have the same people
    chosen = PlatformSubmission.objects.filter(identity__study=study, pk__in=set(submissions))
    there = chosen.exclude(identity__session__simulated=True).filter(status__in=FITTING[Kind(kind)])
    # A bonus may be paid more than once, but not while another is not settled; the rest is done once.
    busy = UNDER_WAY if kind == Kind.BONUS else (*UNDER_WAY, Status.DONE)
    listed = PlatformAction.objects.filter(study=study, kind=kind, status__in=busy)
    named = there.exclude(submission_encrypted="")  # ids that were deleted cannot be sent
    fitting = list(named.exclude(pk__in=listed.values("submission")).order_by("pk"))
    if not fitting:
        raise PlanError("Nothing of this can be done for the chosen submissions; look at how they stand.")
    batch = uuid.uuid4()
    PlatformAction.objects.bulk_create(
        PlatformAction(
            study=study,
            submission=submission,
            batch=batch,
            kind=kind,
            amount=amount if kind == Kind.BONUS else None,
            reason=reason.strip()[:500] if kind == Kind.REQUEST_RETURN else "",
            planned_by=by,
        )
        for submission in fitting
    )
    return Planned(batch, actions=len(fitting), left_out=len(set(submissions)) - len(fitting))


@transaction.atomic
def confirm_list(*, study: Study, batch: uuid.UUID, by: User) -> int:
    """Let a planned list be sent; how many actions it has, 0 when it was confirmed or discarded before."""
    if study.platform_account is None or not study.platform_study_id:
        raise PlanError("The study is not connected; choose the account and give the study's id there.")
    confirmed = _of(study, batch).filter(status=Status.PLANNED).update(status=Status.CONFIRMED, confirmed_by=by)
    if confirmed:
        kind = _of(study, batch).values_list("kind", flat=True)[0]
        audit(
            project=study.project,
            user=by,
            action="platform list confirmed",
            study=study.pk,
            list=str(batch),
            kind=kind,
            n=confirmed,
        )
        _enqueue(batch)
    return confirmed


def resend_list(*, study: Study, batch: uuid.UUID) -> int:
    """Have what was confirmed and could not be sent tried again; how many actions it is."""
    waiting = _of(study, batch).filter(status=Status.CONFIRMED).count()
    if waiting:
        _enqueue(batch)
    return waiting


def _enqueue(batch: uuid.UUID) -> None:
    """Ask the workers to send what is confirmed; by name, because services do not import tasks."""
    transaction.on_commit(lambda: current_app.send_task(SEND, [str(batch)]))


def discard_list(*, study: Study, batch: uuid.UUID) -> int:
    """Delete a list that was not confirmed; how many actions it had."""
    return _of(study, batch).filter(status=Status.PLANNED).delete()[0]


def settle_list(*, study: Study, batch: uuid.UUID, done: bool, by: User) -> int:
    """Somebody looked on the platform whether what was sent and not answered was done there; how many it was."""
    changes: dict[str, Any] = {"status": Status.DONE, "problem": "", "done_at": timezone.now()}
    if not done:
        changes = {"status": Status.REFUSED, "problem": "Not done there, as somebody saw who looked."}
    settled = unanswered(study, batch).update(**changes)
    audit(
        project=study.project, user=by, action="platform list settled", study=study.pk, list=str(batch), done=done,
        n=settled,
    )  # fmt: skip
    return settled


def unanswered(study: Study, batch: uuid.UUID) -> QuerySet[PlatformAction]:
    """What of a list was sent and got no answer, not what is being sent just now."""
    lost = ~Q(problem="") | Q(sent_at__lt=timezone.now() - LONGEST_SENDING)
    return _of(study, batch).filter(lost, status=Status.SENDING)


def _of(study: Study, batch: uuid.UUID) -> QuerySet[PlatformAction]:
    return PlatformAction.objects.filter(study=study, batch=batch)


def send_list(batch: uuid.UUID) -> None:
    """Send what is confirmed of a list, each action once. What was not sent stays confirmed, with the reason."""
    confirmed = PlatformAction.objects.filter(batch=batch, status=Status.CONFIRMED)
    first = confirmed.select_related("study__platform_account").first()
    if first is None:
        return
    send = _send_bonuses if first.kind == Kind.BONUS else _send_one
    at_once = BONUSES_AT_ONCE if first.kind == Kind.BONUS else 1
    try:
        with open_client(first.study) as client:
            while actions := _claim(confirmed, at_once):
                send(client, actions)
    except BusyError:
        pass  # it is written at the actions; somebody sends the rest later
    except (AccountError, DecryptionError) as error:  # before anything was sent
        confirmed.update(problem=str(error))


def _claim(confirmed: QuerySet[PlatformAction], n: int) -> list[PlatformAction]:
    """Mark up to n as sending, committed before anything is sent; nobody else can take them afterwards."""
    with transaction.atomic():
        taken = list(confirmed.select_for_update(of=("self",), skip_locked=True).order_by("pk")[:n])
        _mark(taken, Status.SENDING, problem="", sent_at=timezone.now())
    claimed = PlatformAction.objects.filter(pk__in=[action.pk for action in taken])
    return list(claimed.select_related("submission", "study").order_by("pk"))


def _mark(actions: Iterable[PlatformAction], status: PlatformAction.Status, **changes: Any) -> None:
    if status == Status.DONE:
        changes |= {"done_at": timezone.now(), "problem": ""}
    PlatformAction.objects.filter(pk__in=[action.pk for action in actions]).update(status=status, **changes)


def _try(actions: list[PlatformAction], request: Callable[[], Any], *, repeatable: bool) -> Any:
    """What the request returns; None when it failed, which is then written at the actions. Raises BusyError."""
    try:
        return request()
    except BusyError as error:
        _mark(actions, Status.CONFIRMED, problem=str(error))
        raise
    except NoAnswerError as error:
        _mark(actions, Status.CONFIRMED if repeatable else Status.SENDING, problem=str(error))
        if repeatable:
            raise BusyError(str(error)) from error
    except PlatformError as error:
        _mark(actions, Status.REFUSED, problem=str(error))
    except DecryptionError:
        _mark(actions, Status.REFUSED, problem="Not sent: its id was deleted or cannot be read.")
    return None


def _send_one(client: PlatformClient, actions: list[PlatformAction]) -> None:
    (action,) = actions

    def request() -> bool:
        submission_id = decrypt(action.submission.submission_encrypted)
        if action.kind == Kind.APPROVE:
            client.approve(submission_id)
        else:
            client.request_return(submission_id, action.reason)
        return True

    if _try(actions, request, repeatable=action.kind == Kind.APPROVE):
        _mark(actions, Status.DONE)
        now = timezone.now()  # so that the pages need not wait for the next pull
        known = {"status": "APPROVED"} if action.kind == Kind.APPROVE else {"return_requested_at": now}
        set_status(action.submission_id, at=now, **known)


def _send_bonuses(client: PlatformClient, actions: list[PlatformAction]) -> None:
    def prepare() -> str:
        amounts = {decrypt(action.submission.submission_encrypted): action.amount or Decimal(0) for action in actions}
        return client.prepare_bonuses(actions[0].study.platform_study_id, amounts)

    def pay() -> bool:
        client.pay_bonuses(prepared)
        return True

    prepared = _try(actions, prepare, repeatable=True)
    if prepared is None:
        return
    _mark(actions, Status.SENDING, platform_reference=prepared[:100])
    if _try(actions, pay, repeatable=False):
        _mark(actions, Status.DONE)
