"""The demo project: made once, whatever is started again, and reported on whenever its job gets done."""

import threading
import time

import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import Assignment
from evaluation.models import Report
from llm.models import Job
from llm.services import pause_job, resume_job
from materials.models import Item
from projects.models import AuditEvent, Membership
from protocols.pact import demo
from responses.models import Respondent, Response
from studies.models import Study
from tests.model_server import ScriptedModelServer

PASSWORD = "demo-for-tests"


@pytest.fixture
def model(settings, monkeypatch):
    with ScriptedModelServer() as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.DEMO_MODEL = server.base_url, "scripted-model", True
        monkeypatch.setenv(demo.KEY_VARIABLE, "any")
        monkeypatch.setenv("CONCORD_MODEL_BASE_URL", server.base_url)
        yield server


def counts() -> list[int]:
    return [table.objects.count() for table in (Item, Assignment, Study, Job, Membership, AuditEvent)]


@pytest.mark.django_db
def test_loading_again_changes_nothing(model):
    demo.load(password=PASSWORD)
    before = counts()
    assert before[:4] == [48, 86, 1, 1]
    demo.load(password=PASSWORD)
    assert counts() == before


@pytest.mark.django_db
def test_without_a_model_there_is_everything_but_the_job(settings):
    settings.MODEL_BASE_URL = ""
    demo.load(password=PASSWORD)
    assert counts()[:4] == [48, 86, 1, 0]


@pytest.mark.django_db(transaction=True)
def test_the_report_comes_also_when_the_job_was_paused(model, live_server, monkeypatch):
    monkeypatch.setattr(demo, "PEOPLE", 5)
    demo.load(password=PASSWORD)
    job = Job.objects.get(name=demo.JOB_NAME)
    said: list[str] = []

    def fill() -> None:
        demo.fill(base_url=live_server.url, say=said.append, poll_seconds=0.1)
        connection.close()

    thread = threading.Thread(target=fill)
    thread.start()
    wait_for(lambda: Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).exists())
    assert pause_job(job=job)
    wait_for(lambda: len(said) == 2)
    time.sleep(0.5)
    assert thread.is_alive()
    assert not Report.objects.exists()

    assert resume_job(job=job)
    call_command("job", "run", str(job.pk), verbosity=0)
    thread.join(timeout=60)
    assert Report.objects.get().title == demo.REPORT_TITLE
    assert Response.objects.filter(respondent__demo_model=True).count() == 2 * 48 * 6
    people = Respondent.objects.filter(kind="participant")
    assert people
    assert all(person.simulated for person in people)


def wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
