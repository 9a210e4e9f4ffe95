"""The demo's project with everything in it: a walked study, a job that ran, labels, a report. For tests of pages."""

import os
import threading
from functools import cached_property
from unittest import mock

from django.test import override_settings

from annotation.models import Assignment, LabelProject
from annotation.services import claim_next
from evaluation.building import build_report
from evaluation.models import Report
from evaluation.services import create_report
from llm.models import Call, Endpoint, Job, Prompt
from llm.services import start_job
from materials.models import Dataset, Instrument, Item
from projects.models import Project, User
from protocols.pact.demo import LOGINS, STUDY_SLUG, load
from responses.models import Respondent
from studies.models import Screen, Session, Study
from studies.walk import walk
from tests.conftest import PASSWORD
from tests.llm.jobs import in_thread, run_here
from tests.model_server import MODEL, ScriptedModelServer
from tests.permissions import World

KEY = "CONCORD_MODEL_KEY"  # where the demo's endpoint takes its key
PEOPLE = 8
ITEMS = 6
REPORT = {"dataset": "scenarios", "instrument": "paired", "questions": ["personal", "norm"], "people": "simulated"}


class FilledWorld(World):
    """The nouns that addresses need, out of the filled project."""

    @cached_property
    def dataset(self) -> Dataset:
        return self.project.datasets.get(slug="scenarios")

    @cached_property
    def item(self) -> Item:
        return self.call.item

    @cached_property
    def instrument(self) -> Instrument:
        return self.project.instruments.get(name="paired")

    @cached_property
    def respondent(self) -> Respondent:
        return self.call.respondent

    @cached_property
    def endpoint(self) -> Endpoint:
        return self.job.endpoint

    @cached_property
    def prompt(self) -> Prompt:
        return self.job.prompt_list[0]

    @cached_property
    def job(self) -> Job:
        return self.project.jobs.get()

    @cached_property
    def call(self) -> Call:
        return self.job.calls.order_by("pk")[0]

    @cached_property
    def label_project(self) -> LabelProject:
        return self.project.label_projects.get()

    @cached_property
    def assignment(self) -> Assignment:
        return claim_next(label_project=self.label_project, user=self.users["annotator"])

    @cached_property
    def study(self) -> Study:
        return self.project.studies.get(slug=STUDY_SLUG)

    @cached_property
    def session(self) -> Session:
        return self.study.sessions.order_by("pk")[0]

    @cached_property
    def screen(self) -> Screen:
        return self.session.screens.order_by("pk")[0]

    @cached_property
    def report(self) -> Report:
        return self.project.reports.order_by("pk")[0]


def fill(base_url: str) -> FilledWorld:
    """Load the demo and fill it through the server at `base_url` and a scripted model, in this process."""
    with (
        ScriptedModelServer() as server,
        override_settings(MODEL_BASE_URL=server.base_url, MODEL_NAME=MODEL, DEMO_MODEL=True),
        mock.patch.dict(os.environ, {KEY: "scripted", "CONCORD_MODEL_BASE_URL": server.base_url}),
    ):
        project = load(password=PASSWORD)
        walk(base_url, project.studies.get(slug=STUDY_SLUG).key, PEOPLE, seed=1, refuse=0, inattentive=0)
        _run_job(project)
    report = create_report(
        project=project, title="People and a model", kind="alignment", parameters=REPORT, created_by=None
    )
    assert build_report(report.pk).status == Report.Status.READY
    return FilledWorld(project, {name: User.objects.get(username=name) for name in LOGINS})


def _run_job(project: Project) -> None:
    job = project.jobs.get()
    Job.objects.filter(pk=job.pk).update(max_items=ITEMS)
    job.refresh_from_db()
    start_job(job=job)
    runner = threading.Thread(target=in_thread(lambda: run_here(job)))  # Playwright's loop occupies this thread
    runner.start()
    runner.join()
