"""Real Celery workers with jobs by the Batch API, killed at every step of the way."""

import asyncio
import json
import threading
from collections.abc import Callable
from queue import SimpleQueue

import pytest
from django.db import transaction

from llm.batches.collecting import SETTLED_AT_ONCE
from llm.models import Batch, Call, Job
from llm.tasks import sweep
from responses.models import Response
from tests.llm.jobs import JobMaker, counts
from tests.llm.test_worker import answered, finished, wait_until
from tests.model_server import Script, ScriptedModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
LEASE = {"CONCORD_MODEL_LEASE_SECONDS": "2"}
CALLS = 40


def start(jobs: JobMaker, server: ScriptedModelServer, n: int = CALLS) -> Job:
    endpoint = jobs.endpoint(server, capabilities={"batch": True}, timeout_seconds=60)
    return jobs.start(endpoint, n=n, way=Job.Way.BATCH)


def finish(job: Job, start_celery_worker: Callable) -> None:
    start_celery_worker(**LEASE)
    wait_until(lambda: finished(job), each=sweep)


def assert_each_asked_once(job: Job, server: ScriptedModelServer, n: int = CALLS) -> None:
    assert len(server.batches.bodies) == n
    assert counts(job) == {"ok": n}
    assert (job.n_ok, job.requests) == (n, n)
    assert Response.objects.count() == n
    assert len(set(Response.objects.values_list("source_id", flat=True))) == n
    wait_until(lambda: server.batches.files == {}, each=sweep)


def test_killed_while_the_file_is_written(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer() as server:
        job = start(jobs, server)
        with transaction.atomic():
            list(Job.objects.select_for_update(no_key=True).filter(pk=job.pk))  # writing the ledger waits for it
            worker = start_celery_worker(**LEASE)
            wait_until(lambda: Batch.objects.filter(job=job, status="preparing").exists())
            worker.kill()
        assert server.batches.requests == 0
        finish(job, start_celery_worker)
        assert_each_asked_once(job, server)
    assert job.batches.count() == 1


def test_killed_before_the_file_is_uploaded(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer(Script(batch_behaviours=["hang"])) as server:
        job = start(jobs, server)
        worker = start_celery_worker(**LEASE)
        wait_until(lambda: server.batches.requests == 1)
        worker.kill()
        assert job.batches.get().status == "sending"
        finish(job, start_celery_worker)
        assert_each_asked_once(job, server)
    assert [batch.status for batch in job.batches.all()] == ["lost", "collected"]


def test_killed_after_the_upload(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer(Script(batch_behaviours=["ok", "hang"])) as server:
        job = start(jobs, server)
        worker = start_celery_worker(**LEASE)
        wait_until(lambda: server.batches.requests == 2)
        worker.kill()
        assert len(server.batches.files) == 1
        finish(job, start_celery_worker)
        assert_each_asked_once(job, server)
    assert [batch.status for batch in job.batches.all()] == ["lost", "collected"]


def test_killed_when_the_server_has_made_the_batch_and_nobody_heard(jobs: JobMaker, start_celery_worker):
    server = ScriptedModelServer()
    make, waits = server.batches._create, [60.0]

    async def make_and_say_nothing(request):
        answer = await make(request)
        await asyncio.sleep(waits.pop() if waits else 0)
        return answer

    server.batches._create = make_and_say_nothing
    with server:
        job = start(jobs, server)
        worker = start_celery_worker(**LEASE)
        wait_until(lambda: bool(server.batches.batches))
        worker.kill()
        batch = job.batches.get()
        assert (batch.status, batch.server_id) == ("sending", "")
        finish(job, start_celery_worker)
        assert len(server.batches.batches) == 1
        assert_each_asked_once(job, server)
    assert [batch.status for batch in job.batches.all()] == ["collected"]


def test_killed_half_way_through_collecting(jobs: JobMaker, start_celery_worker):
    calls = SETTLED_AT_ONCE + 50
    server = ScriptedModelServer(Script(batch_polls=1))
    send, last, locked = server.batches._content, SimpleQueue(), threading.Event()

    async def send_when_the_last_call_is_locked(request):
        answer = await send(request)
        last.put(json.loads(answer.body.splitlines()[-1])["custom_id"])
        await asyncio.to_thread(locked.wait, 60)
        return answer

    server.batches._content = send_when_the_last_call_is_locked
    with server:
        job = start(jobs, server, n=calls)
        worker = start_celery_worker(**LEASE)
        wait_until(lambda: not last.empty(), each=sweep)
        with transaction.atomic():
            list(Call.objects.select_for_update().filter(pk=last.get().removeprefix("call-")))
            locked.set()
            wait_until(lambda: answered(job) == SETTLED_AT_ONCE)
            worker.kill()
        assert counts(job) == {"ok": SETTLED_AT_ONCE, "claimed": 50}
        finish(job, start_celery_worker)
        assert len(server.batches.batches) == 1
        assert_each_asked_once(job, server, calls)
