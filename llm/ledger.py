"""The ledger of calls: claim some, extend their lease, settle what came back, give back what did not.

What is in the database decides what is left to do. A killed worker's calls come back when their lease runs out.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from llm.models import Call, Endpoint, Job
from responses.models import SourceKind
from responses.services import Answer, record_many

UNSETTLED = (Call.Status.PENDING, Call.Status.CLAIMED)
FAILED = (Call.Status.TRUNCATED, Call.Status.UNPARSED, Call.Status.REFUSED, Call.Status.ERROR)
ONE_RUNNER_UP_TO = 16  # calls in flight that one process serves alone; more are shared by two

# A job's row says whether it may ask; it is read in the same statement, so that nothing is claimed after a pause.
CLAIM = """
UPDATE llm_call SET status = 'claimed', claimed_by = %(shard)s, lease_until = now() + %(lease)s::interval
WHERE id IN (
    SELECT id FROM llm_call WHERE job_id = %(job)s AND status = 'pending'
      AND EXISTS (SELECT FROM llm_job WHERE id = %(job)s AND status = 'running')
    ORDER BY id LIMIT %(size)s FOR UPDATE SKIP LOCKED)
RETURNING id"""

# Rows that somebody is settling at this moment are skipped rather than waited for.
RELEASE_ABANDONED = """
UPDATE llm_call SET status = 'pending', claimed_by = NULL, lease_until = NULL
WHERE id IN (
    SELECT id FROM llm_call WHERE status = 'claimed' AND lease_until < now() FOR UPDATE SKIP LOCKED)"""

# One statement for a batch, in arrays: bulk_update's CASE for every column and row costs ten times as much.
COLUMNS = {
    "id": "bigint", "status": "text", "attempts": "int", "fingerprint": "text", "messages": "jsonb", "reply": "jsonb",
    "text": "text", "reasoning": "text", "values": "jsonb", "problem": "text", "prompt_tokens": "int",
    "completion_tokens": "int", "latency_seconds": "float8", "reused_from_id": "bigint",
}  # fmt: skip
SETTLE = f"""
UPDATE llm_call AS call
SET {", ".join(f'"{name}" = done."{name}"' for name in COLUMNS if name != "id")},
    finished_at = %(now)s, claimed_by = NULL, lease_until = NULL
FROM unnest({", ".join(f"%({name})s::{kind}[]" for name, kind in COLUMNS.items())})
  AS done({", ".join(f'"{name}"' for name in COLUMNS)})
WHERE call.id = done.id AND call.claimed_by = %(shard)s AND call.status = 'claimed'
RETURNING call.id"""


@dataclass(frozen=True)
class Outcome:
    """What became of one claimed call: its final status and the Call fields to store with it."""

    call: Call
    status: Call.Status
    fields: dict[str, Any] = field(default_factory=dict)


def lease() -> timedelta:
    return timedelta(seconds=settings.MODEL_LEASE_SECONDS)


def claim(job: Job, shard: uuid.UUID, *, size: int) -> list[Call]:
    """Take up to `size` calls that nobody holds, while the job runs. Concurrent claims never get the same call."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"shard": shard, "lease": str(lease()), "job": job.pk, "size": size})
        ids = [row[0] for row in cursor.fetchall()]
    return list(Call.objects.filter(pk__in=ids).select_related("item", "respondent").order_by("id"))


def extend_lease(shard: uuid.UUID) -> int:
    """Heartbeat: how many calls the shard still holds."""
    return _held_by(shard).update(lease_until=timezone.now() + lease())


def release(shard: uuid.UUID) -> int:
    """Give back what the shard holds and has not settled."""
    return _held_by(shard).update(status=Call.Status.PENDING, claimed_by=None, lease_until=None)


def release_abandoned() -> int:
    """Give back the calls whose lease ran out: of killed workers, of any job."""
    with connection.cursor() as cursor:
        cursor.execute(RELEASE_ABANDONED)
        return int(cursor.rowcount)


@transaction.atomic
def settle(job: Job, shard: uuid.UUID, outcomes: Sequence[Outcome]) -> int:
    """Store outcomes and the answers in them, together or not at all; returns how many were settled.

    A call that the shard no longer holds (its lease ran out and another took it) is left to its new holder.
    """
    now = timezone.now()
    calls = {outcome.call.pk: _applied(outcome) for outcome in outcomes}
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, _columns(list(calls.values())) | {"now": now, "shard": shard})
        settled = [calls[row[0]] for row in cursor.fetchall()]
    answers = [
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
        for call in settled
        if call.status == Call.Status.OK
        for code, value in (call.values or {}).items()
    ]
    if answers:
        record_many(project=job.project, instrument=job.instrument, answers=answers, source_kind=SourceKind.CALL)
    return len(settled)


@transaction.atomic
def finish_if_done(job: Job) -> bool:
    """Mark a running job as done when no call is left; only one of several callers gets True."""
    # Locked before its calls are looked at: a retry between the two would leave pending calls in a job that is done.
    lock_job(job)
    if Call.objects.filter(job=job, status__in=UNSETTLED).exists():
        return False
    return bool(
        Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(
            status=Job.Status.DONE, status_reason="", holds=0, held_until=None, finished_at=timezone.now()
        )
    )


def lock_job(job: Job) -> None:
    """Until the transaction ends, nobody else starts, finishes or discards the job or gives it calls to ask again."""
    list(Job.objects.select_for_update(no_key=True).filter(pk=job.pk).values_list("pk"))


def runners_wanted(endpoint: Endpoint) -> int:
    """How many tasks share a job's calls; each asks from a process of its own."""
    return 1 if endpoint.concurrency <= ONE_RUNNER_UP_TO else 2


def wants_runner(job: Job) -> bool:
    """Whether one more task would find work: so that a queue full of repeated messages for a job drains at once."""
    return _to_run().filter(pk=job.pk).exists() and _live_shards(job) < runners_wanted(job.endpoint)


def jobs_to_sweep() -> QuerySet[Job]:
    """Running jobs with calls to make of which nobody makes any: a lost message or worker, or a wait that is over."""
    live = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.CLAIMED)
    return _to_run().filter(~Exists(live))


def _to_run() -> QuerySet[Job]:
    pending = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.PENDING)
    not_held = Q(held_until=None) | Q(held_until__lte=timezone.now())
    return Job.objects.filter(not_held, Exists(pending), status=Job.Status.RUNNING)


def _live_shards(job: Job) -> int:
    live = Call.objects.filter(job=job, status=Call.Status.CLAIMED, lease_until__gte=timezone.now())
    return live.values("claimed_by").distinct().count()


def _held_by(shard: uuid.UUID) -> QuerySet[Call]:
    return Call.objects.filter(claimed_by=shard, status=Call.Status.CLAIMED)


def _applied(outcome: Outcome) -> Call:
    outcome.call.status = outcome.status
    for name, value in outcome.fields.items():
        setattr(outcome.call, name, value)
    return outcome.call


def _columns(calls: Sequence[Call]) -> dict[str, list[Any]]:
    def column(name: str, kind: str) -> list[Any]:
        values = [getattr(call, name) for call in calls]
        return values if kind != "jsonb" else [None if value is None else json.dumps(value) for value in values]

    return {name: column(name, kind) for name, kind in COLUMNS.items()}
