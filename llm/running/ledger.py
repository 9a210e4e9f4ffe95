"""The ledger of calls: write it ahead, claim some, extend their lease, settle what came back, give back what did not.

What is in the database decides what is left to do. A killed worker's calls come back when their lease runs out.
"""

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from llm.models import Call, Endpoint, Job
from llm.planning.budget import Budget, Room, Use, room
from llm.planning.expansion import Expander
from llm.planning.selection import planned_items
from responses.models import SourceKind
from responses.services import Answer, record_many

UNSETTLED = (Call.Status.PENDING, Call.Status.CLAIMED)
FAILED = (Call.Status.TRUNCATED, Call.Status.UNPARSED, Call.Status.REFUSED, Call.Status.ERROR)
ONE_RUNNER_UP_TO = 16  # calls in flight that one process serves alone; more are shared by two
CHUNK_CALLS = 200  # about as many are written to the ledger at once, whole items
NO_LIMIT = Room(float("inf"))

# A job's row says whether it may ask; it is read in the same statement, so that nothing is claimed after a pause.
# The rows are chosen in a WITH, which runs once. A planner that knows little of the table runs a subquery of
# `id IN (...)` once for every call, and each run takes as many more as the limit allows.
CLAIM = """
WITH chosen AS (
    SELECT id FROM llm_call WHERE job_id = %(job)s AND status = 'pending'
      AND EXISTS (SELECT FROM llm_job WHERE id = %(job)s AND status = 'running')
    ORDER BY id LIMIT %(size)s FOR UPDATE SKIP LOCKED)
UPDATE llm_call AS taken SET status = 'claimed', claimed_by = %(shard)s, lease_until = now() + %(lease)s::interval
FROM chosen WHERE taken.id = chosen.id
RETURNING taken.id"""

# Rows that somebody is settling at this moment are skipped rather than waited for.
RELEASE_ABANDONED = """
WITH abandoned AS (
    SELECT id FROM llm_call WHERE status = 'claimed' AND lease_until < now() FOR UPDATE SKIP LOCKED)
UPDATE llm_call AS call SET status = 'pending', claimed_by = NULL, lease_until = NULL
FROM abandoned WHERE call.id = abandoned.id
RETURNING call.job_id"""

# One statement for a batch, whose rows go as one JSON text: arrays of texts cost the client ten times as much, and
# bulk_update's CASE for every column and row as much again.
COLUMNS = {
    "id": "bigint", "status": "text", "attempts": "int", "fingerprint": "text", "messages": "jsonb", "reply": "jsonb",
    "text": "text", "reasoning": "text", "values": "jsonb", "parse_mode": "text", "probabilities": "jsonb",
    "problem": "text", "prompt_tokens": "int", "completion_tokens": "int", "latency_seconds": "float8",
    "reused_from_id": "bigint",
}  # fmt: skip
SETTLE = f"""
UPDATE llm_call AS call
SET {", ".join(f'"{name}" = done."{name}"' for name in COLUMNS if name != "id")},
    finished_at = %(now)s, claimed_by = NULL, lease_until = NULL
FROM jsonb_to_recordset(%(rows)s::jsonb) AS done({", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())})
WHERE call.id = done.id AND call.claimed_by = %(shard)s AND call.status = 'claimed'
RETURNING call.id"""
WRITE = """
INSERT INTO llm_call (job_id, item_id, respondent_id, condition_id, sample, cell, orders, status, attempts,
                      failed_attempts, parse_attempts, fingerprint, messages, text, reasoning, parse_mode, problem)
SELECT %(job)s, item_id, respondent_id, condition_id, sample, cell, orders, 'pending', 0,
       0, 0, '', '[]', '', '', '', ''
FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (item_id bigint, respondent_id bigint, condition_id bigint,
                                                        sample int, cell int, orders jsonb)) WITH ORDINALITY
ORDER BY ordinality
ON CONFLICT DO NOTHING"""


@dataclass(frozen=True)
class Outcome:
    """What became of one claimed call: its final status and the Call fields to store with it."""

    call: Call
    status: Call.Status
    fields: dict[str, Any] = field(default_factory=dict)


class Used(NamedTuple):
    """What asking took, also of calls that were given back: HTTP requests, and tokens as far as the server told."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


NOTHING_USED = Used()


def lease() -> timedelta:
    return timedelta(seconds=settings.MODEL_LEASE_SECONDS)


def claim(job: Job, shard: uuid.UUID, *, size: int) -> list[Call]:
    """Take up to `size` calls that nobody holds, while the job runs and its budget lasts, writing more of the ledger
    when it runs short. Concurrent claims never get the same call, nor more together than the budget has room for.
    """
    ids = _claim(job, shard, size)
    while len(ids) < size and room_left(job).calls > 0 and expand(job):
        ids += _claim(job, shard, size - len(ids))
    if not ids:  # another runner may have written the rest while this one waited for it
        ids = _claim(job, shard, size)
    return list(Call.objects.filter(pk__in=ids).select_related("item", "respondent").order_by("id"))


@transaction.atomic
def _claim(job: Job, shard: uuid.UUID, size: int) -> list[int]:
    if budget_of(job):
        lock_job(job)
        size = int(min(size, room_left(job).calls))
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"shard": shard, "lease": str(lease()), "job": job.pk, "size": size})
        return [row[0] for row in cursor.fetchall()]


@transaction.atomic
def expand(job: Job) -> int:
    """Write the next calls of a running job's grid to the ledger; returns how many, 0 when there are none left.

    Calls of the pilot are there already and stay.
    """
    lock_ledger(job)
    state = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING, expanded=False, pilot=False)
    row = state.values_list("expanded_position", "expanded_items").first()
    if row is None:
        return 0
    position, rank = row
    items_each = max(1, CHUNK_CALLS // (job.grid.cells_per_item * job.samples))
    items = list(planned_items(job).filter(position__gte=position).order_by("position", "pk")[:items_each])
    calls = Expander(job).calls((rank + number, item) for number, item in enumerate(items))
    written = 0
    while batch := list(islice(calls, CHUNK_CALLS)):
        written += len(batch)
        write(job, batch)
    complete = len(items) < items_each
    state.update(
        expanded_position=items[-1].position + 1 if items else position,
        expanded_items=rank + len(items),
        expanded=complete,
    )
    return written


def write(job: Job, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add calls, as llm.planning.expansion makes them, to the job's ledger; those that are there already stay."""
    with connection.cursor() as cursor:
        cursor.execute(WRITE, {"job": job.pk, "rows": json.dumps(rows)})


def budget_of(job: Job) -> Budget:
    return Budget(calls=job.budget_calls, tokens=job.budget_tokens, price=job.budget_price)


def room_left(job: Job) -> Room:
    """How many more calls the job's budget allows by now. Costs two queries."""
    now = Job.objects.select_related("endpoint").get(pk=job.pk)
    if not budget_of(now):
        return NO_LIMIT
    in_flight = Call.objects.filter(job=now, status=Call.Status.CLAIMED).count()
    asked = now.settled - now.n_reused
    mean = now.prompt_tokens // asked if asked else 0
    use = Use(
        calls=now.settled - now.n_reused + in_flight,
        in_flight=in_flight,
        prompt_tokens=now.prompt_tokens,
        completion_tokens=now.completion_tokens,
        prompt_each=max(now.tokens_each, mean),
        completion_each=now.max_tokens,
    )
    return room(budget_of(now), use, now.price_of)


@transaction.atomic
def extend_lease(shard: uuid.UUID) -> int:
    """Heartbeat: how many calls the shard still holds, without those that it is settling at this moment.

    To wait for these would be a deadlock now and then, since settling locks several calls in an order of its own.
    """
    held = _held_by(shard).select_for_update(skip_locked=True)
    return Call.objects.filter(pk__in=held.values("pk")).update(lease_until=timezone.now() + lease())


def release(shard: uuid.UUID) -> int:
    """Give back what the shard holds and has not settled."""
    return _held_by(shard).update(status=Call.Status.PENDING, claimed_by=None, lease_until=None)


def release_abandoned() -> set[int]:
    """Give back the calls whose lease ran out, of killed workers; the ids of the jobs that these worked on."""
    with connection.cursor() as cursor:
        cursor.execute(RELEASE_ABANDONED)
        return {row[0] for row in cursor.fetchall()}


@transaction.atomic
def settle(job: Job, shard: uuid.UUID, outcomes: Sequence[Outcome], used: Used = NOTHING_USED) -> int:
    """Store outcomes and the answers in them, and count them, together or not at all; returns how many were settled.

    A call that the shard no longer holds (its lease ran out and another took it) is left to its new holder. `used`:
    what was asked since the last time, whatever became of it.
    """
    now = timezone.now()
    calls = {outcome.call.pk: _applied(outcome) for outcome in outcomes}
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, {"rows": _rows(list(calls.values())), "now": now, "shard": shard})
        settled = [calls[row[0]] for row in cursor.fetchall()]
    # Two jobs that store the same answers at the same moment would deadlock if each had an order of its own.
    settled.sort(key=lambda call: (call.respondent_id, call.item_id, call.condition_id, call.sample))
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
    _count(job, settled, used)  # last: the job's row stays locked until the end
    return len(settled)


def _count(job: Job, settled: Sequence[Call], used: Used) -> None:
    added = Counter(used._asdict())
    for call in settled:
        added[f"n_{call.status}"] += 1
        added["n_reused"] += call.reused_from_id is not None
    if changes := {name: F(name) + number for name, number in added.items() if number}:
        Job.objects.filter(pk=job.pk).update(**changes)


@transaction.atomic
def ask_again(job: Job) -> int:
    """Give the calls without an answer back to be asked again, each with all its tries; returns how many. What they
    used stays counted."""
    lock_job(job)
    again = Call.objects.filter(job=job, status__in=FAILED).update(
        status=Call.Status.PENDING, problem="", finished_at=None, failed_attempts=0, parse_attempts=0
    )
    Job.objects.filter(pk=job.pk).update(n_truncated=0, n_unparsed=0, n_refused=0, n_error=0)
    return again


@transaction.atomic
def finish_if_done(job: Job) -> bool:
    """Mark a running job as done when no call is left, or as paused when only its pilot was to be asked, or when its
    budget has no room; only one of several callers gets True."""
    # Locked before its calls are looked at: a retry between the two would leave pending calls in a job that is done.
    lock_job(job)
    now = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).select_related("endpoint").first()
    if now is None:
        return False
    calls = Call.objects.filter(job=job)
    changes: dict[str, Any] = {"status": Job.Status.DONE, "status_reason": "", "finished_at": timezone.now()}
    if calls.filter(status=Call.Status.CLAIMED).exists():
        return False
    if calls.filter(status=Call.Status.PENDING).exists() or not (now.expanded or now.pilot):
        left = room_left(now)
        if left.calls > 0:
            return False
        changes = _paused(f"The budget of {left.limit} is used up. Raise it to go on.")
    elif now.pilot and not now.expanded:
        changes = _paused("The pilot is done. Look at its answers, then run the rest.")
    Job.objects.filter(pk=job.pk).update(holds=0, held_until=None, **changes)
    return True


def _paused(reason: str) -> dict[str, Any]:
    return {"status": Job.Status.PAUSED, "status_reason": reason}


def lock_job(job: Job) -> None:
    """Until the transaction ends, nobody else starts, finishes or discards the job or gives it calls to ask again."""
    list(Job.objects.select_for_update(no_key=True).filter(pk=job.pk).values_list("pk"))


def lock_ledger(job: Job) -> None:
    """Until the transaction ends, nobody else writes calls in the job's project. To be taken before a job's row.

    Two runners of one job would write the same items, and those of two jobs deadlock over the conditions and
    respondents that both make. Not the lock on the job's row, which those who settle wait for.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('llm_job expanded'), %s)", [job.project_id])


def runners_wanted(endpoint: Endpoint) -> int:
    """How many tasks share a job's calls; each asks from a process of its own."""
    return 1 if endpoint.concurrency <= ONE_RUNNER_UP_TO else 2


def wants_runner(job: Job) -> bool:
    """Whether one more task would find work: so that a queue full of repeated messages for a job drains at once."""
    return _to_run().filter(pk=job.pk).exists() and live_shards(job) < runners_wanted(job.endpoint)


def jobs_to_sweep() -> QuerySet[Job]:
    """Running jobs with calls to make of which nobody makes any: a lost message or worker, or a wait that is over."""
    live = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.CLAIMED)
    return _to_run().filter(~Exists(live))


def _to_run() -> QuerySet[Job]:
    pending = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.PENDING)
    not_held = Q(held_until=None) | Q(held_until__lte=timezone.now())
    to_ask = Exists(pending) | Q(expanded=False, pilot=False)
    return Job.objects.filter(not_held, to_ask, status=Job.Status.RUNNING, way=Job.Way.LIVE)


def live_shards(job: Job) -> int:
    """How many runners hold calls of the job."""
    live = Call.objects.filter(job=job, status=Call.Status.CLAIMED, lease_until__gte=timezone.now())
    return live.values("claimed_by").distinct().count()


def _held_by(shard: uuid.UUID) -> QuerySet[Call]:
    return Call.objects.filter(claimed_by=shard, status=Call.Status.CLAIMED)


def _applied(outcome: Outcome) -> Call:
    outcome.call.status = outcome.status
    for name, value in outcome.fields.items():
        setattr(outcome.call, name, value)
    return outcome.call


def _rows(calls: Sequence[Call]) -> str:
    return json.dumps([{name: getattr(call, name) for name in COLUMNS} for call in calls])
