"""The ledger of calls: claim a shard, extend its lease, settle what came back, give back what did not.

What is in the database decides what is left to do. A killed worker's calls come back when their lease runs out.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, Q
from django.utils import timezone

from llm.models import Call, Job
from responses.models import SourceKind
from responses.services import Answer, record_many

LEASE = timedelta(seconds=60)
UNSETTLED = (Call.Status.PENDING, Call.Status.CLAIMED)

CLAIM = """
UPDATE llm_call SET status = 'claimed', claimed_by = %(shard)s, lease_until = now() + %(lease)s
WHERE id IN (
    SELECT id FROM llm_call
    WHERE job_id = %(job)s
      AND (status = 'pending' OR (status = 'claimed' AND lease_until < now()))
      AND (not_before IS NULL OR not_before <= now())
    ORDER BY id LIMIT %(size)s FOR UPDATE SKIP LOCKED)
RETURNING id"""


@dataclass(frozen=True)
class Outcome:
    """What became of one claimed call: its final status and the Call fields to store with it."""

    call: Call
    status: Call.Status
    fields: dict[str, Any] = field(default_factory=dict)


SETTLED_FIELDS = (
    "status", "attempts", "fingerprint", "messages", "reply", "text", "reasoning", "values", "problem",
    "prompt_tokens", "completion_tokens", "latency_seconds", "reused_from", "finished_at", "claimed_by", "lease_until",
)  # fmt: skip


def claim(job: Job, *, size: int) -> tuple[uuid.UUID, list[Call]]:
    """Take up to `size` calls that nobody holds. Concurrent claims never get the same call."""
    shard = uuid.uuid4()
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"shard": shard, "lease": LEASE, "job": job.pk, "size": size})
        ids = [row[0] for row in cursor.fetchall()]
    return shard, list(Call.objects.filter(pk__in=ids).select_related("item", "respondent").order_by("id"))


def extend_lease(shard: uuid.UUID) -> int:
    """Heartbeat: how many calls the shard still holds."""
    return Call.objects.filter(claimed_by=shard, status=Call.Status.CLAIMED).update(lease_until=timezone.now() + LEASE)


def release(shard: uuid.UUID, *, not_before: timedelta = timedelta(0)) -> int:
    """Give back what the shard holds and has not settled, for anybody after `not_before`."""
    return Call.objects.filter(claimed_by=shard, status=Call.Status.CLAIMED).update(
        status=Call.Status.PENDING, claimed_by=None, lease_until=None, not_before=timezone.now() + not_before
    )


@transaction.atomic
def settle(job: Job, shard: uuid.UUID, outcomes: Sequence[Outcome]) -> int:
    """Store outcomes and the answers in them, together or not at all; returns how many were settled.

    A call that the shard no longer holds (its lease ran out and another took it) is left to its new holder.
    """
    held = set(
        Call.objects.select_for_update()
        .filter(pk__in=[outcome.call.pk for outcome in outcomes], claimed_by=shard, status=Call.Status.CLAIMED)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    now = timezone.now()
    calls, answers = [], []
    for outcome in outcomes:
        call = outcome.call
        if call.pk not in held:
            continue
        call.status, call.finished_at, call.claimed_by, call.lease_until = outcome.status, now, None, None
        for name, value in outcome.fields.items():
            setattr(call, name, value)
        calls.append(call)
        if outcome.status == Call.Status.OK:
            answers += [
                Answer(
                    respondent_id=call.respondent_id,
                    item_id=call.item_id,
                    question=code,
                    value=value,
                    condition_id=call.condition_id,
                    sample=call.sample,
                    answered_at=now,
                    seconds=call.latency_seconds,
                    source_id=call.pk,
                )
                for code, value in (call.values or {}).items()
            ]
    Call.objects.bulk_update(calls, SETTLED_FIELDS, batch_size=200)
    record_many(project=job.project, instrument=job.instrument, answers=answers, source_kind=SourceKind.CALL)
    return len(calls)


def finish_if_done(job: Job) -> bool:
    """Mark a running job as done when no call is left; only one of several callers gets True."""
    if Call.objects.filter(job=job, status__in=UNSETTLED).exists():
        return False
    return bool(
        Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(
            status=Job.Status.DONE, status_reason="", finished_at=timezone.now()
        )
    )


def jobs_to_sweep() -> list[Job]:
    """Running jobs with calls that nobody works on: never claimed, given back, or of a killed worker."""
    now = timezone.now()
    free = Q(calls__status=Call.Status.PENDING) & (Q(calls__not_before=None) | Q(calls__not_before__lte=now))
    abandoned = Q(calls__status=Call.Status.CLAIMED, calls__lease_until__lt=now)
    waiting = Job.objects.filter(free | abandoned, status=Job.Status.RUNNING).distinct()
    finished = Job.objects.filter(status=Job.Status.RUNNING).exclude(calls__status__in=UNSETTLED)
    return [*waiting, *finished]


def counts(job: Job) -> dict[str, int]:
    """Calls by status; one query."""
    rows = Call.objects.filter(job=job).values_list("status").annotate(n=Count("pk"))
    return {str(status): 0 for status in Call.Status} | dict(rows)
