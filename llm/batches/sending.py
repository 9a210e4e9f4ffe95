"""From pending calls to a batch at the server.

Whatever happens on the way, the batch's row says how far it came: before it is sealed nothing was sent; from the moment
before the server is asked to make it, the server may have it, and is asked whether it does.
"""

import json
import re
import time
from collections.abc import Sequence
from datetime import timedelta
from tempfile import TemporaryFile
from typing import BinaryIO
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from llm.batches.api import BatchApi, BatchApiError
from llm.batches.lines import ServerBatch, request_line
from llm.models import Batch, Call, Job
from llm.reading.outcomes import asked_again, parameters_of, schema_of
from llm.running.ledger import Outcome, claim, extend_lease, lease, lock_job, release, settle
from llm.running.preparing import find_answered, render, reused
from llm.servers.client import request_body
from llm.servers.endpoint_config import EndpointConfig

CLAIMED_AT_ONCE = 500
# As long as servers keep what came out of a batch. Its calls go back when it ends, not when this is over.
LEASE = timedelta(days=30)
LOOK_AFTER_LEASES = 3
NO_LIST = (404, 405, 501)  # the server has batches and cannot list them
TIMEOUT, CONFLICT = 408, 409

REMEMBER = """
UPDATE llm_call AS call SET messages = asked.messages, fingerprint = asked.fingerprint
FROM unnest(%s::bigint[], %s::jsonb[], %s::text[]) AS asked(id, messages, fingerprint)
WHERE call.id = asked.id AND call.claimed_by = %s"""


def send(job: Job, endpoint: EndpointConfig, api: BatchApi) -> bool:
    """Send as many calls as one batch takes; False when there were none to send.

    Raises BatchApiError when the server did not make the batch, or did not say whether it did: then the batch is
    still open, and `recover` finds out.
    """
    batch = Batch.objects.create(job=job)
    with TemporaryFile(prefix="concord-batch-") as file:
        writer = Writer(job, endpoint, batch, file)
        writer.write()
        if not _seal(job, batch, requests=writer.requests, held=writer.held):
            return False
        file.seek(0)
        _submit(batch, api, file)
    return True


class Writer:
    """Claims calls for a batch and writes those that must be asked to its file.

    One that asks the same as another on its way is not asked: the batch of that other one holds it too, and brings it
    an answer when it ends.
    """

    def __init__(self, job: Job, endpoint: EndpointConfig, batch: Batch, file: BinaryIO) -> None:
        self._job, self._endpoint, self._batch, self._file = job, endpoint, batch, file
        self._parameters = parameters_of(job)
        self._asked_by = _asked_by(batch) if job.repeatable else {}
        self._full = False
        self._extended = time.monotonic()
        self.requests = self.held = self._claimed = self._bytes = 0

    def write(self) -> None:
        while not self._full and self._claimed < settings.MODEL_BATCH_REQUESTS:
            size = min(CLAIMED_AT_ONCE, settings.MODEL_BATCH_REQUESTS - self._claimed)
            calls = claim(self._job, self._batch.key, size=size)
            if not calls:
                return
            self._claimed += len(calls)
            self._take(calls)
            if time.monotonic() - self._extended > lease().total_seconds() / 6:
                extend_lease(self._batch.key)
                self._extended = time.monotonic()

    def _take(self, calls: Sequence[Call]) -> None:
        faults = {call.pk: fault for call in calls if (fault := render(self._job, self._endpoint, call))}
        ready = [call for call in calls if call.pk not in faults]
        known = find_answered(self._job, [call.fingerprint for call in ready])
        done, kept = list(faults.values()), []
        for number, call in enumerate(ready):
            earlier = known.get(call.fingerprint)
            outcome = reused(self._job, call, earlier) if earlier else None
            if outcome is None and call.fingerprint not in self._asked_by:
                outcome = self._write_line(call)
            if self._full:
                _let_go(ready[number:])
                break
            if outcome:
                done.append(outcome)
            else:
                kept.append(call)
        settle(self._job, self._batch.key, done)
        _remember(self._batch, kept)
        self.held += len(kept) - self._hand_over(kept)

    def _hand_over(self, calls: Sequence[Call]) -> int:
        """Leave calls to the batches that ask the same; returns how many that were."""
        others: dict[UUID, list[int]] = {}
        for call in calls:
            key = self._asked_by.get(call.fingerprint, self._batch.key)
            if key != self._batch.key:
                others.setdefault(key, []).append(call.pk)
        for key, ids in others.items():
            mine = Call.objects.filter(pk__in=ids, claimed_by=self._batch.key, status=Call.Status.CLAIMED)
            mine.update(claimed_by=key, lease_until=timezone.now() + LEASE)
        return sum(map(len, others.values()))

    def _write_line(self, call: Call) -> Outcome | None:
        """Write the call's line or find that it does not fit any more; the outcome of one that would fit no file."""
        messages = [*call.messages, *(asked_again(call.text, call.problem) if call.text and call.problem else ())]
        schema = schema_of(self._job, call)
        line = request_line(custom_id(call), request_body(self._endpoint, messages, self._parameters, schema=schema))
        if len(line) > settings.MODEL_BATCH_BYTES:
            problem = f"The request has {len(line):,} bytes, and a batch takes {settings.MODEL_BATCH_BYTES:,}."
            return Outcome(call, Call.Status.ERROR, {"problem": problem})
        if self._bytes + len(line) > settings.MODEL_BATCH_BYTES:
            self._full = True
            return None
        self._file.write(line)
        self._bytes += len(line)
        self.requests += 1
        if self._job.repeatable:
            self._asked_by[call.fingerprint] = self._batch.key
        return None


def custom_id(call: Call) -> str:
    return f"call-{call.pk}"


def call_number(name: str) -> int | None:
    """The primary key of the call with this custom id; None for an id that is not ours."""
    found = re.fullmatch(r"call-([0-9]{1,18})", name, re.ASCII)
    return int(found[1]) if found else None


def recover(batch: Batch, api: BatchApi) -> None:
    """Find out what became of a batch whose sender did not live to see it, or did not hear. Raises BatchApiError.

    While the request to make it may still be on its way, or the server's list without it, nothing is decided: for
    longer than a lease, since a batch that is made twice is paid twice.
    """
    if batch.status == Batch.Status.PREPARING:
        discard(batch)
    elif batch.sent_at is None:
        close(batch, Batch.Status.LOST, "The worker ended before the server was asked to make it.")
    elif timezone.now() > batch.sent_at + LOOK_AFTER_LEASES * lease():
        _look_for(batch, api)


def _look_for(batch: Batch, api: BatchApi) -> None:
    try:
        found = api.find(batch.key, since=batch.created_at.timestamp())
    except BatchApiError as error:
        if error.status_code not in NO_LIST:
            raise
        problem = f"Nobody can say whether the server made it: {error} Its calls are asked again."
        close(batch, Batch.Status.LOST, problem)
        return
    if found:
        set_under_way(batch, found)
    else:
        close(batch, Batch.Status.LOST, batch.problem or "The server did not make it.")


def set_under_way(batch: Batch, found: ServerBatch) -> None:
    """Write down what the server says of the batch."""
    batch.status, batch.problem = Batch.Status.UNDERWAY, ""
    batch.server_id, batch.server_status = found.id, found.status[:40]
    batch.n_completed, batch.n_failed = found.completed, found.failed
    batch.files = batch.files | found.files
    batch.save()


@transaction.atomic
def close(batch: Batch, status: Batch.Status, problem: str = "") -> None:
    """End the batch; the calls that it still holds go back to the job."""
    release(batch.key)
    batch.status, batch.problem, batch.finished_at = status, problem[:500], timezone.now()
    batch.save()


@transaction.atomic
def discard(batch: Batch) -> None:
    """Forget a batch of which nothing was sent."""
    release(batch.key)
    batch.delete()


@transaction.atomic
def _seal(job: Job, batch: Batch, *, requests: int, held: int) -> bool:
    """Keep the batch's calls for as long as it can take; False, without a batch, when there are none, when a writer
    that was slow lost some to others, or when the job was paused meanwhile."""
    lock_job(job)
    calls = Call.objects.filter(claimed_by=batch.key, status=Call.Status.CLAIMED)
    kept = calls.update(lease_until=timezone.now() + LEASE)
    running = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).exists()
    if not requests or kept != held or not running:
        discard(batch)
        return False
    batch.status, batch.n_requests = Batch.Status.SENDING, requests
    batch.save()
    return True


def _submit(batch: Batch, api: BatchApi, file: BinaryIO) -> None:
    try:
        batch.files = {"input": api.upload(file, f"concord-{batch.key}.jsonl")}
    except BatchApiError:
        discard(batch)
        raise
    batch.sent_at = timezone.now()
    batch.save()
    try:
        made = api.create(batch.files["input"], batch.key)
    except BatchApiError as error:
        if _refused(error):
            close(batch, Batch.Status.LOST, str(error))
        else:
            batch.sent_at, batch.problem = timezone.now(), str(error)[:500]
            batch.save()
        raise
    set_under_way(batch, made)


def _refused(error: BatchApiError) -> bool:
    """Whether the server cannot have made the batch all the same."""
    code = error.status_code
    return code is not None and 300 <= code < 500 and code not in (TIMEOUT, CONFLICT)


def _asked_by(batch: Batch) -> dict[str, UUID]:
    """The key of the open batch of the same job that asks it, by fingerprint."""
    keys = Batch.objects.filter(job=batch.job_id, status__in=Batch.OPEN).exclude(pk=batch.pk).values("key")
    held = Call.objects.filter(claimed_by__in=keys, status=Call.Status.CLAIMED)
    return {fingerprint: key for fingerprint, key in held.values_list("fingerprint", "claimed_by") if key}


def _remember(batch: Batch, calls: Sequence[Call]) -> None:
    """Keep what is asked, for who collects the answers."""
    with connection.cursor() as cursor:
        ids, messages = [call.pk for call in calls], [json.dumps(call.messages) for call in calls]
        cursor.execute(REMEMBER, [ids, messages, [call.fingerprint for call in calls], batch.key])


def _let_go(calls: Sequence[Call]) -> None:
    Call.objects.filter(pk__in=[call.pk for call in calls], status=Call.Status.CLAIMED).update(
        status=Call.Status.PENDING, claimed_by=None, lease_until=None
    )
