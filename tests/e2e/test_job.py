"""A researcher plans a job, pilots it, watches it run and compares its conditions, on a desk and on a phone."""

import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from llm.models import Job
from llm.services import publish_prompt, save_endpoint
from materials.models import Dataset, Instrument
from projects.models import Project, User
from tests.llm.jobs import CHOICE, in_thread, run_here
from tests.model_server import MODEL, Script, ScriptedModelServer

USER = (
    "{{ item.text }} Be {{ condition.tone }}.{% for q in questions %} {{ q.text }}{% for o in q.options %} "
    "{{ o.letter }} {{ o.text }}{% endfor %}{% endfor %} {{ answer_format }}"
)
WAYS = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]


@pytest.fixture
def server() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer(Script(probabilities={"refusal": 0.1}, seed=4)) as server:
        yield server


@pytest.fixture
def materials(
    live_server: object,
    project: Project,
    server: ScriptedModelServer,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
) -> Project:
    make_dataset(project, n=12)
    make_instrument(project, questions=[CHOICE | {"randomise": True}])
    for version in ("", " Please."):
        publish_prompt(project=project, name="ask", system="", user=USER + version)
    prices = {"price_per_million_in": 1, "price_per_million_out": 2}
    for name in ("Left", "Right"):
        save_endpoint(project=project, name=name, base_url=server.base_url, model=MODEL, **prices)
    return project


def run(*jobs: Job) -> None:
    """As a worker would, in a thread of its own: Playwright's loop occupies this one."""
    for job in jobs:
        runner = threading.Thread(target=in_thread(lambda job=job: run_here(job)))
        runner.start()
        runner.join()


def look(page: Page, axe: Callable[[Page], None], name: str) -> None:
    """No barrier and nothing wider than the screen, in each way; a picture where the variable asks for it."""
    for scheme, width in WAYS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.evaluate("new Promise(requestAnimationFrame)")  # the new width is laid out
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {width} px"
        axe(page)
        if folder := os.environ.get("CONCORD_SCREENS"):
            page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})


def test_a_researcher_plans_pilots_watches_and_compares(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    materials: Project,
    researcher: User,
) -> None:
    page = new_page(allow=["422"], reduced_motion="reduce")
    login(page, researcher)
    page.goto(reverse("job_plan", args=[materials.slug]))
    page.get_by_label("Name").fill("Tone")
    page.get_by_label("Left").check()
    page.get_by_text("Older versions").click()
    expect(page.get_by_label("ask v1")).not_to_be_checked()
    page.get_by_text("Factors, orders and samples").click()
    page.get_by_role("textbox", name="Factors").fill("tone: kind | ")
    look(page, axe, "job-form")
    page.get_by_role("button", name="Show the plan", exact=True).last.click()
    expect(page.get_by_role("alert")).to_contain_text("Line 1: write a name, a colon and values")
    page.get_by_role("textbox", name="Factors").fill("tone: kind | blunt")
    page.get_by_label("Order of options").select_option("both")
    page.get_by_role("button", name="Show the plan", exact=True).last.click()

    expect(page.locator("main")).to_contain_text("2 levels of tone × 2 option orders = 4 conditions; 12 items × 4")
    expect(page.locator("main")).to_contain_text("× 1 sample × 2 endpoints = 96 calls.")
    look(page, axe, "job-planned")
    page.get_by_role("button", name="Run a pilot of 20 first").click()
    expect(page.locator("main")).to_contain_text("The pilots of 2 jobs are started.")
    left, right = Job.objects.filter(project=materials).order_by("endpoint__name")
    run(left, right)
    address = reverse("job", args=[materials.slug, left.pk])
    page.goto(address)
    expect(page.locator("#job-live")).to_contain_text("The 20 calls that the pilot asked used")
    expect(page.locator("#job-findings")).to_contain_text("Distribution of answers")
    look(page, axe, "job-piloted")

    page.get_by_role("button", name="Run the rest of all 2 jobs").click()
    expect(page.locator("#job-live")).to_contain_text("Running")
    page.get_by_text("Budget", exact=True).click()
    page.get_by_label("Calls at most").fill("40")
    run(left)  # the part that changes is swapped while somebody types elsewhere
    expect(page.locator("#job-live")).to_contain_text("48 of 48")
    expect(page.get_by_label("Calls at most")).to_have_value("40")
    expect(page.locator("#job-findings")).to_contain_text(re.compile(r"as expected|more than expected"))
    run(right)
    page.reload()
    expect(page.locator("#job-findings")).to_contain_text("Latency")
    look(page, axe, "job-done")

    page.get_by_role("link", name="Compare conditions").click()
    look(page, axe, "job-compare-form")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main")).to_contain_text("A: Left, tone kind. B: Left, tone blunt")
    expect(page.locator("main")).to_contain_text("Pairs compared (n)")
    look(page, axe, "job-compared")
    page.get_by_role("row").nth(-1).get_by_role("link").nth(1).click()
    expect(page.locator("main")).to_contain_text("Where it comes from")
    look(page, axe, "call")
    page.goto(reverse("calls", args=[materials.slug, left.pk]))
    page.get_by_label("tone").select_option("blunt")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("row")).to_have_count(1 + 24)
    look(page, axe, "calls")


def test_a_job_is_watched_without_scripts(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    materials: Project,
    researcher: User,
) -> None:
    page = new_page(java_script_enabled=False)
    login(page, researcher)
    page.goto(reverse("job_plan", args=[materials.slug]))
    page.get_by_label("Name").fill("Plain")
    page.locator("summary", has_text="Factors, orders and samples").click()
    page.get_by_role("textbox", name="Factors").fill("tone: kind")
    page.get_by_role("button", name="Show the plan", exact=True).last.click()
    page.get_by_role("button", name="Start").click()
    job = Job.objects.get(project=materials)
    run(job)
    page.goto(reverse("job", args=[materials.slug, job.pk]))
    page.get_by_role("link", name="Newest answers, their distribution, places and latency").click()
    expect(page.locator("main")).to_contain_text("Distribution of answers")
