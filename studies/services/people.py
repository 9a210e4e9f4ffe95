"""The right to be forgotten: one person on request, and everybody's platform ids when the time is over."""

import secrets
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from projects.models import User
from projects.services import audit
from studies.models import ForgottenPerson, PlatformIdentity, PlatformSubmission, Screen, Session, Study
from studies.services.entry import person_digest
from studies.services.publishing import close_study

DELETED, IDS_DELETED = "participant deleted", "platform ids deleted"  # in the audit log


@dataclass(frozen=True)
class Deleted:
    """How much was deleted of whom, by session number, which tells nobody who it was; `event` of the audit log keeps
    it as the receipt. The number is None for somebody of whom only the platform told.
    """

    session: int | None
    screens: int
    responses: int
    platform_ids: int
    event: int


@transaction.atomic
def delete_person(*, study: Study, participant_id: str, by: User | None) -> Deleted | None:
    """Delete everything of the person with this platform id; None when there is nobody.

    The audit log keeps that a person was deleted, not who; a digest of the id keeps the platform's later news of them
    out. Finished reports keep their aggregated numbers.
    """
    digest = person_digest(study, participant_id, simulated=False)
    session = _lock(Session.objects.filter(study=study, person_digest=digest))
    identity = PlatformIdentity.objects.filter(study=study, person_digest=digest).first()
    return _delete(study, session, identity, by) if session or identity else None


@transaction.atomic
def delete_session(*, study: Study, number: int, by: User | None) -> Deleted | None:
    """The same for the person with this session number."""
    session = _lock(Session.objects.filter(study=study, number=number))
    identity = PlatformIdentity.objects.filter(session=session).first() if session else None
    return _delete(study, session, identity, by) if session else None


def _lock(sessions: QuerySet[Session]) -> Session | None:
    # Answers and the platform's news lock a screen or a submission before the session; the other way round deadlocks.
    screens = Screen.objects.filter(session__in=sessions)
    for rows in (PlatformSubmission.objects.filter(identity__session__in=sessions), screens):
        list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    return sessions.select_for_update(of=("self",)).first()


def _delete(study: Study, session: Session | None, identity: PlatformIdentity | None, by: User | None) -> Deleted:
    respondent = session.respondent if session else None
    deleted: dict[str, Any] = {
        "session": session.number if session else None,
        "screens": session.screens.count() if session else 0,
        "responses": respondent.responses.count() if respondent else 0,
        "platform_ids": 1 + identity.submissions.count() if identity else 0,
    }
    for digest in {found.person_digest for found in (session, identity) if found}:
        ForgottenPerson.objects.get_or_create(study=study, person_digest=digest)
    for found in (identity, session, respondent):
        if found:
            found.delete()
    event = audit(project=study.project, user=by, action=DELETED, study=study.pk, **deleted)
    return Deleted(**deleted, event=event.pk)


def set_retention(*, study: Study, until: date | None, by: User | None) -> None:
    """Say on which day the platform ids are deleted; None keeps them until somebody asks."""
    study.retain_until = until
    study.save(update_fields=["retain_until"])
    audit(project=study.project, user=by, action="retention set", study=study.pk, until=str(until or ""))


def delete_expired_ids(today: date) -> int:
    """Delete the platform ids of studies whose day has come; how many people's.

    How submissions stood stays, because filters use it, with nothing left by which anybody could be found again. An
    open study is closed: who came before could enter a second time.
    """
    expired = PlatformIdentity.objects.filter(study__retain_until__lte=today).exclude(participant_encrypted="")
    return sum(_delete_ids(study) for study in Study.objects.filter(pk__in=expired.values("study")))


@transaction.atomic
def _delete_ids(study: Study) -> int:
    close_study(study=study, by=None)
    # In the order in which the platform's news and who deletes a person come to them, or they could deadlock.
    submissions = list(PlatformSubmission.objects.select_for_update(of=("self",)).filter(identity__study=study))
    sessions = list(Session.objects.select_for_update(of=("self",)).filter(study=study))
    identities = list(PlatformIdentity.objects.select_for_update(of=("self",)).filter(study=study))
    for session in sessions:
        session.person_digest = secrets.token_hex(32)
    for identity in identities:
        identity.person_digest, identity.participant_encrypted = secrets.token_hex(32), ""
    for submission in submissions:
        submission.submission_digest, submission.submission_encrypted = secrets.token_hex(32), ""
    ForgottenPerson.objects.filter(study=study).delete()  # nothing is taken in any more
    PlatformIdentity.objects.bulk_update(identities, ["person_digest", "participant_encrypted"], batch_size=1000)
    Session.objects.bulk_update(sessions, ["person_digest"], batch_size=1000)
    PlatformSubmission.objects.bulk_update(submissions, ["submission_digest", "submission_encrypted"], batch_size=1000)
    audit(project=study.project, user=None, action=IDS_DELETED, study=study.pk, people=len(identities))
    return len(identities)
