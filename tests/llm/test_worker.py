"""Real Celery workers: killed in the middle, and with an emptied broker."""

import os
import time
from collections.abc import Callable

import pytest
import redis

from llm.models import Job
from llm.tasks import sweep
from responses.models import Response
from tests.llm.jobs import JobMaker, counts
from tests.model_server import Script, ScriptedModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
LEASE = {"CONCORD_MODEL_LEASE_SECONDS": "2"}
CONCURRENCY = 8


def wait_until(holds: Callable[[], bool], *, seconds: float = 60, each: Callable[[], object] = lambda: None) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return
        each()
        time.sleep(0.1)
    pytest.fail("it did not come to pass in time")


def answered(job: Job) -> int:
    return job.calls.filter(status="ok").count()


def finished(job: Job) -> bool:
    job.refresh_from_db()
    return job.status == Job.Status.DONE


def test_a_worker_killed_half_way_costs_at_most_the_calls_in_flight(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer(Script(latency_seconds=0.1)) as server:
        first = start_celery_worker(**LEASE)
        job = jobs.start(jobs.endpoint(server, concurrency=CONCURRENCY), n=150)
        wait_until(lambda: answered(job) >= 40)
        first.kill()
        before = answered(job)
        assert before < 150
        start_celery_worker(**LEASE)
        wait_until(lambda: finished(job), each=sweep)
        # Those in flight, and those answered within the half second before they would have been settled.
        assert server.requests - 150 <= CONCURRENCY + CONCURRENCY * 0.6 / 0.1
    assert counts(job) == {"ok": 150}
    assert Response.objects.count() == 150
    assert len(set(Response.objects.values_list("source_id", flat=True))) == 150


def test_a_worker_asked_to_leave_gives_its_calls_back_at_once(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer(Script(latency_seconds=0.2)) as server:
        worker = start_celery_worker()
        job = jobs.start(jobs.endpoint(server, concurrency=4), n=200)
        wait_until(lambda: answered(job) >= 4)
        asked = time.monotonic()
        worker.leave(timeout=20)
        assert time.monotonic() - asked < 8
        found = counts(job)
    assert set(found) == {"ok", "pending"}
    assert found["ok"] == server.requests


def test_an_emptied_broker_is_made_up_for(jobs: JobMaker, start_celery_worker):
    with ScriptedModelServer(Script(latency_seconds=0.1)) as server:
        job = jobs.start(jobs.endpoint(server, concurrency=4), n=40)
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
            client.flushdb()
        start_celery_worker(**LEASE)
        time.sleep(1)
        assert not job.calls.exists()
        sweep()
        wait_until(lambda: answered(job) >= 8)
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
            client.flushdb()
        wait_until(lambda: finished(job), each=sweep)
        assert server.requests == 40
    assert counts(job) == {"ok": 40}
