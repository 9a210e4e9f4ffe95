"""Ledgers that are written ahead, pilots, budgets and counts: real PostgreSQL, real HTTP, real threads."""

import threading
import time
import uuid
from collections import Counter
from decimal import Decimal

import pytest

from llm.models import Call, Job
from llm.running import ledger
from llm.running.ledger import Outcome, Used
from llm.services import JobError, pause_job, plan_series, resume_job, retry_failed, set_budget, start_job
from materials.models import Item
from projects.models import AuditEvent
from responses.models import Condition, Response
from tests.llm.jobs import JobMaker, counts, in_thread, run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY = "http://127.0.0.1:9/v1"
CONFIG = {"name": "config", "levels": ["C1", "C2", {"name": "C3", "value": "both prefer"}]}
MOVING = {
    "kind": "choice",
    "code": "answer",
    "text": "Is this usual?",
    "randomise": True,
    "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
}


def tallies(job: Job) -> dict[str, int]:
    job.refresh_from_db()
    return {status: getattr(job, f"n_{status}") for status in ("ok", "truncated", "unparsed", "refused", "error")}


def everything(job: Job) -> list[Call]:
    while ledger.expand(job):
        pass
    return list(job.calls.select_related("condition", "respondent", "item").order_by("pk"))


def test_the_ledger_is_written_as_it_is_asked_and_holds_the_grid_once(jobs: JobMaker, monkeypatch):
    monkeypatch.setattr(ledger, "CHUNK_CALLS", 20)
    personas = [{}, {"country": "Peru"}]
    job = jobs.start(
        NOBODY, n=7, personas=personas, factors=[CONFIG], samples=2, questions=[MOVING], option_orders="both"
    )
    assert (job.planned_calls, job.calls.count()) == (7 * 2 * 3 * 2 * 2, 0)
    claimed = ledger.claim(job, uuid.uuid4(), size=5)
    assert len(claimed) == 5
    assert job.calls.count() == 24  # one item: as few as make up a chunk
    calls = everything(job)
    assert len(calls) == job.planned_calls
    job.refresh_from_db()
    assert job.expanded
    seen = Counter(
        (call.item_id, call.respondent.attributes.get("country"), call.condition.factors["config"],
         call.condition.factors["option_order"], call.sample)
        for call in calls
    )  # fmt: skip
    assert len(seen) == 168
    assert {call.orders["answer"][0] for call in calls} == {"yes", "no"}
    assert Condition.objects.count() == 3 * 2
    assert [call.item.position for call in calls] == sorted(call.item.position for call in calls)


def test_many_at_once_write_each_call_once(jobs: JobMaker, monkeypatch):
    monkeypatch.setattr(ledger, "CHUNK_CALLS", 10)
    job = jobs.start(NOBODY, n=40, factors=[CONFIG])
    start, taken = threading.Barrier(4), []

    def work() -> None:
        start.wait()
        while calls := ledger.claim(Job.objects.get(pk=job.pk), uuid.uuid4(), size=7):
            taken.extend(call.pk for call in calls)

    threads = [threading.Thread(target=in_thread(work)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == job.calls.count() == 120


def test_items_imported_after_the_start_do_not_belong_to_the_job(jobs: JobMaker):
    job = jobs.start(NOBODY, n=3)
    last = Item.objects.filter(dataset=job.dataset).last()
    Item.objects.create(dataset=job.dataset, external_id="late", content={"text": "Late"}, position=last.position + 1)
    assert len(everything(job)) == job.planned_calls == 3


def test_a_fraction_asks_each_item_under_some_conditions_each_equally_often(jobs: JobMaker):
    job = jobs.start(NOBODY, n=6, factors=[CONFIG], conditions_per_item=2)
    calls = everything(job)
    assert set(Counter(call.item_id for call in calls).values()) == {2}
    assert Counter(call.condition.factors["config"] for call in calls) == {"C1": 4, "C2": 4, "C3": 4}


def test_items_can_be_filtered_and_drawn(jobs: JobMaker):
    job = jobs.start(NOBODY, n=9, item_filter={"text": ["Scenario 2", "Scenario 5", "none"]})
    assert {call.item.content["text"] for call in everything(job)} == {"Scenario 2", "Scenario 5"}
    drawn = [
        {call.item_id for call in everything(jobs.start(NOBODY, n=9, max_items=4, items_drawn=True, seed=seed))}
        for seed in (1, 1, 2, 3, 4)
    ]
    assert [len(ids) for ids in drawn] == [4] * 5
    assert drawn[0] == drawn[1]
    assert len({frozenset(ids) for ids in drawn}) > 1
    with pytest.raises(JobError, match="that the filter leaves"):
        jobs.plan(NOBODY, n=9, item_filter={"text": ["none"]})


def test_the_prompt_sees_the_condition_and_each_condition_gets_its_own_answer(jobs: JobMaker):
    user = "{{ item.text }} {{ condition.config }} {{ answer_format }}"
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=2, factors=[CONFIG], user=user)
    assert (job.status, tallies(job)["ok"], Response.objects.count()) == (Job.Status.DONE, 6, 6)
    asked = {body["messages"][-1]["content"].split(" Answer")[0] for body in server.bodies}
    assert asked == {f"Scenario {n} {value}" for n in (0, 1) for value in ("C1", "C2", "both prefer")}


def test_a_pilot_asks_its_calls_and_waits_and_the_rest_follows(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.plan(
            server, n=30, factors=[CONFIG], user="{{ item.text }} {{ condition.config }} {{ answer_format }}"
        )
        assert start_job(job=job, pilot=20)
        run_here(job)
        assert (job.status, job.status_reason[:18], counts(job)) == ("paused", "The pilot is done.", {"ok": 20})
        assert len({call.item_id for call in job.calls.all()}) == 20
        assert {call.condition.factors["config"] for call in job.calls.all()} == {"C1", "C2", "C3"}
        assert resume_job(job=job)
        run_here(job)
        assert (job.status, counts(job), server.requests) == ("done", {"ok": 90}, 90)
    assert tallies(job)["ok"] == job.planned_calls == 90


def test_a_pilot_of_a_small_job_is_the_job(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.plan(server, n=3)
        start_job(job=job, pilot=20)
        run_here(job)
    assert (job.status, job.pilot, counts(job)) == ("done", False, {"ok": 3})


def test_a_budget_of_calls_is_kept_exactly_and_can_be_raised(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.02)) as server:
        job = jobs.run(server, n=40, budget_calls=13)
        assert (job.status, job.n_ok, server.requests) == ("paused", 13, 13)
        assert job.status_reason == "The budget of 13 calls is used up. Raise it to go on."
        resume_job(job=job)
        run_here(job)
        assert (job.status, server.requests) == ("paused", 13)  # resuming alone buys nothing
        set_budget(job=job, calls=None, tokens=None, price=None)
        resume_job(job=job)
        run_here(job)
    assert (job.status, job.n_ok) == ("done", 40)


def test_a_budget_of_tokens_or_money_is_never_passed(jobs: JobMaker):
    with ScriptedModelServer() as server:
        tokens = jobs.run(server, n=40, budget_tokens=900, max_tokens=50)
        priced = jobs.endpoint(server, price_per_million_in=1_000_000, price_per_million_out=2_000_000)
        money = jobs.run(
            priced, n=40, user="Money. {{ item.text }} {{ answer_format }}", budget_price=Decimal(500), max_tokens=50
        )
    for job in (tokens, money):
        assert (job.status, "is used up" in job.status_reason) == ("paused", True)
        assert 3 < job.n_ok < 40
    assert tokens.prompt_tokens + tokens.completion_tokens <= 900
    assert money.price <= 500
    with pytest.raises(JobError, match="needs prices"):
        jobs.plan(NOBODY, budget_price=Decimal(1), slug="c")


def test_room_that_comes_back_while_nothing_can_be_claimed_is_used(jobs: JobMaker, monkeypatch: pytest.MonkeyPatch):
    real = ledger.claim

    def late(job: Job, shard: uuid.UUID, *, size: int) -> list[Call]:
        """Tells that there is nothing when all that was in flight is settled."""
        claimed = real(job, shard, size=size)
        while not claimed and job.calls.filter(status=Call.Status.CLAIMED).exists():
            time.sleep(0.01)
        time.sleep(0 if claimed else 0.2)
        return claimed

    monkeypatch.setattr(ledger, "claim", late)
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=40, budget_tokens=900, max_tokens=50)
    assert (job.status, "is used up" in job.status_reason) == ("paused", True)


def test_two_who_claim_at_once_share_one_budget(jobs: JobMaker):
    job = jobs.start(NOBODY, n=60, budget_calls=25)
    start, taken = threading.Barrier(4), []

    def work() -> None:
        start.wait()
        while calls := ledger.claim(Job.objects.get(pk=job.pk), uuid.uuid4(), size=4):
            taken.extend(call.pk for call in calls)

    threads = [threading.Thread(target=in_thread(work)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 25


def test_the_counts_of_a_job_are_those_of_its_ledger(jobs: JobMaker):
    faults = {"unparseable": 0.2, "refusal": 0.1, "length": 0.1, "error_500": 0.05, "rate_limited": 0.02}
    with ScriptedModelServer(Script(probabilities=faults, seed=5)) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=16), n=120)
        found = counts(job)
        assert {status: n for status, n in tallies(job).items() if n} == found
        assert job.requests == server.requests
        assert retry_failed(job=job) == 120 - found["ok"]
        assert tallies(job) == {"ok": found["ok"], "truncated": 0, "unparsed": 0, "refused": 0, "error": 0}
        run_here(job)
        assert {status: n for status, n in tallies(job).items() if n} == counts(job)
        assert job.requests == server.requests
        tokens = job.calls.values_list("prompt_tokens", flat=True)
        assert job.prompt_tokens == sum(n or 0 for n in tokens) > 0


def test_what_a_lost_shard_settles_is_not_counted(jobs: JobMaker):
    job = jobs.start(NOBODY, n=1)
    (call,) = ledger.claim(job, uuid.uuid4(), size=1)
    outcome = Outcome(call, Call.Status.OK, {"values": {"answer": "yes"}, "text": "A"})
    assert ledger.settle(job, uuid.uuid4(), [outcome], Used(requests=1, prompt_tokens=5)) == 0
    job.refresh_from_db()
    assert (job.n_ok, job.requests, job.prompt_tokens) == (0, 1, 5)  # it was asked and paid all the same


def test_several_endpoints_make_a_series_of_jobs(jobs: JobMaker):
    first = jobs.plan(jobs.endpoint(NOBODY, name="one"), n=2)
    planned = plan_series(
        project=jobs.project,
        name="Both",
        endpoints=[jobs.endpoint(NOBODY, name=name) for name in ("two", "three")],
        prompts=first.prompt_list,
        kind=Job.Kind.JUDGE,
        dataset=first.dataset,
        instrument=first.instrument,
        personas=[{}],
    )
    assert [job.name for job in planned] == ["Both (two)", "Both (three)"]
    assert len({job.series for job in planned}) == 1 != len({first.series, planned[0].series})


def test_who_started_paused_and_stopped_a_job_is_on_record(jobs: JobMaker, owner):
    job = jobs.plan(NOBODY, n=2)
    assert start_job(job=job, by=owner)
    assert not start_job(job=job, by=owner)
    assert AuditEvent.objects.filter(action="job started", user=owner).count() == 1


def test_a_pilot_that_was_interrupted_goes_on_as_a_pilot(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.plan(server, n=60)
        start_job(job=job, pilot=20)
        shard = uuid.uuid4()
        for call in ledger.claim(job, shard, size=5):
            ledger.settle(job, shard, [Outcome(call, Call.Status.OK, {"values": {"answer": "yes"}, "text": "A"})])
        assert pause_job(job=job)
        assert resume_job(job=job)
        run_here(job)
        assert (job.status, job.n_ok, server.requests) == ("paused", 20, 15)
        assert resume_job(job=job)
        run_here(job)
        assert (job.status, job.n_ok) == ("done", 60)
