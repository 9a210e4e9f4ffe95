"""What is decided before the data come, written down so that anybody can check it later."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from materials.services import content_hash
from projects.models import User
from projects.services import audit
from studies.models import Preregistration, Session, Study
from studies.services.files import file_of
from studies.services.laying_out import items_of
from studies.services.publishing import StudyNotReadyError, find_problems


@transaction.atomic
def preregister(*, study: Study, planned_report: str, by: User | None) -> Preregistration:
    """A record of the study as it is, with the time and how many people had entered. It never changes.

    Raises StudyNotReadyError for a draft that could not be opened.
    """
    fresh = (
        Study.objects.select_for_update(no_key=True, of=("self",))
        .select_related("dataset", "instrument")
        .get(pk=study.pk)
    )
    if fresh.status == Study.Status.DRAFT and (problems := list(find_problems(fresh))):
        raise StudyNotReadyError(problems)
    content = {
        "registered_at": timezone.now().isoformat(timespec="seconds"),
        "people_before": Session.objects.counted().filter(study=fresh, simulated=False).count(),
        "version": fresh.version,
        "items": items_digest(fresh),
        "study": file_of(fresh),
        "questions": fresh.instrument.questions,
        "planned_report": planned_report,
    }
    record = Preregistration.objects.create(study=fresh, content=content, digest=content_hash(content), made_by=by)
    audit(project=fresh.project, user=by, action="study preregistered", study=fresh.pk, digest=record.digest)
    return record


def items_digest(study: Study) -> dict[str, Any]:
    """How many items the study has and what all of them hold, as one SHA-256 over theirs in order."""
    hashes = list(items_of(study).values_list("content_hash", flat=True))
    return {"count": len(hashes), "sha256": content_hash({"items": hashes})}


def is_as_registered(record: Preregistration) -> bool:
    """Whether the study is still what was written down."""
    return bool(record.content["study"] == file_of(record.study))
