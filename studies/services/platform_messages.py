"""Messages that the platform sends when a submission's status changes."""

import json
from collections.abc import Mapping
from datetime import datetime

from django.db import IntegrityError, transaction

from projects.crypto import decrypt
from studies.models import PlatformAccount, PlatformEvent, PlatformSubmission
from studies.platform_news import NewsError, read_status
from studies.platform_signatures import SignatureError, check_message, read_seconds
from studies.services.entry import submission_digest
from studies.services.places import follow_platform
from studies.services.platform_sync import set_status

STATUS_CHANGE = "submission.status.change"


@transaction.atomic
def receive_message(*, account: PlatformAccount, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """Take in a message, once; whether it changed anything. Raises SignatureError for what is not the platform's.

    Not all headers are signed, so what they say of the event's time counts only where it is before the signature's.
    A submission that nobody knows is not an error: the next pull has it, with the person it belongs to.
    """
    if not account.webhook_secret_encrypted:
        raise SignatureError("The account has no secret for messages.")
    signed_at = check_message(
        secret=decrypt(account.webhook_secret_encrypted),
        timestamp=headers.get("X-Prolific-Request-Timestamp", ""),
        body=body,
        signature=headers.get("X-Prolific-Request-Signature", ""),
        now=now,
    )
    happened_at = min(read_seconds(headers.get("X-Timestamp", "")) or signed_at, signed_at)
    try:
        message = json.loads(body)
        kind, submission_id = str(message["event_type"]), str(message["resource_id"])
        status = read_status(message.get("status")) if kind == STATUS_CHANGE else ""
    except (ValueError, KeyError, TypeError, AttributeError, NewsError):
        return False  # nothing here could use it, today or when it comes again
    event_id = headers.get("X-Event-ID", "")[:100]
    if event_id and not _is_new(account, event_id, kind, happened_at):
        return False
    return bool(status) and _change(account, submission_id, status, happened_at)


def _is_new(account: PlatformAccount, event_id: str, kind: str, happened_at: datetime) -> bool:
    try:
        with transaction.atomic():
            PlatformEvent.objects.create(
                account=account, event_id=event_id, event_type=kind[:60], happened_at=happened_at
            )
    except IntegrityError:
        return False
    return True


def _change(account: PlatformAccount, submission_id: str, status: str, at: datetime) -> bool:
    # The message names no study, and each study has digests of its own.
    digests = [submission_digest(study, submission_id) for study in account.studies.all()]
    found = PlatformSubmission.objects.select_related("identity__session", "identity__study")
    submission = found.filter(submission_digest__in=digests).first()
    if submission is None or not set_status(submission.pk, at=at, status=status):
        return False
    follow_platform(submission.identity, status)
    return True
