"""`manage.py job`: files that describe jobs, and doing them in the foreground."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from llm.files.jobfile import JobFileError, read_job_file
from llm.files.jobfile_plan import plan_from_file
from llm.models import Call, Job
from llm.running import foreground, ledger
from llm.services import publish_prompt, start_job
from responses.models import Response
from tests.conftest import ROOT
from tests.llm.jobs import CHOICE, USER, JobMaker, counts
from tests.llm.test_worker import answered, wait_until
from tests.model_server import MODEL, Script, ScriptedModelServer

NOBODY = "http://127.0.0.1:9/v1"
FILE = """
project = "everyday-norms"
name = "Customs"
kind = "simulate"
dataset = {{ name = "customs", file = "customs.csv" }}
instrument = {{ name = "usual", title = "Usual", questions = "usual.json" }}
endpoint = {{ name = "scripted", base_url = "{base_url}", model = "{model}", timeout_seconds = 2 }}
{more}
[[prompts]]
name = "ask"
user_file = "ask.txt"
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write(base_url, more="samples = 2", n=4)`: a job's file with everything it names beside it."""

    def make(base_url: str = NOBODY, *, more: str = "", n: int = 4, text: str = FILE) -> Path:
        (tmp_path / "customs.csv").write_text("id,text\n" + "".join(f"c{i},Custom {i}\n" for i in range(n)))
        (tmp_path / "usual.json").write_text(json.dumps([CHOICE]))
        (tmp_path / "ask.txt").write_text(USER)
        path = tmp_path / "job.toml"
        path.write_text(text.format(base_url=base_url, model=MODEL, more=more))
        return path

    return make


def faults(path: Path) -> list[str]:
    with pytest.raises(JobFileError) as caught:
        plan_from_file(read_job_file(path), folder=path.parent)
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


class TestFile:
    def test_every_part_of_a_job_can_be_in_it(self, project, write):
        more = """
            questions = ["answer"]
            alone = true
            personas = { country = ["Japan", "Chile"], age_group = ["younger", "older"] }
            factors = { config = ["C1", "C2"], tone = { kind = "Be kind.", none = "" } }
            option_orders = "both"
            conditions_per_item = 3
            samples = 2
            seed = 7
            items = { filter = { text = ["Custom 1", "Custom 2"] }, max = 2, drawn = true }
            decoding = { temperature = 0.5, top_p = 0.9, max_tokens = 20 }
            answers = { mode = "letter", max_parse_attempts = 3 }
            budget = { calls = 100, tokens = 5000 }
            """
        path = write(more=more.replace("            ", ""))
        (path.parent / "usual.json").write_text(json.dumps([CHOICE | {"randomise": True}]))
        (job,) = plan_from_file(read_job_file(path), folder=path.parent).jobs
        job = Job.objects.get(pk=job.pk)
        assert [persona.get("country") for persona in job.personas] == [None, "Japan", "Japan", "Chile", "Chile"]
        assert job.factors[1]["levels"] == [{"name": "kind", "value": "Be kind."}, {"name": "none", "value": ""}]
        assert (len(job.grid), job.grid.cells_per_item) == (2 * 2 * 2 * 5, 3)
        assert (job.seed, job.samples, job.temperature, job.top_p, job.max_tokens) == (7, 2, 0.5, 0.9, 20)
        assert (job.max_items, job.items_drawn, job.item_filter) == (2, True, {"text": ["Custom 1", "Custom 2"]})
        assert (job.answer_mode, job.max_parse_attempts) == ("letter", 3)
        assert (job.budget_calls, job.budget_tokens, job.budget_price) == (100, 5000, None)
        assert (job.dataset.items.count(), job.instrument.title, str(job.prompts.get())) == (4, "Usual", "ask v1")
        assert (job.endpoint.model, job.endpoint.timeout_seconds) == (MODEL, 2)

    def test_the_example_of_the_guide_is_one(self, tmp_path):
        example = (ROOT / "docs" / "jobs.md").read_text().split("```toml\n")[1].split("```")[0]
        (tmp_path / "ask.txt").write_text(USER)
        (path := tmp_path / "job.toml").write_text(example)
        file = read_job_file(path)
        assert (file.samples, file.items.max, file.budget.price, len(file.all_personas)) == (2, 200, 5, 5)
        assert [len(factor["levels"]) for factor in file.factors] == [2, 2]

    def test_a_text_that_was_meant_as_a_list_is_refused(self, project, write):
        assert faults(write(more='factors = { tone = "warm, cold" }')) == [
            '"warm, cold" is one value; write several as a list: tone = ["warm", "cold"].'
        ]
        assert faults(write(more='personas = { country = "Peru | Chile" }')) == [
            '"Peru | Chile" is one value; write several as a list: country = ["Peru", "Chile"].'
        ]

    def test_planning_twice_gives_the_same_job_and_a_changed_file_a_new_one(self, project, write):
        path = write()
        first = plan_from_file(read_job_file(path), folder=path.parent)
        again = plan_from_file(read_job_file(path), folder=path.parent)
        assert (first.made, again.made) == (True, False)
        assert [job.pk for job in again.jobs] == [job.pk for job in first.jobs]
        path = write(more="samples = 2\ndecoding.temperature = 1")
        changed = plan_from_file(read_job_file(path), folder=path.parent)
        assert changed.made
        assert changed.said == [
            f"The file differs from what job {first.jobs[0].pk} was planned from, which stays; this is a new plan."
        ]
        path = write()
        assert plan_from_file(read_job_file(path), folder=path.parent).jobs[0].pk == first.jobs[0].pk
        assert Job.objects.count() == 2

    def test_only_the_budget_of_a_planned_job_follows_the_file(self, project, write):
        path = write(more="budget = { calls = 2 }")
        (job,) = plan_from_file(read_job_file(path), folder=path.parent).jobs
        path = write(more="budget = { calls = 9 }")
        planned = plan_from_file(read_job_file(path), folder=path.parent)
        assert planned.said == [f"The budget of job {job.pk} is the file's from now on."]
        assert Job.objects.get().budget_calls == 9

    def test_items_that_came_after_the_start_make_a_new_plan(self, project, write):
        path = write(n=2)
        (job,) = plan_from_file(read_job_file(path), folder=path.parent).jobs
        path = write(n=3)
        assert plan_from_file(read_job_file(path), folder=path.parent).jobs[0].pk == job.pk
        start_job(job=job)
        assert not plan_from_file(read_job_file(path), folder=path.parent).made
        path = write(n=5)
        assert plan_from_file(read_job_file(path), folder=path.parent).made

    def test_several_endpoints_make_a_series_that_is_found_again(self, project, write):
        path = write()
        both = 'endpoints = ["scripted", {{ name = "other", base_url = "http://127.0.0.1:10/v1", model = "m" }}]'
        plan_from_file(read_job_file(path), folder=path.parent)
        lines = [both if line.startswith("endpoint =") else line for line in FILE.splitlines()]
        path = write(text="\n".join(lines))
        first = plan_from_file(read_job_file(path), folder=path.parent)
        assert [job.name for job in first.jobs] == ["Customs (scripted)", "Customs (other)"]
        again = plan_from_file(read_job_file(path), folder=path.parent)
        assert [job.pk for job in again.jobs] == [job.pk for job in first.jobs]

    def test_each_fault_is_a_sentence_with_its_place(self, project, write):
        path = write(more='samples = 0\npersonas = [{ model = "x" }]\nbudge = 1\nfactors = { "a b" = ["x"] }')
        assert faults(path) == ["The factor 'a b' needs a name of letters, digits and underscores."]
        path = write(more='samples = 0\npersonas = [{ model = "x" }]\nbudge = 1\nanswers.mode = "guess"')
        assert faults(path) == [
            "At personas.1: model is what Concord itself says of a model; name the attribute otherwise.",
            "At samples: Input should be greater than or equal to 1.",
            "At answers: there is no answer mode guess; choose one of auto, json, letter, label, number, sentence, "
            "sentence_last.",
            "At budge: nothing of this name belongs here.",
        ]

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("everyday-norms", "nowhere", "At project: there is no project nowhere"),
            ("customs.csv", "gone.csv", "At dataset.file: .*gone.csv cannot be read: No such file"),
            ("usual.json", "ask.txt", "At instrument.questions: .*ask.txt: Line 1, column 2"),
            ('user_file = "ask.txt"', 'user = "{{{{ item.text"', "At prompts.1: "),
            ('user_file = "ask.txt"', "", "At prompts.1: the project has no ask; it has: none."),
            ('user_file = "ask.txt"', 'user = "{{{{ item.gone }}}}"', "At prompts: a prompt does not fit the items."),
            ("ask.txt", "gone.txt", "At prompts.1: gone.txt cannot be read"),
            ('base_url = "{base_url}", ', "", "At endpoints.1: an endpoint that is described needs base_url"),
            ('"{base_url}"', '"ftp://x"', "At endpoints.1: "),
            ('name = "Customs"', 'name = "Customs', r"job.toml is not TOML: .*\(at line 3, column \d+\)"),
            ('name = "Customs"', 'name = "a\\u0000b"', "holds a NUL character"),
            ('kind = "simulate"', "kind = 1979-05-27", "At kind: "),
            ('kind = "simulate"', 'kind = "simulate"\nfactors = {{ f = [1979-05-27] }}', "Factors may hold texts"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_makes_nothing(self, project, write, old, new, sentence):
        assert old in FILE
        path = write(text=FILE.replace(old, new))
        assert re.search(sentence, faults(path)[0])
        assert not Job.objects.exists()
        assert not project.datasets.exists()
        assert not project.endpoints.exists()

    def test_an_endpoint_is_changed_to_what_the_file_says_and_keeps_its_key(self, project, write, jobs: JobMaker):
        jobs.endpoint(NOBODY, name="scripted", key="sk-12345678", concurrency=3)
        path = write()
        plan_from_file(read_job_file(path), folder=path.parent)
        endpoint = project.endpoints.get()
        assert endpoint.key_encrypted
        assert (endpoint.concurrency, endpoint.timeout_seconds) == (3, 2)

    def test_a_prompt_whose_text_is_an_older_version_is_not_published_again(self, project, write, jobs: JobMaker):
        path = write()
        (job,) = plan_from_file(read_job_file(path), folder=path.parent).jobs
        publish_prompt(project=project, name="ask", system="", user="Another text")
        assert plan_from_file(read_job_file(path), folder=path.parent).jobs[0].pk == job.pk


def run(*arguments: object) -> None:
    call_command("job", *(str(argument) for argument in arguments))


@pytest.mark.django_db(transaction=True)
class TestCommand:
    def test_plan_says_size_price_and_example(self, project, write, capsys):
        more = 'samples = 2\ndecoding.temperature = 1\nfactors = { tone = ["warm"] }'
        run("plan", write(more=more), "--examples", 1)
        out = capsys.readouterr().out
        assert "  Factors  1 level of tone = 1 condition\n" in out
        assert "  Calls    4 items × 1 condition × 2 samples = 8 calls\n" in out
        assert "a factor with one level makes no contrast" in out
        assert "8 calls to scripted (scripted-model) (live)." in out
        assert "no price set" in out
        assert out.count("[user] Custom 0") == 1

    def test_plan_can_test_the_endpoint_first(self, project, write, capsys):
        with ScriptedModelServer() as server:
            run("plan", write(server.base_url), "--test")
            assert project.endpoints.get().capabilities["ok"]
        project.endpoints.update(base_url=NOBODY)
        with pytest.raises(CommandError, match="does not answer") as caught:
            run("plan", write(NOBODY), "--test")
        assert caught.value.returncode == 1

    def test_run_does_the_job_here_and_says_how_it_ended(self, project, write, capsys):
        with ScriptedModelServer() as server:
            path = write(server.base_url)
            run("run", path)
            job = Job.objects.get()
            assert (
                capsys.readouterr().out
                == f"4 items imported from customs.csv.\nPlanned as job {job.pk}.\nDone: 4 answered.\n"
            )
            run("run", path)
            assert server.requests == 4
        assert (job.status, counts(job)) == ("done", {"ok": 4})

    def test_calls_without_an_answer_are_an_exit_code_and_can_be_asked_again(self, jobs: JobMaker, capsys):
        with ScriptedModelServer(Script(behaviours=["refusal"])) as server:
            job = jobs.plan(server, n=4)
            with pytest.raises(CommandError, match="Not every call") as caught:
                run("run", job.pk)
            assert caught.value.returncode == 1
            assert capsys.readouterr().out == "Done: 3 answered, 1 refused.\n"
            run("retry", job.pk)
        assert capsys.readouterr().out == f"Job {job.pk}: 1 call will be asked again.\nDone: 4 answered.\n"

    def test_a_pilot_runs_first_and_then_the_rest(self, project, write, capsys):
        with ScriptedModelServer() as server:
            path = write(server.base_url, n=30)
            run("run", path, "--pilot", 5)
            assert (Job.objects.get().status, server.requests) == ("paused", 5)
            with pytest.raises(CommandError, match="without --pilot"):
                run("run", path, "--pilot", 5)
            assert server.requests == 5
            run("run", path)
            assert (Job.objects.get().status, server.requests) == ("done", 30)

    def test_a_spent_budget_pauses_and_more_of_it_in_the_file_goes_on(self, project, write, capsys):
        with ScriptedModelServer() as server:
            path = write(server.base_url, more="budget = { calls = 3 }", n=8)
            with pytest.raises(CommandError) as caught:
                run("run", path)
            assert caught.value.returncode == 1
            assert "The budget of 3 calls is used up." in capsys.readouterr().out
            run("run", write(server.base_url, n=8))
            assert (Job.objects.get().status, server.requests) == ("done", 8)

    def test_batches_are_sent_and_collected_here_too(self, project, jobs: JobMaker, monkeypatch, capsys):
        monkeypatch.setattr(foreground, "STEP_SECONDS", 0.1)
        with ScriptedModelServer(Script(batch_polls=2)) as server:
            endpoint = jobs.endpoint(server)
            project.endpoints.update(capabilities={"batch": True})
            endpoint.refresh_from_db()
            job = jobs.plan(endpoint, n=6, way="batch")
            run("run", job.pk)
        assert capsys.readouterr().out == "Done: 6 answered.\n"
        assert job.batches.get().n_requests == 6

    def test_status_is_for_people_and_machines(self, jobs: JobMaker, capsys):
        with ScriptedModelServer(Script(behaviours=["refusal"])) as server:
            job = jobs.run(server, n=3)
        run("status", job.pk)
        out = capsys.readouterr().out
        assert "3 of 3 settled: 2 answered, 1 refused" in out
        assert "1 refused: The model refused" in out
        run("status", job.pk, "--json")
        found = json.loads(capsys.readouterr().out)
        assert (found["status"], found["calls"], found["price"]) == ("done", {"ok": 2, "refused": 1}, None)
        assert found["problems"][0]["calls"] == 1
        run("list", "--project", job.project.slug)
        assert "3 of 3 calls" in capsys.readouterr().out

    def test_pause_stop_and_resume(self, jobs: JobMaker, capsys):
        with ScriptedModelServer() as server:
            job = jobs.start(server, n=3)
            run("pause", job.pk)
            run("stop", job.pk)
            run("pause", job.pk)
            assert capsys.readouterr().out.split("\n")[:3] == [
                f"Job {job.pk} is paused.", f"Job {job.pk} is stopped.", f"Job {job.pk} does not run: it is stopped.",
            ]  # fmt: skip
            run("resume", job.pk)
        assert counts(job) == {"ok": 3}

    def test_what_is_not_there_is_bad_input(self, project, jobs: JobMaker, write, tmp_path):
        for arguments in (["run", 0], ["status", tmp_path / "gone.toml"], ["status", write()], ["resume", 9**20]):
            with pytest.raises(CommandError) as caught:
                run(*arguments)
            assert caught.value.returncode == 2
        job = jobs.plan(NOBODY, n=1)
        with pytest.raises(CommandError, match="not started yet"):
            run("resume", job.pk)

    def test_what_a_killed_process_held_is_waited_for(self, jobs: JobMaker, capsys):
        with ScriptedModelServer() as server:
            job = jobs.start(server, n=4)
            (held,) = ledger.claim(job, uuid.uuid4(), size=1)
            Call.objects.filter(pk=held.pk).update(lease_until=timezone.now() + timedelta(seconds=1.5))
            run("run", job.pk)
        assert counts(job) == {"ok": 4}

    def test_a_wrong_key_pauses_with_the_servers_words(self, jobs: JobMaker, capsys):
        with ScriptedModelServer(Script(probabilities={"error_401": 1.0})) as server, pytest.raises(CommandError):
            run("run", jobs.plan(server, n=4).pk)
        assert "Mend the endpoint, then resume." in capsys.readouterr().out


def shell(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    url = urlsplit(os.environ["DATABASE_URL"])
    database = f"{url.scheme}://{url.netloc}/{connection.settings_dict['NAME']}?{url.query}"
    env = os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "config.settings.test"} | environment
    command = [sys.executable, "manage.py", "job", *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
class TestProcess:
    def test_ctrl_c_pauses_and_the_next_run_goes_on(self, jobs: JobMaker, capsys):
        with ScriptedModelServer(Script(latency_seconds=0.1)) as server:
            job = jobs.plan(jobs.endpoint(server, concurrency=4, timeout_seconds=30), n=120)
            process = shell("run", job.pk)
            wait_until(lambda: answered(job) >= 8)
            process.send_signal(signal.SIGINT)
            out, log = process.communicate(timeout=20)
            assert process.returncode == 1
            assert f"To go on: manage.py job run {job.pk}" in out
            assert "Pausing: calls in flight finish." in log
            assert Job.objects.get().status_reason == "Paused from the shell."
            asked = server.requests
            assert set(counts(job)) == {"ok", "pending"}
            assert counts(job)["ok"] == asked
            run("run", job.pk)
            assert capsys.readouterr().out == "Done: 120 answered.\n"
            assert server.requests == 120

    def test_after_a_kill_only_calls_in_flight_are_asked_again(self, jobs: JobMaker, capsys):
        with ScriptedModelServer(Script(latency_seconds=0.1)) as server:
            job = jobs.plan(jobs.endpoint(server, concurrency=4), n=100)
            process = shell("run", job.pk, CONCORD_MODEL_LEASE_SECONDS="2")
            wait_until(lambda: answered(job) >= 8)
            process.kill()
            process.communicate()
            assert 0 < answered(job) < 100
            run("run", job.pk)
            assert capsys.readouterr().out == "Done: 100 answered.\n"
            assert server.requests <= 100 + 4 + 4 * 6
        assert counts(job) == {"ok": 100}
        assert Response.objects.count() == 100

    def test_a_worker_and_the_shell_share_a_job(self, jobs: JobMaker, start_celery_worker):
        with ScriptedModelServer(Script(latency_seconds=0.05)) as server:
            start_celery_worker()
            job = jobs.plan(jobs.endpoint(server, concurrency=32), n=200)
            process = shell("run", job.pk)
            assert process.communicate(timeout=60)[0] == "Done: 200 answered.\n"
            assert server.requests == 200
        assert Response.objects.count() == 200

    def test_the_shell_can_leave_the_work_to_the_workers(self, jobs: JobMaker, start_celery_worker):
        with ScriptedModelServer() as server:
            job = jobs.plan(server, n=20)
            process = shell("run", job.pk, "--worker")
            wait_until(lambda: Job.objects.get().status == Job.Status.RUNNING)
            time.sleep(1)
            assert not server.requests
            start_celery_worker()
            assert process.communicate(timeout=60)[0] == "Done: 20 answered.\n"
