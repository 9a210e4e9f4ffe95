"""Jobs by the Batch API, against the scripted server's."""

import json

import pytest

from llm.batches import steps
from llm.models import Batch, Job
from llm.services import pause_job, resume_job, retry_failed, stop_job
from responses.models import Response
from tests.llm.jobs import JobMaker, counts, in_thread
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db
BATCH = {"capabilities": {"batch": True, "supports_seed": True}}


@pytest.fixture(autouse=True)
def short_lease(settings):
    settings.MODEL_LEASE_SECONDS = 0


def plan(jobs: JobMaker, server, **fields):
    endpoint = fields.pop("endpoint", {})
    return jobs.plan(jobs.endpoint(server, **BATCH | endpoint), way=Job.Way.BATCH, **fields)


def start(jobs: JobMaker, server, **fields) -> Job:
    return jobs.start(jobs.endpoint(server, **BATCH | fields.pop("endpoint", {})), way=Job.Way.BATCH, **fields)


def step(job: Job, times: int = 1) -> Job:
    for _ in range(times):
        assert steps.step(job.pk)
    job.refresh_from_db()
    return job


def until_over(job: Job, most: int = 60) -> Job:
    for _ in range(most):
        if step(job).status != Job.Status.RUNNING:
            return job
    pytest.fail(f"the job is still running: {job.status_reason} {list(job.batches.values())}")


def statuses(job: Job) -> list[str]:
    return [batch.status for batch in job.batches.all()]


def test_a_job_goes_as_one_batch_at_half_the_price(jobs: JobMaker):
    prices = {"price_per_million_in": 10, "price_per_million_out": 20}
    with ScriptedModelServer() as server:
        job = until_over(start(jobs, server, n=30, endpoint=prices))
        assert (job.status, job.n_ok, job.requests) == (Job.Status.DONE, 30, 30)
        assert (server.requests, len(server.batches.bodies)) == (0, 30)
        assert server.batches.files == {}
    batch = job.batches.get()
    assert (batch.status, batch.n_requests, batch.n_completed, batch.n_failed) == ("collected", 30, 30, 0)
    assert (batch.files, batch.problem, batch.files_problem) == ({}, "", "")
    assert counts(job) == {"ok": 30}
    assert Response.objects.count() == 30
    assert job.price == job.endpoint.price(job.prompt_tokens, job.completion_tokens) / 2
    assert job.prompt_tokens > 0
    call = job.calls.first()
    assert (call.attempts, call.latency_seconds, call.values["answer"] in ("yes", "no")) == (1, None, True)
    assert call.messages[-1]["content"] in {body["messages"][-1]["content"] for body in server.batches.bodies}


def test_it_asks_exactly_what_a_live_job_asks(jobs: JobMaker, settings):
    settings.MODEL_LEASE_SECONDS = 60

    def by_text(bodies):
        return {json.dumps(body, sort_keys=True) for body in bodies}

    with ScriptedModelServer() as server:
        jobs.run(jobs.endpoint(server), n=10, temperature=0.5)
        until_over(start(jobs, server, n=10, temperature=0.5))
        assert len(by_text(server.bodies)) == 10
        assert by_text(server.bodies) == by_text(server.batches.bodies)


def test_files_are_no_larger_than_the_server_takes(jobs: JobMaker, settings):
    settings.MODEL_BATCH_REQUESTS, settings.MODEL_BATCHES_AT_ONCE = 10, 2
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=45))
        assert [batch.n_requests for batch in job.batches.all()] == [10, 10]
        assert counts(job) == {"claimed": 20, "pending": 25}
        until_over(job)
        assert [batch.n_requests for batch in job.batches.all()] == [10, 10, 10, 10, 5]
        assert len(server.batches.bodies) == 45
    assert counts(job) == {"ok": 45}


def test_bytes_bound_a_file_too(jobs: JobMaker, settings):
    settings.MODEL_BATCH_BYTES = 4000
    with ScriptedModelServer() as server:
        job = start(jobs, server, n=20)
        step(job)
        sizes = [len(file.content) for file in server.batches.files.values()]
        assert len(sizes) == 3
        assert all(3000 < size <= 4000 for size in sizes)
        until_over(job)
        settings.MODEL_BATCH_BYTES = 300
        tight = until_over(start(jobs, server, n=20, slug="other", temperature=0.5))
    assert counts(job) == {"ok": 20}
    assert counts(tight) == {"error": 20}
    assert tight.calls.first().problem.endswith("and a batch takes 300.")


def test_equal_requests_are_asked_once_over_all_batches_under_way(jobs: JobMaker, settings):
    settings.MODEL_BATCH_REQUESTS = 3
    with ScriptedModelServer() as server:
        job = until_over(start(jobs, server, n=6, user="Is this usual? {{ answer_format }}", option_orders="written"))
        assert len(server.batches.bodies) == 1
    assert counts(job) == {"ok": 6}
    assert job.n_reused == 5
    assert job.requests == 1


def test_more_equal_requests_than_a_batch_holds_are_left_to_the_one_that_asks(jobs: JobMaker, settings):
    settings.MODEL_BATCH_REQUESTS, settings.MODEL_BATCHES_AT_ONCE = 2, 9
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=7, user="Is this usual? {{ answer_format }}", option_orders="written"))
        step(job)
        step(job)
        assert (counts(job), job.batches.count()) == ({"claimed": 7}, 1)
        until_over(job)
        assert len(server.batches.bodies) == 1
    assert (counts(job), job.n_reused) == ({"ok": 7}, 6)


@pytest.mark.django_db(transaction=True)  # the live job settles in a thread of its own
def test_answers_of_an_earlier_live_job_are_reused(jobs: JobMaker, settings):
    settings.MODEL_LEASE_SECONDS = 60
    with ScriptedModelServer() as server:
        endpoint = jobs.endpoint(server, **BATCH)
        jobs.run(endpoint, n=5)
        job = until_over(jobs.start(endpoint, n=5, way=Job.Way.BATCH))
        assert server.batches.requests == 0
    assert (job.n_ok, job.n_reused, job.batches.count()) == (5, 5, 0)


def test_unreadable_answers_are_asked_again_with_what_was_wrong(jobs: JobMaker):
    script = Script(behaviours=["unparseable", "error_500", "unparseable", "cut"], honours_schema=False)
    with ScriptedModelServer(script) as server:
        job = until_over(start(jobs, server, n=8, max_parse_attempts=2))
        asked = server.batches.bodies
        again = [body for body in asked if "could not be read" in body["messages"][-1]["content"]]
    assert counts(job) == {"ok": 8}
    assert (len(asked), len(again), job.requests) == (12, 2, 12)
    assert [batch.n_requests for batch in job.batches.all()] == [8, 4]
    assert sorted(job.calls.values_list("attempts", flat=True)) == [1] * 4 + [2] * 4


def test_tries_are_bounded_each_by_its_own_limit(jobs: JobMaker):
    behaviours = ["error_500", "unparseable", "error_503", "unparseable"]
    with ScriptedModelServer(Script(behaviours=[*behaviours, "ok"])) as server:
        job = start(jobs, server, n=1, max_parse_attempts=2, max_attempts=3)
        for _ in range(30):
            Job.objects.filter(pk=job.pk).update(held_until=None)
            if step(job).status == Job.Status.DONE:
                break
    assert counts(job) == {"unparsed": 1}
    call = job.calls.get()
    assert (call.attempts, job.requests) == (4, 4)
    assert call.prompt_tokens == job.prompt_tokens > 0


def test_truncated_refused_and_faulty_replies_are_what_they_are_live(jobs: JobMaker):
    behaviours = ["length", "content_filter", "refusal", "error_400", "content_filter_400", "think"]
    with ScriptedModelServer(Script(behaviours=behaviours)) as server:
        job = until_over(start(jobs, server, n=8))
    found = counts(job)
    assert found["truncated"] == 1
    assert found["refused"] >= 2
    assert found["error"] == 1
    assert sum(found.values()) == 8
    assert "scripted error_400" in job.calls.get(status="error").problem


def test_what_expired_is_asked_again_and_what_was_answered_is_not(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_expires_after=12)) as server:
        job = until_over(start(jobs, server, n=30))
        assert [batch.n_requests for batch in job.batches.all()] == [30, 18, 6]
        assert len(server.batches.bodies) == 30
    assert counts(job) == {"ok": 30}
    assert set(job.calls.values_list("attempts", flat=True)) == {1}


def test_lost_lines_are_asked_again(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_loses=2)) as server:
        job = start(jobs, server, n=10)
        step(job, 5)
        assert counts(job)["ok"] == 8
        assert job.batches.count() == 2
        job = until_over(job)
        assert job.status == Job.Status.PAUSED  # the last two are lost each time
    assert "before anything in it was answered" in job.status_reason
    assert counts(job) == {"ok": 8, "pending": 2}


def test_a_batch_that_is_refused_pauses_the_job_with_the_servers_words(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_fails=True)) as server:
        job = until_over(start(jobs, server, n=5))
        assert server.batches.files == {}
    assert job.status == Job.Status.PAUSED
    assert "Enqueued token limit reached" in job.status_reason
    assert counts(job) == {"pending": 5}
    batch = job.batches.get()
    assert (batch.status, "Enqueued token limit reached" in batch.problem) == ("failed", True)


def test_a_full_queue_at_the_server_is_waited_for(jobs: JobMaker, settings):
    settings.MODEL_BATCH_REQUESTS = 5
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=10))
        full = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}
        server.batches.batches["batch_2"].errors.append(full)
        step(job)
        assert (job.status, job.held_until is None) == (Job.Status.RUNNING, False)
        assert "no room for another batch: Enqueued token limit reached." in job.status_reason
        assert counts(job) == {"claimed": 5, "pending": 5}
        until_over(job)
        assert len(server.batches.bodies) == 10
    assert (job.status, job.status_reason, counts(job)) == (Job.Status.DONE, "", {"ok": 10})


@pytest.mark.parametrize(
    ("behaviour", "words"), [("error_404", "scripted error_404"), ("huge", "longer than"), ("redirect", "307")]
)
def test_results_that_never_come_strand_no_calls(jobs: JobMaker, monkeypatch, behaviour, words):
    monkeypatch.setattr("llm.batches.api.MAX_RESULT_BYTES", 2**20)
    with ScriptedModelServer(Script(batch_polls=1, batch_behaviours=["ok"] * 3 + [behaviour])) as server:
        job = until_over(start(jobs, server, n=5))
        assert server.batches.files == {}
    assert (job.status, counts(job)) == (Job.Status.PAUSED, {"pending": 5})
    assert "what a batch brought cannot be read" in job.status_reason
    assert words in job.status_reason
    assert statuses(job) == ["failed"]


def test_a_fault_of_all_requests_is_not_written_into_every_call(jobs: JobMaker):
    with ScriptedModelServer(Script(rejects=["max_tokens"])) as server:
        job = until_over(start(jobs, server, n=12))
    assert job.status == Job.Status.PAUSED
    assert "every request of a batch ended like this: The server answered 400" in job.status_reason
    assert counts(job) == {"pending": 12}
    assert job.n_error == 0


def test_a_pause_sends_nothing_more_and_collects_what_was_sent(jobs: JobMaker, settings):
    settings.MODEL_BATCH_REQUESTS, settings.MODEL_BATCHES_AT_ONCE = 10, 1
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=30))
        pause_job(job=job)
        step(job, 6)
        assert counts(job) == {"ok": 10, "pending": 20}
        assert (job.status, len(server.batches.batches)) == (Job.Status.PAUSED, 1)
        assert job not in steps.jobs_to_step()
        resume_job(job=job)
        until_over(job)
    assert (job.status, counts(job)) == (Job.Status.DONE, {"ok": 30})


def test_a_stop_cancels_at_the_server_and_keeps_what_was_answered(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_polls=4)) as server:
        job = step(start(jobs, server, n=40), 3)
        stop_job(job=job, reason="Enough.")
        step(job, 4)
        asked = len(server.batches.bodies)
        assert 0 < asked < 40
        assert server.batches.files == {}
        assert counts(job) == {"ok": asked, "pending": 40 - asked}
        assert job.status == Job.Status.STOPPED
        assert job not in steps.jobs_to_step()
        resume_job(job=job)
        until_over(job)
        assert len(server.batches.bodies) == 40
    assert counts(job) == {"ok": 40}


def test_a_batch_cancelled_by_somebody_else_pauses_the_job(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=5))
        server.batches.batches["batch_1"].become("cancelling")
        until_over(job)
    assert (job.status, counts(job)) == (Job.Status.PAUSED, {"pending": 5})
    assert '"cancelled" before anything' in job.status_reason


def test_a_budget_holds_and_can_be_raised(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = until_over(start(jobs, server, n=30, budget_calls=12))
        assert len(server.batches.bodies) == 12
        assert "budget" in job.status_reason
        Job.objects.filter(pk=job.pk).update(budget_calls=None)
        resume_job(job=job)
        until_over(job)
    assert (job.status, counts(job)) == (Job.Status.DONE, {"ok": 30})


def test_a_pilot_goes_as_a_batch(jobs: JobMaker):
    from llm.services import start_job

    with ScriptedModelServer() as server:
        job = plan(jobs, server, n=30)
        start_job(job=job, pilot=4)
        until_over(job)
        assert (job.status, counts(job)) == (Job.Status.PAUSED, {"ok": 4})
        resume_job(job=job)
        until_over(job)
        assert len(server.batches.bodies) == 30
    assert counts(job) == {"ok": 30}


def test_failed_calls_can_be_asked_again(jobs: JobMaker):
    with ScriptedModelServer(Script(behaviours=["length", "unparseable"])) as server:
        job = until_over(start(jobs, server, n=4, max_parse_attempts=1))
        assert counts(job) == {"ok": 2, "truncated": 1, "unparsed": 1}
        retry_failed(job=job)
        until_over(job)
    assert counts(job) == {"ok": 4}


@pytest.mark.parametrize(("behaviour", "status"), [("unparseable", "unparsed"), ("error_500", "error")])
def test_calls_asked_again_have_all_their_tries_again(jobs: JobMaker, behaviour, status):
    with ScriptedModelServer(Script(behaviours=[behaviour] * 3)) as server:
        job = start(jobs, server, n=1, max_parse_attempts=2, max_attempts=2)
        for wanted in (status, "ok"):
            while not job.calls.filter(status=wanted):
                Job.objects.filter(pk=job.pk).update(held_until=None)
                step(job)
                assert job.requests <= 4
            retry_failed(job=job)
    assert (job.calls.get().attempts, job.requests) == (4, 4)


@pytest.mark.parametrize("behaviour", ["error_500", "error_429", "cut", "invalid_json"])
@pytest.mark.parametrize("request_number", range(5))
def test_a_faltering_batch_api_costs_time_and_nothing_else(jobs: JobMaker, behaviour, request_number):
    script = Script(batch_behaviours=["ok"] * request_number + [behaviour])
    with ScriptedModelServer(script) as server:
        job = start(jobs, server, n=6)
        for _ in range(12):
            step(job)
            Job.objects.filter(pk=job.pk).update(held_until=None)
        assert (job.status, counts(job)) == (Job.Status.DONE, {"ok": 6}), job.status_reason
        assert len(server.batches.bodies) == 6
        assert server.batches.files == {} or behaviour != "error_500"
    assert Response.objects.count() == 6


def test_a_faltering_server_holds_the_job_and_says_so(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_behaviours=["error_500"])) as server:
        job = step(start(jobs, server, n=5))
        assert job.status == Job.Status.RUNNING
        assert "The Batch API of the endpoint is not working: The server answered 500" in job.status_reason
        assert job.held_until is not None
        requests = server.batches.requests
        step(job)
        assert server.batches.requests == requests
        assert job not in steps.jobs_to_step()
    assert (counts(job), job.batches.count()) == ({"pending": 5}, 0)


def test_a_wrong_key_pauses_the_job(jobs: JobMaker):
    with ScriptedModelServer(Script(api_key="sk-right-key")) as server:
        job = step(start(jobs, server, n=5, endpoint={"key": "sk-wrong-key-1"}))
    assert job.status == Job.Status.PAUSED
    assert "Incorrect API key" in job.status_reason
    assert "sk-wrong-key-1" not in job.status_reason
    assert counts(job) == {"pending": 5}


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_a_job_once(jobs: JobMaker, settings):
    import threading

    settings.MODEL_BATCH_REQUESTS = 10
    with ScriptedModelServer() as server:
        job = start(jobs, server, n=40)
        stepped: list[bool] = []
        work = in_thread(lambda: stepped.append(steps.step(job.pk)))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert True in stepped
        assert len(server.batches.batches) == 4
        until_over(job)
        assert len(server.batches.bodies) == 40
    assert counts(job) == {"ok": 40}


def test_the_server_lost_the_batch(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = step(start(jobs, server, n=5))
        server.batches.batches.clear()
        step(job)
    assert job.status == Job.Status.PAUSED
    assert "No such Batch" in job.status_reason
    assert (counts(job), statuses(job)) == ({"pending": 5}, [Batch.Status.FAILED])


def test_a_file_that_cannot_be_deleted_is_noted(jobs: JobMaker):
    with ScriptedModelServer(Script(batch_polls=1, batch_behaviours=["ok"] * 4 + ["error_403", "error_500"])) as server:
        job = until_over(start(jobs, server, n=3))
        assert len(server.batches.files) == 2
    batch = job.batches.get()
    assert (batch.status, len(batch.files)) == ("collected", 2)
    assert batch.files_problem.startswith("Its ")
    assert job not in steps.jobs_to_step()


def test_the_jobs_page_shows_how_far_the_server_is(jobs: JobMaker, client_as, researcher):
    with ScriptedModelServer(Script(batch_polls=4, batch_behaviours=["ok"] * 7 + ["error_403"])) as server:
        job = step(start(jobs, server, n=20), 3)
        url = f"/p/{job.project.slug}/models/jobs/{job.pk}/"
        page = client_as(researcher).get(url).content.decode()
        assert "Under way" in page
        assert "<code>batch_1</code>, in_progress" in page
        assert '<td class="number">20</td>' in page
        assert "up to 24 hours" in page
        until_over(job)
    page = client_as(researcher).get(url).content.decode()
    assert "Collected" in page
    assert "file is still at the server: The server answered 403" in page
    assert "up to 24 hours" not in page
