"""The product in one go with real parts: a file of items, a survey over HTTP, a job of a Celery worker, a report."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from llm.models import Job
from llm.services import plan_job, publish_prompt, save_endpoint
from materials.models import Dataset, Instrument
from materials.services import publish_instrument
from projects.models import Project, User
from protocols.pact.instruments import DEMOGRAPHICS, MODEL_QUESTION_CODES, PAIRED_QUESTIONS
from protocols.pact.prompts import prompt_text
from protocols.pact.scenarios import all_scenarios
from responses.models import Response
from studies.models import Study
from studies.services import create_study, open_study
from studies.walk import walk
from tests.model_server import MODEL, ScriptedModelServer
from tests.workers import Worker

ITEMS, PEOPLE, ITEMS_EACH = 12, 10, 4
PERSONAS = [{}, {"country": "Brazil"}]
WORKER_MILLISECONDS = 60_000


@pytest.mark.worker
def test_from_a_file_of_items_to_a_report_and_its_answers(
    page: Page,
    login: Callable[[Page, User], None],
    live_server: LiveServer,
    project: Project,
    researcher: User,
    celery_worker_process: Worker,
    tmp_path: Path,
) -> None:
    dataset, instrument = imported(project, tmp_path), published(project)
    study = opened(project, dataset, instrument)
    assert walk(live_server.url, study.key, PEOPLE, seed=4, refuse=0, inattentive=0).ends == {"completed": PEOPLE}

    login(page, researcher)
    with ScriptedModelServer() as server:
        job = planned(project, dataset, instrument, server.base_url)
        run_in_the_browser(page, job)
        assert server.requests == ITEMS * len(PERSONAS)
    report_in_the_browser(page, project)
    rows = downloaded(page, project, tmp_path)

    assert len(rows) == Response.objects.count()
    kinds = Counter((row["respondent_kind"], row["simulated"], row["demo_model"]) for row in rows)
    assert set(kinds) == {("participant", "true", "false"), ("model", "false", "true")}
    assert kinds["model", "false", "true"] == ITEMS * len(PERSONAS) * len(MODEL_QUESTION_CODES)
    paired = Counter(row["question"] for row in rows if row["respondent_kind"] == "participant")
    assert [paired[code] for code in MODEL_QUESTION_CODES] == [PEOPLE * ITEMS_EACH] * 2
    assert {row["value"] for row in rows if row["question"] in MODEL_QUESTION_CODES} == {"culture", "preference"}


def imported(project: Project, folder: Path) -> Dataset:
    file = folder / "scenarios.jsonl"
    file.write_text("\n".join(json.dumps(scenario) for scenario in all_scenarios()[:ITEMS]), encoding="utf-8")
    call_command("import_items", str(file), project=project.slug, dataset="scenarios")
    dataset = project.datasets.get(slug="scenarios")
    assert dataset.items.count() == ITEMS
    return dataset


def published(project: Project) -> Instrument:
    return publish_instrument(project=project, name="paired", title="Choice and norm", questions=PAIRED_QUESTIONS)


def opened(project: Project, dataset: Dataset, instrument: Instrument) -> Study:
    study = create_study(
        project=project,
        name="Customs",
        slug="customs",
        dataset=dataset,
        instrument=instrument,
        texts={"title": "Customs", "consent": "We store your answers."},
        design={"items_each": ITEMS_EACH, "minutes": 3, "item_template": {"item_fields": ["situation"]}},
        demographics=DEMOGRAPHICS,
        completion_codes={"completed": "DONE"},
    )
    return open_study(study=study, by=None)


def planned(project: Project, dataset: Dataset, instrument: Instrument, base_url: str) -> Job:
    endpoint = save_endpoint(project=project, name="Tiny", base_url=base_url, model=MODEL, demo_model=True)
    texts = {role: prompt_text("human_alignment", 1, role) for role in ("system", "user")}
    return plan_job(
        project=project,
        name="Two personas",
        kind=Job.Kind.SIMULATE,
        endpoint=endpoint,
        prompts=[publish_prompt(project=project, name="human-alignment", **texts)],
        dataset=dataset,
        instrument=instrument,
        question_codes=MODEL_QUESTION_CODES,
        personas=PERSONAS,
    )


def run_in_the_browser(page: Page, job: Job) -> None:
    """Start the planned job and watch it, without a reload, until the worker has finished it."""
    page.goto(f"/p/{job.project.slug}/models/jobs/{job.pk}/")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#job-live .badge").first).to_have_text("Done", timeout=WORKER_MILLISECONDS)
    expect(page.get_by_text("Demo model").first).to_be_visible()


def report_in_the_browser(page: Page, project: Project) -> None:
    """Ask for a report and wait for the worker's figures."""
    page.goto(f"/p/{project.slug}/reports/new/")
    page.get_by_role("link", name="Alignment of people and models").click()
    page.get_by_label("Title").fill("People and a model")
    page.get_by_label("Simulated people only").check()
    page.get_by_role("button", name="Compute report").click()
    expect(page.locator(".chart svg").first).to_be_visible(timeout=WORKER_MILLISECONDS)
    expect(page.locator(".chart-failed")).to_have_count(0)
    expect(page.locator(".prose").first).to_contain_text("simulated")


def downloaded(page: Page, project: Project, folder: Path) -> list[dict[str, str]]:
    """The rows of the CSV that the responses page leads to."""
    page.goto(f"/p/{project.slug}/responses/")
    page.get_by_role("link", name="Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    file = folder / "responses.csv"
    download.value.save_as(file)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))
