"""How submissions stand on the platform, taken in from its interface, its CSV file and its messages."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from projects.crypto import DecryptionError
from projects.models import User
from projects.services import audit
from studies.models import PlatformIdentity, PlatformSubmission, Session, Study
from studies.platform_api import PlatformError
from studies.platform_news import FileFaultsError, NewsError, SubmissionNews, read_file, read_submission
from studies.services.entry import keep_identity, keep_submission, person_digest, submission_digest
from studies.services.places import follow_platform
from studies.services.platform_accounts import AccountError, open_client

PULL = "studies.tasks.pull_submissions"
PULLED = "studies:pulled:{}"
FIELDS = ("code", "started_at", "completed_at", "return_requested_at")


@dataclass
class Taken:
    """What came of it: submissions read, new ones, changed ones, places given back, those of which something newer is
    known, and what could not be read.
    """

    read: int = 0
    new: int = 0
    changed: int = 0
    given_back: int = 0
    older: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        came = f"{self.new} new, {self.changed} changed, {self.given_back} places given back"
        older = [f"{self.older} left as they are, because newer news of them is known."] if self.older else []
        return " ".join([f"{self.read} submissions read: {came}.", *older, *self.faults[:5]])


def connected_studies() -> QuerySet[Study]:
    """The studies of which the platform can be asked: those whose ids were deleted would get them anew."""
    connected = Study.objects.exclude(platform_study_id="").filter(platform_account__isnull=False)
    return connected.exclude(retain_until__lte=timezone.now().date()).select_related("platform_account")


def ask_for_pull(study: Study) -> None:
    """Have the workers ask the platform; by name, because services do not import tasks."""
    current_app.send_task(PULL, [study.pk])


def pull_and_note(study: Study) -> None:
    """Pull, and keep for the page what came of it."""
    try:
        text, worked = str(pull_submissions(study=study)), True
    except (AccountError, PlatformError, DecryptionError) as error:
        text, worked = str(error), False
    cache.set(PULLED.format(study.pk), {"at": timezone.now(), "text": text, "worked": worked}, timeout=None)


def last_pull(study: Study) -> dict[str, Any] | None:
    """`at`, `text` and `worked` of the last time the platform was asked, None when that is not known."""
    found: dict[str, Any] | None = cache.get(PULLED.format(study.pk))
    return found


def pull_submissions(*, study: Study) -> Taken:
    """Ask the platform for all submissions of the study and take them in. Raises AccountError and PlatformError."""
    asked_at = timezone.now()  # messages that come meanwhile are newer
    news, faults = [], []
    with open_client(study) as client:
        for found in client.submissions(study.platform_study_id):
            try:
                news.append(read_submission(found))
            except NewsError as error:
                faults.append(f"A submission was left out: {error}.")
    taken = take_in(study=study, news=news, at=asked_at)
    taken.faults = faults
    return taken


def import_submissions(*, study: Study, content: bytes, by: User) -> Taken:
    """Take in the CSV file of submissions that the platform offers for download, all or nothing.

    Raises FileFaultsError with every fault by row, or when the study's ids are deleted and must not come back.
    """
    if study.retain_until and study.retain_until <= timezone.now().date():
        raise FileFaultsError(["The platform ids of this study are deleted, so nothing of the file may be kept."])
    news, now = read_file(content), timezone.now()
    # The file does not say when it was made; it was not before the last thing that it tells of.
    times = [time for said in news for time in (said.started_at, said.completed_at) if time]
    taken = take_in(study=study, news=news, at=min(now, max(times, default=now)))
    audit(project=study.project, user=by, action="submissions imported", study=study.pk, submissions=taken.read)
    return taken


@transaction.atomic
def take_in(*, study: Study, news: Iterable[SubmissionNews], at: datetime) -> Taken:
    """Store how submissions stood at this time; places of people who returned or ran out of time are given back.

    What is known of a later time stays as it is, and nothing is stored of people who were deleted on request.
    """
    stored = PlatformSubmission.objects.filter(identity__study=study).select_related("identity__session")
    known = {found.submission_digest: found for found in stored}
    back = PlatformIdentity.objects.filter(study=study).values("person_digest")  # by the study's link
    forgotten = set(study.forgotten_people.exclude(person_digest__in=back).values_list("person_digest", flat=True))
    taken, unchanged, changed = Taken(), [], []
    for said in news:
        taken.read += 1
        digest = submission_digest(study, said.submission_id)
        found = known.get(digest)
        if found is None:
            if person_digest(study, said.participant_id, simulated=False) in forgotten:
                continue
            taken.new += 1
            found = known[digest] = _note(study, said)
        values = {"status": said.status} | {name: value for name in FIELDS if (value := getattr(said, name))}
        if all(getattr(found, name) == value for name, value in values.items()):
            unchanged.append(found.pk)
        elif set_status(found.pk, at=at, **values):
            changed.append((found.identity, said.status))
        else:
            taken.older += 1
    _not_after(at).filter(pk__in=unchanged).update(status_at=at)
    taken.changed = len(changed)
    # After all are stored: somebody who returned one submission may have another.
    taken.given_back = sum(follow_platform(identity, status) for identity, status in changed)
    return taken


def _note(study: Study, said: SubmissionNews) -> PlatformSubmission:
    digest = person_digest(study, said.participant_id, simulated=False)
    session = Session.objects.filter(study=study, person_digest=digest).first()
    return keep_submission(keep_identity(study, digest, said.participant_id, session), said.submission_id)


def set_status(pk: int, *, at: datetime, **values: Any) -> bool:
    """Store how the submission stands since this time; False when something newer is known."""
    return bool(_not_after(at).filter(pk=pk).update(status_at=at, **values))


def _not_after(at: datetime) -> QuerySet[PlatformSubmission]:
    return PlatformSubmission.objects.filter(Q(status_at=None) | Q(status_at__lte=at))
