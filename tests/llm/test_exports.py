"""What comes out of a job as text, and results that come in from elsewhere."""

import csv
import io
import json
import tracemalloc
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from llm.files import exports
from llm.files.exports import LedgerError, export_job
from llm.files.results_import import ResultsRefusedError, import_results, write_requests
from llm.models import Call, Job
from llm.running import ledger
from llm.services import pause_job, start_job
from projects.models import AuditEvent
from responses.models import Response
from tests.llm.jobs import CHOICE, JobMaker, counts, run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
NOBODY = "http://127.0.0.1:9/v1"
SHUFFLED = CHOICE | {"randomise": True}


def lines(job: Job, what: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export_job(job=job, what=what)]


def table(job: Job) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(export_job(job=job, what="probabilities")), newline="")))


def answered(request: dict[str, Any], content: str = '{"answer": "A"}', **message: Any) -> dict[str, Any]:
    """The line with which a server answers the request in a batch."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
    body = {"choices": [choice], "usage": {"prompt_tokens": 30, "completion_tokens": 4}}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "x", "custom_id": request["custom_id"], "response": response, "error": None}


def refused(request: dict[str, Any], code: int) -> dict[str, Any]:
    response = {"status_code": code, "request_id": "r", "body": {"error": {"message": "No."}}}
    return {"id": "x", "custom_id": request["custom_id"], "response": response, "error": None}


def as_file(entries: list[Any]) -> io.BytesIO:
    return io.BytesIO(b"".join((e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n" for e in entries))


def written(jobs: JobMaker, **fields: Any) -> Job:
    """A planned job, whose requests are written for asking elsewhere."""
    job = jobs.plan(NOBODY, **fields)
    write_requests(job=job)
    return job


class TestOut:
    def test_a_call_says_everything_about_it(self, jobs: JobMaker):
        with ScriptedModelServer(Script(behaviours=["reasoning_content", "refusal"])) as server:
            endpoint = jobs.endpoint(server, concurrency=1)
            factor = {"name": "tone", "levels": [{"name": "kind", "value": "Be kind."}]}
            job = jobs.run(endpoint, n=2, personas=[{"country": "Peru"}], factors=[factor], questions=[SHUFFLED])
        first, second = lines(job, "calls")
        stored = Call.objects.get(pk=first["call"])
        assert first["custom_id"] == f"call-{stored.pk}"
        assert (first["item"], first["persona"], first["status"]) == ("scenarios-2-0", {"country": "Peru"}, "ok")
        assert (first["prompt"], first["condition"]["tone"], first["demo_model"]) == ("ask v1", "kind", False)
        assert first["orders"] == stored.orders
        assert sorted(first["orders"]["answer"]) == ["no", "yes"]
        assert first["messages"][0] == {"role": "system", "content": "You are from Peru."}
        assert (first["text"], first["reasoning"], first["values"]) == (stored.text, stored.reasoning, stored.values)
        assert first["reasoning"]
        assert (first["parse_mode"], first["attempts"], first["reused_from"]) == ("json", 1, None)
        assert first["latency_seconds"] > 0
        assert (second["status"], second["values"]) == ("refused", None)
        assert second["problem"].startswith("The model refused")
        assert AuditEvent.objects.filter(action="job exported").count() == 1

    def test_reused_answers_and_the_demo_model_are_marked(self, jobs: JobMaker):
        with ScriptedModelServer() as server:
            endpoint = jobs.endpoint(server, demo_model=True)
            jobs.run(endpoint, n=1)
            again = jobs.run(endpoint, n=1)
        (call,) = lines(again, "calls")
        assert (call["demo_model"], call["reused_from"]) == (True, Call.objects.earliest("pk").pk)
        (result,) = lines(again, "results")
        assert result["response"]["body"]["choices"]

    def test_requests_are_what_would_be_asked(self, jobs: JobMaker):
        with ScriptedModelServer() as server:
            job = jobs.plan(server, n=3, samples=2, temperature=0.5)
            write_requests(job=job)
            requests = lines(job, "requests")
            assert Job.objects.get().status == Job.Status.PAUSED
            assert [(r["method"], r["url"]) for r in requests] == [("POST", "/v1/chat/completions")] * 6
            assert len({r["custom_id"] for r in requests}) == 6
            Job.objects.update(status=Job.Status.RUNNING)
            run_here(job)
            asked = sorted(json.dumps(body, sort_keys=True) for body in server.bodies)
        assert sorted(json.dumps(r["body"], sort_keys=True) for r in requests) == asked
        assert lines(job, "requests") == []
        assert [r["custom_id"] for r in lines(job, "all-requests")] == [r["custom_id"] for r in requests]

    def test_requests_wait_for_the_whole_ledger(self, jobs: JobMaker):
        job = jobs.plan(NOBODY, n=5)
        with pytest.raises(LedgerError, match="not all written"):
            export_job(job=job, what="requests")
        start_job(job=job, pilot=2)
        pause_job(job=job)
        write_requests(job=job)
        assert len(lines(job, "requests")) == 5
        assert (job.status, job.planned_calls) == ("paused", 5)

    def test_a_running_job_goes_on_as_it_was(self, jobs: JobMaker):
        job = jobs.start(NOBODY, n=3)
        write_requests(job=job)
        assert (job.status, job.expanded) == ("running", False)
        with pytest.raises(CommandError, match="pause it if it runs"):
            call_command("job", "export", str(job.pk), "--format", "requests")

    def test_a_fault_is_a_result_with_its_status(self, jobs: JobMaker):
        with ScriptedModelServer(Script(behaviours=["error_400", "ok"])) as server:
            job = jobs.run(jobs.endpoint(server, concurrency=1), n=1)
        (result,) = lines(job, "results")
        assert result["response"]["status_code"] == 400
        Call.objects.update(reply=None, problem="No connection.")
        (result,) = lines(job, "results")
        assert (result["response"], result["error"]) == (None, {"code": "error", "message": "No connection."})

    def test_probabilities_are_means_of_tokens_and_shares_of_samples(self, jobs: JobMaker):
        job = jobs.start(NOBODY, n=2, samples=4, temperature=1, questions=[SHUFFLED], personas=[{"country": "Peru"}])
        while ledger.expand(job):
            pass
        for number, call in enumerate(Call.objects.order_by("item_id", "sample")):
            code = "yes" if number % 4 else "no"
            shares = {"shares": {"yes": 0.5 + number % 4 / 10, "no": 0.1}, "other": 0.0, "unresolved": 0.0}
            call.values, call.status = {"answer": code}, "ok"
            call.probabilities = {"answer": shares} if number % 4 < 2 and number < 4 else None
            call.save()
        rows = table(job)
        assert list(rows[0]) == [
            "job", "model", "demo_model", "item", "attr_country", "cond_prompt", "cond_seed", "cond_temperature",
            "cond_top_p", "question", "option", "probability", "source", "n",
        ]  # fmt: skip
        found = [(r["item"], r["option"], round(float(r["probability"]), 9), r["source"], r["n"]) for r in rows]
        assert found == [
            ("scenarios-2-0", "yes", 0.55, "logprobs", "2"),
            ("scenarios-2-0", "no", 0.1, "logprobs", "2"),
            ("scenarios-2-0", "yes", 0.75, "samples", "4"),
            ("scenarios-2-0", "no", 0.25, "samples", "4"),
            ("scenarios-2-1", "yes", 0.75, "samples", "4"),
            ("scenarios-2-1", "no", 0.25, "samples", "4"),
        ]
        assert {row["attr_country"] for row in rows} == {"Peru"}

    @pytest.mark.parametrize("what", ["calls", "all-requests", "results", "probabilities"])
    def test_memory_does_not_grow_with_the_calls(self, jobs: JobMaker, what):
        job = written(jobs, n=1500)
        long = "x" * 5000
        shares = {"answer": {"shares": {"yes": 0.75, "no": 0.25}}}
        reply = {"choices": [long]}
        Call.objects.update(status="ok", values={"answer": "yes"}, text=long, reply=reply, probabilities=shares)
        tracemalloc.start()
        size = sum(len(line) for line in export_job(job=job, what=what))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert size > 1000
        assert peak < 14_000_000


class TestIn:
    def test_results_are_settled_as_if_asked_here(self, jobs: JobMaker):
        job = written(jobs, n=4, max_parse_attempts=3)
        a, b, c, d = lines(job, "requests")
        imported = import_results(
            job=job, file=as_file([answered(a), answered(b, "maybe"), answered(c, "", refusal="No."), refused(d, 400)])
        )
        assert imported.words == "4 calls settled."
        assert counts(job) == {"ok": 1, "unparsed": 1, "refused": 1, "error": 1}
        call = Call.objects.get(status="ok")
        assert (call.values, call.prompt_tokens, call.latency_seconds) == ({"answer": "yes"}, 30, None)
        assert call.fingerprint
        assert call.messages == a["body"]["messages"]
        answer = Response.objects.get()
        assert (answer.value, answer.source_id) == ("yes", call.pk)
        assert (job.status, job.n_ok, job.failed, job.requests, job.prompt_tokens) == ("done", 1, 3, 4, 90)

    def test_a_file_can_be_imported_again_and_nothing_counts_twice(self, jobs: JobMaker):
        job = written(jobs, n=3)
        file = as_file([answered(request) for request in lines(job, "requests")[:2]])
        import_results(job=job, file=file)
        assert job.status == "paused"
        assert import_results(job=job, file=file).words == "0 calls settled, 2 settled before."
        assert (counts(job), job.n_ok, job.requests) == ({"ok": 2, "pending": 1}, 2, 2)

    def test_what_the_server_could_not_answer_is_still_to_ask(self, jobs: JobMaker):
        job = written(jobs, n=3)
        a, b, c = lines(job, "requests")
        expired = {"custom_id": c["custom_id"], "response": None, "error": {"code": "batch_expired", "message": "x"}}
        assert import_results(job=job, file=as_file([refused(a, 429), refused(b, 500), expired])).words == (
            "0 calls settled, 3 not answered, still to ask."
        )
        assert counts(job) == {"pending": 3}

    def test_calls_in_flight_are_left_to_who_asks_them(self, jobs: JobMaker):
        job = written(jobs, n=1)
        Job.objects.update(status=Job.Status.RUNNING)
        requests = lines(job, "requests")
        assert ledger.claim(job, uuid.uuid4(), size=1)
        assert import_results(job=job, file=as_file([answered(requests[0])])).words == (
            "0 calls settled, 1 in flight, left to who asks them."
        )
        assert counts(job) == {"claimed": 1}

    def test_calls_of_other_jobs_are_named_by_line_and_the_rest_comes_in(self, jobs: JobMaker):
        job, other = written(jobs, n=1), written(jobs, n=2, slug="other")
        (mine,) = lines(job, "requests")
        strange = {"custom_id": "task-7"}
        imported = import_results(
            job=job, file=as_file([answered(strange), answered(mine), answered(lines(other, "requests")[0])])
        )
        assert imported.words == "1 call settled, 2 of no call of this job."
        assert [fault.line for fault in imported.unknown] == [1, 3]
        assert str(imported.unknown[0]) == f"Line 1: no call of job {job.pk} has the id task-7."
        assert counts(other) == {"pending": 2}

    def test_a_malformed_file_brings_nothing_in(self, jobs: JobMaker):
        job = written(jobs, n=2)
        a, b = (answered(request) for request in lines(job, "requests"))
        bad = [
            a, b'{"custom_id": ', b"[]", b'{"id": 1}', {"custom_id": b["custom_id"]}, a, b"\xff\xfe", b"",
        ]  # fmt: skip
        with pytest.raises(ResultsRefusedError, match="6 faults") as caught:
            import_results(job=job, file=as_file([*bad, b]))
        assert [str(fault) for fault in caught.value.faults] == [
            "Line 2: this is not JSON in UTF-8.",
            "Line 3: a result is an object with a custom_id.",
            "Line 4: a result is an object with a custom_id.",
            f"Line 5: {b['custom_id']} has neither a response nor an error.",
            f"Line 6: {a['custom_id']} stands there twice.",
            "Line 7: this is not JSON in UTF-8.",
        ]
        assert counts(job) == {"pending": 2}
        for content in (b"", b"\n\n"):
            with pytest.raises(ResultsRefusedError, match="1 fault"):
                import_results(job=job, file=io.BytesIO(content))

    def test_what_the_batch_api_gives_comes_in(self, jobs: JobMaker):
        """A job's replies, exported, are results for a job that has the same calls."""
        with ScriptedModelServer() as server:
            job = jobs.run(server, n=3)
        replies = "".join(export_job(job=job, what="results")).encode()
        values = list(Call.objects.order_by("pk").values_list("values", flat=True))
        Response.objects.all().delete()
        Call.objects.update(status="pending", values=None)
        Job.objects.update(status="paused", n_ok=0)
        import_results(job=job, file=io.BytesIO(b"\xef\xbb\xbf" + replies))
        assert list(Call.objects.order_by("pk").values_list("values", flat=True)) == values
        assert (job.status, Response.objects.count()) == ("done", 3)


class TestShell:
    def test_requests_go_out_and_results_come_in(self, jobs: JobMaker, tmp_path: Path, capsys):
        job = jobs.plan(NOBODY, n=3)
        call_command("job", "export", str(job.pk), "--format", "requests")
        out, said = capsys.readouterr()
        assert said.startswith(f"The requests of job {job.pk} are written.")
        results = tmp_path / "results.jsonl"
        results.write_bytes(as_file([answered(json.loads(line)) for line in out.splitlines()]).getvalue())
        call_command("job", "import-results", str(job.pk), str(results))
        assert capsys.readouterr().out == f"Job {job.pk}: 3 calls settled.\n"
        results.write_text("no")
        with pytest.raises(CommandError, match="1 fault") as caught:
            call_command("job", "import-results", str(job.pk), str(results))
        assert caught.value.returncode == 2
        assert "Line 1" in capsys.readouterr().err
        with pytest.raises(CommandError, match=r"gone\.jsonl cannot be used: No such file"):
            call_command("job", "import-results", str(job.pk), str(tmp_path / "gone.jsonl"))


class TestPages:
    @pytest.fixture
    def address(self, project) -> Callable[..., str]:
        return lambda name, **kwargs: reverse(name, kwargs={"slug": project.slug, **kwargs})

    def test_every_export_is_a_download(self, jobs: JobMaker, client_as, viewer, address):
        with ScriptedModelServer() as server:
            job = jobs.run(server, n=2)
        client = client_as(viewer)
        for what in (*exports.EXPORTS, "answers-csv", "answers-jsonl", "bundle", "bundle-with-calls"):
            answer = client.get(address("job_export", pk=job.pk, what=what))
            assert answer.status_code == 200, what
            assert f"everyday-norms-job-{job.pk}" in answer["Content-Disposition"]
            assert b"".join(answer.streaming_content) or what == "requests"
        assert client.get(address("job_export", pk=job.pk, what="nothing")).status_code == 404
        page = client.get(address("job", pk=job.pk)).content.decode()
        assert address("job_export", pk=job.pk, what="all-requests") in page
        assert address("job_results", pk=job.pk) not in page

    def test_answers_are_those_to_what_the_job_asked(self, jobs: JobMaker, client_as, viewer, address):
        with ScriptedModelServer() as server:
            endpoint = jobs.endpoint(server)
            jobs.run(endpoint, n=3)
            again, fewer = jobs.run(endpoint, n=3), jobs.run(endpoint, n=3, max_items=1)
        for job, count in ((again, 3), (fewer, 1)):
            answer = client_as(viewer).get(address("job_export", pk=job.pk, what="answers-jsonl"))
            assert len(b"".join(answer.streaming_content).splitlines()) == count

    def test_requests_are_written_and_results_brought_in(self, jobs: JobMaker, client_as, researcher, address):
        job = jobs.plan(NOBODY, n=2)
        client = client_as(researcher)
        page = client.get(address("job_export", pk=job.pk, what="requests"), follow=True)
        assert "not all written yet" in page.content.decode()
        page = client.post(address("job_requests", pk=job.pk), follow=True)
        assert "The requests are written" in page.content.decode()
        requests = [json.loads(line) for line in export_job(job=Job.objects.get(), what="requests")]
        file = as_file([answered(requests[0])])
        file.name = "results.jsonl"
        page = client.post(address("job_results", pk=job.pk), {"file": file}, follow=True)
        assert "1 call settled." in page.content.decode()
        file = as_file([answered(requests[1]), answered({"custom_id": "x"})])
        file.name = "results.jsonl"
        page = client.post(address("job_results", pk=job.pk), {"file": file})
        assert page.status_code == 200
        assert "has the id x." in page.content.decode()
        assert Job.objects.get().status == "done"
        page = client.post(address("job_results", pk=job.pk), {"file": io.BytesIO(b"no")})
        assert page.status_code == 422
        assert "Nothing was imported: 1 fault." in page.content.decode()
