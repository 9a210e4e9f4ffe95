"""Jobs against a real server over HTTP and the real database: every call ends in its true state, answers count once."""

import json
from collections import Counter

import pytest

from llm.models import Endpoint, Job
from llm.planning.costs import make_plan
from llm.running.asking import CONTROL_QUESTION
from llm.services import JobError, pause_job, resume_job, retry_failed, start_job, stop_job
from llm.tasks import run_shard, sweep
from responses.models import Respondent, Response
from tests.llm.jobs import CHOICE, JobMaker, counts, run_here
from tests.model_server import MODEL, Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
ALWAYS_A = Script(answer=lambda body: '{"answer": "A"}')


def standing(job: Job) -> list[Response]:
    return list(Response.objects.filter(source_kind="call", source_id__in=job.calls.values("pk")))


def test_a_job_with_every_fault_ends_in_true_states_and_stores_each_answer_once(jobs: JobMaker):
    faults = {
        "rate_limited": 0.03,
        "error_429": 0.03,
        "error_500": 0.05,
        "html_502": 0.02,
        "html_200": 0.02,
        "cut": 0.03,
        "cut_headers": 0.02,
        "invalid_json": 0.02,
        "empty_200": 0.02,
        "hang": 0.01,
        "refusal": 0.04,
        "length": 0.04,
        "unparseable": 0.15,
    }
    with ScriptedModelServer(Script(probabilities=faults, seed=3)) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=32, timeout_seconds=5), n=300)
    assert job.status == Job.Status.DONE
    found = counts(job)
    assert set(found) == {"ok", "refused", "truncated", "unparsed"}
    assert sum(found.values()) == 300
    assert found["refused"] == server.behaved["refusal"]
    assert found["truncated"] == server.behaved["length"]
    assert found["ok"] == len(standing(job)) == Response.objects.count()
    assert {call.pk for call in job.calls.filter(status="ok")} == {answer.source_id for answer in standing(job)}
    # Nothing is asked more often than the faults make necessary; a 429 is no try that is used up. Where as many faults
    # as open the circuit come in a row, which chance decides, one trivial question besides finds the server up.
    asked = [body for body in server.bodies if body["messages"] != CONTROL_QUESTION]
    assert sum(job.calls.values_list("attempts", flat=True)) == len(asked)
    for call in job.calls.exclude(status="ok"):
        assert call.problem
        assert call.values is None


def test_an_unreadable_answer_is_asked_again_with_what_was_wrong(jobs: JobMaker):
    with ScriptedModelServer(Script(behaviours=["unparseable"])) as server:
        job = jobs.run(server, n=1)
    first, second = server.bodies
    assert counts(job) == {"ok": 1}
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert second["messages"][-2]["content"] == "Both have their merits, it depends."
    assert "answer: the reply names none of A, B" in second["messages"][-1]["content"]
    assert job.calls.get().attempts == 2


def test_an_answer_that_stays_unreadable_is_recorded_as_unparsed_and_is_no_answer(jobs: JobMaker):
    with ScriptedModelServer(Script(probabilities={"unparseable": 1})) as server:
        job = jobs.run(server, n=2, max_parse_attempts=3)
        assert counts(job) == {"unparsed": 2}
        assert server.requests == 6
    call = job.calls.first()
    assert call.text == "Both have their merits, it depends."
    assert "names none" in call.problem
    assert not Response.objects.exists()


def test_faults_of_a_single_call_are_errors_and_the_rest_goes_on(jobs: JobMaker):
    """A text that the server always fails on must not pass for an endpoint that is down."""

    def is_poison(body):
        return "Scenario 1\n" in body["messages"][-1]["content"]

    class Poisoned(ScriptedModelServer):
        def _behaviour(self, body):
            return "error_500" if is_poison(body) else "ok"

    with Poisoned() as server:
        job = jobs.run(jobs.endpoint(server, concurrency=1), n=3, max_attempts=3)
    assert job.status == Job.Status.DONE
    assert counts(job) == {"ok": 2, "error": 1}
    call = job.calls.get(status="error")
    assert "500" in call.problem
    assert call.attempts == 3


def test_a_prompt_that_an_item_does_not_fit_is_an_error_of_that_call(jobs: JobMaker):
    with ScriptedModelServer() as server:
        user = "{{ item.text }}{% if item.text == 'Scenario 11' %}{{ item.title }}{% endif %}"
        job = jobs.run(server, n=12, user=user)  # the first ones are tried before the job starts
    assert counts(job) == {"ok": 11, "error": 1}
    assert 'there is no "title"' in job.calls.get(status="error").problem


@pytest.mark.parametrize("behaviour", ["error_401", "error_402", "error_403", "error_404", "error_400", "quota"])
def test_a_fault_that_every_call_would_meet_pauses_the_job_and_gives_the_calls_back(jobs: JobMaker, behaviour: str):
    with ScriptedModelServer(Script(probabilities={behaviour: 1})) as server:
        job = jobs.run(server, n=50)
        assert job.status == Job.Status.PAUSED
        assert "every call would end like this: The server answered 4" in job.status_reason
        assert counts(job) == {"pending": 50}
        assert server.requests <= 9  # those in flight, and one control question


def test_a_paused_job_goes_on_when_the_endpoint_is_mended(jobs: JobMaker):
    with ScriptedModelServer(Script(api_key="right")) as server:
        endpoint = jobs.endpoint(server, key="wrong-key-123")
        job = jobs.run(endpoint, n=3)
        assert "Incorrect API key" in job.status_reason
        assert "wrong-key-123" not in job.status_reason
        jobs.endpoint(server, endpoint=endpoint, name=endpoint.name, key="right")
        assert resume_job(job=job)
        run_here(job)
    assert (job.status, job.status_reason, counts(job)) == ("done", "", {"ok": 3})


def test_one_call_that_is_refused_for_its_own_sake_does_not_pause_the_job(jobs: JobMaker):
    with ScriptedModelServer(Script(behaviours=["error_403"])) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=1), n=3)
    assert job.status == Job.Status.DONE
    assert counts(job) == {"error": 1, "ok": 2}


def test_an_endpoint_that_is_down_is_named_and_the_job_carries_on_later_by_itself(jobs: JobMaker):
    with ScriptedModelServer() as server:
        port = server.port
    job = jobs.run(f"http://127.0.0.1:{port}/v1", n=12)
    assert job.status == Job.Status.RUNNING
    assert job.status_reason.startswith(f"The endpoint is not working: No connection to http://127.0.0.1:{port}/v1")
    assert counts(job) == {"pending": 12}
    assert sweep() == 0  # not before the wait is over
    first_wait = job.held_until
    Job.objects.update(held_until="2026-01-01T00:00Z")
    assert [sweep(), sweep()] == [1, 0]  # a job that waits for a free worker is asked for once
    run_here(job)
    assert job.holds == 2
    assert job.held_until > first_wait
    with ScriptedModelServer(port=port):
        Job.objects.update(held_until="2026-01-01T00:00Z")
        run_here(job)
    assert (job.status, job.status_reason, counts(job)) == ("done", "", {"ok": 12})


def test_equal_requests_at_temperature_zero_are_asked_once(jobs: JobMaker):
    with ScriptedModelServer() as server, ScriptedModelServer() as other:
        endpoint = jobs.endpoint(server)
        first = jobs.run(endpoint, n=6)
        assert server.requests == 6
        again = jobs.run(endpoint, n=6)
        assert server.requests == 6
        assert counts(again) == {"ok": 6}
        for call in again.calls.select_related("reused_from"):
            assert call.reused_from.job_id == first.pk
            assert (call.values, call.attempts) == (call.reused_from.values, 0)
        elsewhere = jobs.run(jobs.endpoint(other), n=6)  # the same model name on another server is another model
        assert other.requests == 6
        assert not elsewhere.calls.exclude(reused_from=None).exists()
        warm = jobs.run(endpoint, n=6, temperature=1)
        assert server.requests == 12
        assert not warm.calls.exclude(reused_from=None).exists()


def test_equal_requests_within_a_job_are_asked_once_however_close_they_are(jobs: JobMaker):
    with ScriptedModelServer(Script(latency_seconds=0.05)) as server:
        job = jobs.run(server, n=6, user="{{ answer_format }}")
    assert server.requests == 1
    assert counts(job) == {"ok": 6}
    assert job.calls.exclude(reused_from=None).count() == 5


def test_unreadable_answers_are_not_reused(jobs: JobMaker):
    with ScriptedModelServer(Script(behaviours=["unparseable", "unparseable", "refusal", "length"])) as server:
        endpoint = jobs.endpoint(server, concurrency=1)
        jobs.run(endpoint, n=3)
        assert counts(jobs.run(endpoint, n=3)) == {"ok": 3}
        assert server.requests == 7


def test_letters_become_codes_under_both_orders(jobs: JobMaker):
    question = CHOICE | {"randomise": True}
    with ScriptedModelServer(ALWAYS_A) as server:
        job = jobs.run(server, n=40, questions=[question])
    orders = Counter("|".join(call.orders["answer"]) for call in job.calls.all())
    assert set(orders) == {"yes|no", "no|yes"}
    for answer in Response.objects.select_related("condition"):
        assert answer.value == answer.condition.factors["option_order"].split("|")[0]
    for body in server.bodies:
        assert ("A. Yes\nB. No" in body["messages"][-1]["content"]) != (
            "A. No\nB. Yes" in body["messages"][-1]["content"]
        )


def test_who_answered_and_under_which_condition(jobs: JobMaker):
    personas = [{}, {"country": "Japan", "age_group": "older", "gender": "female"}]
    with ScriptedModelServer() as server:
        endpoint = jobs.endpoint(server, name="tiny", demo_model=True)
        jobs.run(endpoint, n=2, personas=personas, samples=2)
    assert Response.objects.count() == 8
    alone, japan = Respondent.objects.filter(kind="model").order_by("id")
    assert alone.key == f"model:{endpoint.pk}:none"
    assert alone.attributes == {"model": MODEL, "endpoint": "tiny", "persona": False}
    assert japan.attributes == {"model": MODEL, "endpoint": "tiny", "persona": True} | personas[1]
    assert alone.demo_model
    assert japan.demo_model
    factors = Response.objects.first().condition.factors
    assert factors == {"prompt": "ask v1", "temperature": 0, "top_p": 1}
    texts = [json.dumps(body["messages"]) for body in server.bodies]
    assert sum("You are from Japan." in text for text in texts) == 4


def test_more_samples_in_a_second_job_are_more_answers(jobs: JobMaker):
    with ScriptedModelServer() as server:
        endpoint = jobs.endpoint(server)
        jobs.run(endpoint, n=2, temperature=1, seed=1)
        jobs.run(endpoint, n=2, temperature=1, seed=2)
    assert Response.objects.count() == 4


def test_a_job_asks_only_the_questions_named(jobs: JobMaker):
    questions = [CHOICE, CHOICE | {"code": "other", "text": "And elsewhere?"}]
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=2, questions=questions, question_codes=["other"])
    assert [call.values.keys() for call in job.calls.all()] == [{"other"}, {"other"}]
    assert "Is this usual?" not in server.bodies[0]["messages"][-1]["content"]


def test_pause_stop_and_resume(jobs: JobMaker):
    with ScriptedModelServer() as server:
        planned = jobs.plan(server, n=2)
        assert not stop_job(job=planned, reason="no")  # resuming it would run a job without calls
        job = jobs.start(server, n=4)
        assert pause_job(job=job)
        run_here(job)
        assert (job.status, server.requests) == ("paused", 0)
        assert stop_job(job=job, reason="Stopped by ada.")
        assert not pause_job(job=job)
        assert resume_job(job=job)
        assert not resume_job(job=job)
        run_here(job)
    assert (job.status, counts(job)) == ("done", {"ok": 4})


def test_failed_calls_can_be_asked_again_and_answers_are_kept(jobs: JobMaker):
    with ScriptedModelServer(Script(behaviours=["refusal", "length"])) as server:
        job = jobs.run(jobs.endpoint(server, concurrency=1), n=3)
        assert counts(job) == {"refused": 1, "truncated": 1, "ok": 1}
        kept = job.calls.get(status="ok").finished_at
        assert retry_failed(job=job) == 2
        assert not job.calls.exclude(problem="").exists()
        run_here(job)
        assert retry_failed(job=job) == 0
    assert (job.status, counts(job)) == ("done", {"ok": 3})
    assert job.calls.filter(finished_at=kept).exists()
    assert len(standing(job)) == 3


def test_starting_twice_writes_one_ledger(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.start(server, n=3)
        start_job(job=job)
        run_shard(job.pk)
    assert counts(job) == {"ok": 3}


def test_plans_that_make_no_sense_are_refused(jobs: JobMaker):
    with pytest.raises(JobError, match="has no items"):
        jobs.plan("http://127.0.0.1:9/v1", n=0)
    with pytest.raises(JobError, match="listed twice"):
        jobs.plan("http://127.0.0.1:9/v1", personas=[{}, {}], slug="b")


def test_a_plan_counts_and_prices_before_anything_is_asked(jobs: JobMaker):
    endpoint = jobs.endpoint(
        "http://127.0.0.1:9/v1", price_per_million_in=1, price_per_million_out=2, requests_per_minute=60
    )
    job = jobs.plan(endpoint, n=10, personas=[{}, {"country": "Chile"}], samples=3, max_items=4, max_tokens=100)
    plan = make_plan(job)
    assert (plan.items, plan.calls, plan.seconds) == (4, 24, 24)
    assert 24 * 30 < plan.prompt_tokens < 24 * 90
    assert 0 < plan.completion_tokens <= plan.most_completion_tokens == 2400
    assert float(plan.price) == pytest.approx((plan.prompt_tokens + 2 * plan.completion_tokens) / 1e6)
    assert float(plan.highest_price) == pytest.approx((plan.prompt_tokens + 4800) / 1e6)
    assert [example.cell.persona for example in plan.examples] == [{}, {"country": "Chile"}]
    assert plan.examples[1].messages[0] == {"role": "system", "content": "You are from Chile."}
    assert not job.calls.exists()


def test_a_model_that_takes_no_temperature_is_asked_each_time(jobs: JobMaker):
    with ScriptedModelServer(Script(answer=lambda body: '{"answer": "A"}')) as server:
        endpoint = jobs.endpoint(server)
        Endpoint.objects.filter(pk=endpoint.pk).update(capabilities={"supports_temperature": False})
        endpoint.refresh_from_db()
        job = jobs.run(endpoint, n=4, user="Always the same. {{ answer_format }}")
        assert (job.n_ok, job.n_reused, server.requests) == (4, 0, 4)
        assert not any("temperature" in body for body in server.bodies)
