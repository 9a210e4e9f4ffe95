"""A person comes in: one session each, however often and from wherever they open the link."""

import re
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from projects.crypto import decrypt, encrypt, keyed_digest
from studies.models import PlatformIdentity, PlatformSubmission, Screen, Session, Study
from studies.services.places import follow_platform
from studies.services.publishing import design_problems

PLATFORM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
NOT_IDS = {"undefined", "null", "none", "nan", "prolific_pid", "study_id", "session_id"}


class StudyNotOpenError(Exception):
    """Nobody new can enter."""


@dataclass(frozen=True)
class Entered:
    """`resumed` says that the person had a session already: this one."""

    session: Session
    resumed: bool


def usable_id(text: str | None) -> str:
    """The platform id, or "" for what cannot be one: missing, a placeholder nobody filled in, or absurd."""
    candidate = (text or "").strip()
    return candidate if PLATFORM_ID.fullmatch(candidate) and candidate.lower() not in NOT_IDS else ""


def person_digest(study: Study, participant_id: str, *, simulated: bool) -> str:
    """What stands for the person in the study. Simulated people are apart: none can take a person's session."""
    return keyed_digest("simulated" if simulated else "platform", study.key, participant_id)


def enter(study: Study, *, participant_id: str, submission_id: str, simulated: bool = False) -> Entered:
    """The session of the person with this platform id; a new one when they come for the first time.

    Raises StudyNotOpenError for somebody new when the study is not open. Who has started may always come back.
    """
    digest = person_digest(study, participant_id, simulated=simulated)
    found = _find(study, digest)
    if found is None:
        return _begin(study, digest, simulated, participant_id, submission_id)
    if identity := PlatformIdentity.objects.filter(session=found.session).first():
        keep_submission(identity, submission_id)
    return found


def enter_without_platform(study: Study, *, token: str, simulated: bool = False) -> Entered:
    """As `enter`, for a study without a platform: `token` is what the start page drew for this visitor."""
    digest = keyed_digest("simulated visitor" if simulated else "visitor", study.key, token)
    return _find(study, digest) or _begin(study, digest, simulated)


def enter_pilot(study: Study, *, token: str) -> Entered:
    """The session of somebody who tries the study out, a draft too if it is ready; `token` as without a platform."""
    digest = keyed_digest("pilot", study.key, token)
    if study.status == Study.Status.DRAFT and any(design_problems(study)):
        raise StudyNotOpenError
    return _find(study, digest) or _begin(study, digest, simulated=False, pilot=True)


def set_language(*, session: Session, language: str) -> bool:
    """Show the session's pages in this language from here on. False for one that the study does not have, and for
    somebody who has just been deleted.
    """
    if language not in session.study.languages:
        return False
    session.language = language
    return bool(Session.objects.filter(pk=session.pk).update(language=language))


def _find(study: Study, digest: str) -> Entered | None:
    session = Session.objects.filter(study=study, person_digest=digest).first()
    return Entered(session, resumed=True) if session else None


@transaction.atomic
def _begin(
    study: Study,
    digest: str,
    simulated: bool,
    participant_id: str = "",
    submission_id: str = "",
    *,
    pilot: bool = False,
) -> Entered:
    # People who come at the same moment queue up at the study's row, so that each sees the number before theirs and a
    # study that is being closed. The second of two entries of one person finds the first one's session.
    states = [Study.Status.OPEN, Study.Status.DRAFT] if pilot else [Study.Status.OPEN]
    open_studies = Study.objects.select_for_update(no_key=True).filter(pk=study.pk, status__in=states)
    if not open_studies.values_list("pk"):
        raise StudyNotOpenError
    if found := _find(study, digest):
        return found
    number = (Session.objects.filter(study=study).aggregate(top=Max("number"))["top"] or 0) + 1
    session = Session.objects.create(study=study, person_digest=digest, simulated=simulated, pilot=pilot, number=number)
    Screen.objects.create(session=session, position=0, kind=Screen.Kind.CONSENT)
    if participant_id:
        identity = keep_identity(study, digest, participant_id, session)
        if submission_id:
            # The platform may have told before that the person is gone there.
            follow_platform(identity, keep_submission(identity, submission_id).status)
    return Entered(session, resumed=False)


def keep_identity(study: Study, digest: str, participant_id: str, session: Session | None) -> PlatformIdentity:
    """Who the person is there, with their session here if there is one: the platform may name them before they come."""
    identity, _ = PlatformIdentity.objects.get_or_create(
        study=study,
        person_digest=digest,
        defaults={"session": session, "participant_encrypted": encrypt(participant_id)},
    )
    if session and identity.session_id is None:
        identity.session = session
        identity.save(update_fields=["session"])
    return identity


def keep_submission(identity: PlatformIdentity, submission_id: str) -> PlatformSubmission:
    """The person's submission with this id, new or known. One who comes again may come with another."""
    submission, _ = PlatformSubmission.objects.get_or_create(
        identity=identity,
        submission_digest=submission_digest(identity.study, submission_id),
        defaults={"submission_encrypted": encrypt(submission_id)},
    )
    return submission


def submission_digest(study: Study, submission_id: str) -> str:
    return keyed_digest("submission", study.key, submission_id)


def id_ending(session: Session) -> str:
    """The last characters of the platform id with which the person came, to be confirmed; "" when there is none."""
    identity = PlatformIdentity.objects.filter(session=session).first() if session.pk else None
    return decrypt(identity.participant_encrypted)[-6:] if identity and identity.participant_encrypted else ""
