"""Runners that share an endpoint, and how they stop."""

import threading
import time
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from llm import tasks
from llm.models import Job
from llm.running import ledger
from llm.services import pause_job
from llm.tasks import run_shard
from responses.models import Response
from tests.llm.jobs import JobMaker, counts, in_thread, run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)


def run_together(*jobs: Job) -> None:
    threads = [threading.Thread(target=in_thread(lambda job=job: run_shard(job.pk))) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_runners_never_exceed_the_endpoints_concurrency(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.02)) as server:
        endpoint = jobs.endpoint(server, concurrency=5)
        one, two = jobs.start(endpoint, n=60), jobs.start(endpoint, n=60, temperature=1)
        run_together(one, two)
        assert server.most_in_flight == 5
        assert server.requests == 120
    assert counts(one) == counts(two) == {"ok": 60}


def test_two_runners_of_one_job_share_its_calls(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.02)) as server:
        job = jobs.start(jobs.endpoint(server, concurrency=20), n=200)
        run_together(job, job)
        assert server.most_in_flight <= 20
        assert server.requests == 200
    assert counts(job) == {"ok": 200}
    assert Response.objects.count() == 200


def test_calls_a_minute_are_kept(jobs: JobMaker):
    with ScriptedModelServer() as server:
        endpoint = jobs.endpoint(server, requests_per_minute=600)
        started = time.monotonic()
        assert counts(jobs.run(endpoint, n=16)) == {"ok": 16}
    assert time.monotonic() - started >= 1.5  # 15 intervals of 0.1 s


def test_a_pause_does_not_wait_for_turns_given_out_ahead(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.start(jobs.endpoint(server, requests_per_minute=6), n=16)
        runner = threading.Thread(target=in_thread(lambda: run_shard(job.pk)))
        runner.start()
        time.sleep(1)
        pause_job(job=job)
        runner.join(5)
        assert not runner.is_alive()
        assert server.requests == 1
    assert counts(job) == {"ok": 1, "pending": 15}


def test_a_rate_limited_server_gets_every_call_answered_without_using_up_tries(jobs: JobMaker):
    with ScriptedModelServer(Script(requests_per_second=15, latency_seconds=0.01)) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=16), n=60, max_attempts=2)
        assert counts(job) == {"ok": 60}
        assert server.behaved["rate_limited"] > 0


def test_no_runner_holds_more_than_it_can_ask_soon(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.3)) as server:
        job = jobs.start(jobs.endpoint(server, concurrency=4), n=40)
        runner = threading.Thread(target=in_thread(lambda: run_shard(job.pk)))
        runner.start()
        time.sleep(1.2)
        held = counts(job)
        pause_job(job=job)
        runner.join()
    assert held["claimed"] <= 16  # 8 asked or about to be, and what was answered within the last half second
    assert 0 < held["ok"] < 30  # settled while the rest goes on


def test_a_pause_lets_calls_in_flight_finish_and_gives_back_the_others(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.5)) as server:
        job = jobs.start(jobs.endpoint(server, concurrency=4), n=40)
        runner = threading.Thread(target=in_thread(lambda: run_shard(job.pk)))
        runner.start()
        time.sleep(0.8)
        pause_job(job=job)
        runner.join(5)
        assert not runner.is_alive()
        found = counts(job)
        assert set(found) == {"ok", "pending"}
        assert found["ok"] == server.requests  # what was paid for is kept
        assert found["ok"] <= 16


def test_a_task_hands_over_after_its_time(jobs: JobMaker, monkeypatch):
    messages = []
    monkeypatch.setattr(tasks, "TASK_SECONDS", 0.3)
    monkeypatch.setattr(run_shard, "delay", messages.append)
    with ScriptedModelServer(Script(latency_seconds=0.2)) as server:
        job = jobs.start(jobs.endpoint(server, concurrency=2), n=20)
        run_here(job)
    assert messages == [job.pk]
    assert set(counts(job)) == {"ok", "pending"}


def test_a_missing_key_pauses_the_job_with_what_to_set(jobs: JobMaker):
    job = jobs.start(jobs.endpoint("http://127.0.0.1:9/v1", key_variable="CONCORD_MODEL_KEY_NOWHERE"), n=1)
    run_here(job)
    assert job.status == Job.Status.PAUSED
    assert "takes its key from CONCORD_MODEL_KEY_NOWHERE, which is not set" in job.status_reason


def test_a_crash_of_the_worker_is_told_and_gives_everything_back(jobs: JobMaker, monkeypatch):
    def broken(*args: object) -> int:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(tasks.ledger, "settle", broken)
    with ScriptedModelServer() as server:
        job = jobs.start(server, n=3)
        with pytest.raises(ExceptionGroup):
            run_shard(job.pk)
    job.refresh_from_db()
    assert counts(job) == {"pending": 3}
    assert job.status_reason.startswith("A worker failed: RuntimeError: the disk is full.")
    assert job.held_until is not None


def test_a_cut_database_connection_gives_everything_back_and_stops_the_job_for_seconds(jobs: JobMaker, monkeypatch):
    def cut(*args: object) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return 0

    monkeypatch.setattr(tasks, "mark_rate", cut)  # by the heartbeat
    with ScriptedModelServer(Script(latency_seconds=2)) as server:
        job = jobs.start(server, n=3)
        with pytest.raises(ExceptionGroup):
            run_shard(job.pk)
    job.refresh_from_db()
    assert counts(job) == {"pending": 3}
    assert job.held_until is not None
    assert job.held_until < timezone.now() + timedelta(seconds=10)
    assert job.holds == 1


def test_another_runner_takes_the_place_of_one_that_was_killed_beside_others(jobs: JobMaker, monkeypatch):
    job = jobs.start(jobs.endpoint("http://127.0.0.1:9", concurrency=64))
    killed, alive = uuid.uuid4(), uuid.uuid4()
    for shard in (killed, alive):
        ledger.claim(job, shard, size=1)
    job.calls.filter(claimed_by=killed).update(lease_until=timezone.now() - timedelta(seconds=1))
    asked: list[int] = []
    monkeypatch.setattr(run_shard, "delay", asked.append)
    tasks.sweep()
    assert asked == [job.pk]
    assert counts(job) == {"claimed": 1, "pending": 4}


def test_a_message_for_a_job_that_is_gone_or_done_ends_quietly(jobs: JobMaker):
    run_shard(0)
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=1)
        run_shard(job.pk)
        assert server.requests == 1


def test_two_runners_at_once_ask_equal_requests_once(jobs: JobMaker):
    user = "Always the same. {{ answer_format }}"
    with ScriptedModelServer(Script(latency_seconds=0.3)) as server:
        endpoint = jobs.endpoint(server, concurrency=20)  # shared by two
        job = jobs.start(endpoint, n=120, user=user)
        run_together(job, job)
        job.refresh_from_db()
        assert (job.status, job.n_ok, job.n_reused, server.requests) == ("done", 120, 119, 1)


def test_who_waits_for_an_equal_request_asks_itself_when_that_brings_no_answer(jobs: JobMaker):
    user = "Always the same. {{ answer_format }}"
    with ScriptedModelServer(Script(behaviours=["refusal"] * 3)) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=4), n=12, user=user)
        assert (job.n_refused, job.n_ok, server.requests) == (3, 9, 4)
