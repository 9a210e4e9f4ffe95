"""The ledger under races: real threads, real PostgreSQL."""

import threading
import time
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from llm.models import Call, Job
from llm.planning.expansion import model_respondent
from llm.running import ledger
from llm.running.ledger import Outcome
from llm.services import discard_plan, pause_job, retry_failed, start_job
from responses.models import Response
from tests.llm.jobs import JobMaker, counts, in_thread

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY = "http://127.0.0.1:9/v1"


def ok(call: Call, value: str = "yes") -> Outcome:
    return Outcome(call, Call.Status.OK, {"values": {"answer": value}, "attempts": 1, "text": "{}"})


def wait_for_a_lock() -> None:
    """Until another connection waits for one that this transaction holds."""
    deadline = time.monotonic() + 10
    with connection.cursor() as cursor:
        waiting = 0
        while not waiting and time.monotonic() < deadline:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            (waiting,) = cursor.fetchone()


def test_two_claims_at_once_never_share_a_call(jobs: JobMaker):
    job = jobs.start(NOBODY, n=60)
    start, taken = threading.Barrier(4), []

    def work() -> None:
        start.wait()
        while calls := ledger.claim(job, uuid.uuid4(), size=4):
            taken.extend(call.pk for call in calls)

    threads = [threading.Thread(target=in_thread(work)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 60
    assert set(taken) == set(job.calls.values_list("pk", flat=True))


def test_nothing_is_claimed_of_a_job_that_does_not_run(jobs: JobMaker):
    job = jobs.start(NOBODY, n=2)
    pause_job(job=job)
    assert ledger.claim(job, uuid.uuid4(), size=5) == []


def test_calls_are_claimed_in_the_order_of_the_items(jobs: JobMaker):
    job = jobs.start(NOBODY, n=3, personas=[{}, {"country": "Peru"}])
    calls = ledger.claim(job, uuid.uuid4(), size=4)
    assert [call.item.position for call in calls] == [0, 0, 1, 1]


def test_a_claim_takes_no_more_than_asked_whatever_the_planner_knows(jobs: JobMaker):
    job = jobs.start(NOBODY, n=6)
    with transaction.atomic(), connection.cursor() as cursor:
        # The plan of a table without statistics, here by force: each call of the job looks for its id anew.
        for how in ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{how} = off")
        assert len(ledger.claim(job, uuid.uuid4(), size=2)) == 2


def test_a_call_whose_lease_was_lost_is_left_to_its_new_holder(jobs: JobMaker):
    job = jobs.start(NOBODY, n=2)
    slow, quick = uuid.uuid4(), uuid.uuid4()
    first, second = ledger.claim(job, slow, size=2)
    Call.objects.filter(pk=first.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert ledger.release_abandoned() == {job.pk}
    (again,) = ledger.claim(job, quick, size=2)
    assert again.pk == first.pk
    assert ledger.settle(job, slow, [ok(first, "no"), ok(second, "no")]) == 1
    assert ledger.settle(job, quick, [ok(again, "yes")]) == 1
    assert {answer.item_id: answer.value for answer in Response.objects.all()} == {
        first.item_id: "yes",
        second.item_id: "no",
    }
    assert ledger.settle(job, slow, [ok(first, "no")]) == 0  # settled calls stay as they are


def test_a_heartbeat_keeps_calls_and_release_gives_them_back(jobs: JobMaker, settings):
    job = jobs.start(NOBODY, n=3)
    shard = uuid.uuid4()
    ledger.claim(job, shard, size=2)
    Call.objects.filter(status="claimed").update(lease_until=timezone.now() - timedelta(seconds=1))
    assert ledger.extend_lease(shard) == 2
    assert ledger.release_abandoned() == set()
    assert ledger.release(shard) == 2
    assert counts(job) == {"pending": 3}


def test_an_answer_the_instrument_does_not_allow_settles_nothing(jobs: JobMaker):
    job = jobs.start(NOBODY, n=2)
    shard = uuid.uuid4()
    first, second = ledger.claim(job, shard, size=2)
    with pytest.raises(ValueError, match="is not an option"):
        ledger.settle(job, shard, [ok(first), ok(second, "maybe")])
    assert counts(job) == {"claimed": 2}
    assert not Response.objects.exists()


def test_settling_stores_every_field(jobs: JobMaker):
    job = jobs.start(NOBODY, n=1)
    shard = uuid.uuid4()
    (call,) = ledger.claim(job, shard, size=1)
    fields = {
        "attempts": 3,
        "fingerprint": "f" * 64,
        "messages": [{"role": "user", "content": "ärger \\ \"'{},\n"}],
        "reply": {"choices": [None, {"x": 1.5}]},
        "text": 'te,xt {"a"}',
        "reasoning": "NULL",
        "values": {"answer": "no"},
        "parse_mode": "json",
        "probabilities": {"answer": {"shares": {"yes": 0.25, "no": 0.5}, "other": 0.25, "unresolved": 0.0}},
        "problem": "",
        "prompt_tokens": 7,
        "completion_tokens": None,
        "latency_seconds": 0.25,
    }
    ledger.settle(job, shard, [Outcome(call, Call.Status.OK, fields)])
    stored = Call.objects.get()
    assert {name: getattr(stored, name) for name in fields} == fields
    assert (stored.status, stored.claimed_by, stored.lease_until) == ("ok", None, None)
    assert stored.finished_at is not None
    answer = Response.objects.get()
    assert (answer.value, answer.seconds, answer.source_id) == ("no", 0.25, call.pk)


def test_only_one_caller_finishes_a_job(jobs: JobMaker):
    job = jobs.start(NOBODY, n=1)
    assert not ledger.finish_if_done(job)
    shard = uuid.uuid4()
    (call,) = ledger.claim(job, shard, size=1)
    ledger.settle(job, shard, [ok(call)])
    assert [ledger.finish_if_done(job), ledger.finish_if_done(job)] == [True, False]
    assert Job.objects.get().finished_at is not None


def test_a_job_is_not_finished_while_its_failed_calls_are_given_back(jobs: JobMaker):
    job = jobs.start(NOBODY, n=1)
    ledger.expand(job)
    Call.objects.update(status=Call.Status.ERROR, problem="Refused.")
    finished: list[bool] = []
    finisher = threading.Thread(target=in_thread(lambda: finished.append(ledger.finish_if_done(job))))
    with transaction.atomic():
        assert retry_failed(job=job) == 1
        finisher.start()
        finisher.join(0.3)
    finisher.join()
    assert (finished, Job.objects.get().status) == ([False], Job.Status.RUNNING)


def test_a_plan_that_is_being_started_is_not_discarded(jobs: JobMaker):
    job = jobs.plan(NOBODY, n=2)
    discarded: list[bool] = []
    discarder = threading.Thread(target=in_thread(lambda: discarded.append(discard_plan(job=job))))
    with transaction.atomic():
        start_job(job=job)
        discarder.start()
        discarder.join(0.3)
    discarder.join()
    assert discarded == [False]
    assert Job.objects.get().status == Job.Status.RUNNING


def test_a_job_wants_as_many_runners_as_its_endpoint_needs(jobs: JobMaker):
    small, large = jobs.start(jobs.endpoint(NOBODY, concurrency=4)), jobs.start(jobs.endpoint(NOBODY, concurrency=64))
    assert ledger.wants_runner(small)
    for job in (small, large):
        ledger.claim(job, uuid.uuid4(), size=1)
    assert not ledger.wants_runner(small)  # so a repeated message ends at once
    assert ledger.wants_runner(large)
    assert list(ledger.jobs_to_sweep()) == []  # both are being worked on
    Call.objects.filter(status="claimed").update(lease_until=timezone.now() - timedelta(seconds=1))
    ledger.release_abandoned()
    assert set(ledger.jobs_to_sweep()) == {small, large}


def test_a_heartbeat_does_not_wait_for_calls_that_are_being_settled(jobs: JobMaker):
    job = jobs.start(NOBODY, n=3)
    shard = uuid.uuid4()
    first, *_ = ledger.claim(job, shard, size=3)
    extended: list[int] = []
    beat = threading.Thread(target=in_thread(lambda: extended.append(ledger.extend_lease(shard))))
    with transaction.atomic():
        ledger.settle(job, shard, [ok(first)])
        beat.start()
        beat.join(10)
        assert extended == [2]


def test_jobs_that_store_the_same_answers_at_once_do_so_in_one_order(jobs: JobMaker):
    endpoint = jobs.endpoint(NOBODY)
    one, other = (jobs.start(endpoint, n=2, seed=seed, option_orders="written") for seed in (1, 2))
    shard = uuid.uuid4()
    mine, theirs = ledger.claim(one, shard, size=2), ledger.claim(other, shard, size=2)
    settled: list[int] = []
    outcomes = [ok(call, "no") for call in reversed(theirs)]
    work = threading.Thread(target=in_thread(lambda: settled.append(ledger.settle(other, shard, outcomes))))
    with transaction.atomic():
        ledger.settle(one, shard, [ok(mine[0])])
        work.start()
        wait_for_a_lock()
        ledger.settle(one, shard, [ok(mine[1])])
    work.join(10)
    assert settled == [2]


def test_jobs_whose_conditions_come_in_other_orders_write_their_ledgers_at_once(jobs: JobMaker):
    people = [{"country": "Chile"}, {"country": "Japan"}]
    endpoint = jobs.endpoint(NOBODY)
    one, other = (jobs.start(endpoint, n=1, personas=personas) for personas in (people, people[::-1]))
    written: list[int] = []
    work = threading.Thread(target=in_thread(lambda: written.append(ledger.expand(other))))
    with transaction.atomic():
        ledger.lock_ledger(one)
        model_respondent(endpoint, people[0])  # as the first call of `one` does
        work.start()
        wait_for_a_lock()
        assert ledger.expand(one) == 2
    work.join(10)
    assert written == [2]
