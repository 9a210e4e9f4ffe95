"""A researcher reads a report: its warnings, numbers and figures, on a desk and on a phone, light and dark."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from evaluation.building import build_report
from evaluation.document import document
from evaluation.models import Report
from evaluation.presentation import by_member
from evaluation.services import create_report
from materials.models import Dataset, Instrument
from projects.models import Project, User
from tests.evaluation.conftest import PAIRED, Paired

COUNTRIES = ("Brazil", "India", "Japan", "South Africa", "United States")
WAYS = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]


@pytest.fixture
def report(
    live_server: object,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    researcher: User,
) -> Report:
    """48 items, 60 simulated people of five countries, a demo model without and with personas."""
    rng = np.random.default_rng(5)
    paired = Paired(project, make_dataset(project, n=48), make_instrument(project, questions=PAIRED, name="paired"))
    likes = rng.random((2, 48))

    def drawn(question: int, item: int, shift: float) -> str:
        return "culture" if rng.random() < np.clip(likes[question, item] + shift, 0.02, 0.98) else "preference"

    people = [paired.person(str(number), country=COUNTRIES[number % 5]) for number in range(60)]
    model = paired.model("SmolLM2-135M-Instruct")
    personas = [paired.model("SmolLM2-135M-Instruct", country=country) for country in COUNTRIES]
    codes = list(enumerate(("personal", "norm")))
    paired.record((w, int(i), c, drawn(q, i, 0)) for w in people for i in rng.choice(48, 12, False) for q, c in codes)
    paired.record(
        ((who, item, c, drawn(q, item, 0.3)) for who in [model, *personas] for item in range(46) for q, c in codes),
        prompt="plain v1",
        temperature=0,
    )
    parameters = {"dataset": "scenarios", "instrument": "paired", "questions": ["personal", "norm"]}
    made = create_report(
        project=project,
        title="People and the embedded model",
        kind="alignment",
        parameters=parameters | {"people": "simulated"},
        created_by=researcher,
    )
    return build_report(made.pk)


def keep(page: Page, name: str) -> None:
    """A picture to look at, where the variable asks for it."""
    if folder := os.environ.get("CONCORD_SCREENS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("way", WAYS)
def test_a_report_is_read(
    report: Report,
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    viewer: User,
    axe: Callable[[Page], None],
    way: tuple[str, int],
):
    scheme, width = way
    page = new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    login(page, viewer)
    page.goto(f"/p/everyday-norms/reports/{report.pk}/")
    expect(page.locator(".notice-warning").first).to_contain_text("simulated")
    figures = page.locator(".chart")
    expect(figures).to_have_count(7)
    for number in range(figures.count()):
        expect(figures.nth(number).locator("svg").first).to_be_visible()
    expect(page.locator(".chart").first).to_contain_text("Human ceiling")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert said == []
    axe(page)
    keep(page, f"report-{scheme}-{width}")
    wide = page.locator(".table-wrap").filter(has=page.get_by_text("Human ceiling", exact=False)).first
    assert width < 1280 or wide.evaluate("box => box.scrollWidth <= box.clientWidth")
    wide.scroll_into_view_if_needed()
    wide.evaluate("box => box.scrollBy(box.scrollWidth, 0)")
    expect(wide.get_by_role("rowheader").first).to_be_in_viewport()


def test_a_report_is_asked_for(
    report: Report,
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    researcher: User,
    axe: Callable[[Page], None],
):
    page = new_page(viewport={"width": 1280, "height": 900})
    login(page, researcher)
    page.goto("/p/everyday-norms/reports/")
    axe(page)
    page.get_by_role("link", name="New report").click()
    axe(page)
    page.get_by_role("link", name="Alignment of people and models").click()
    axe(page)
    keep(page, "report-new")
    page.get_by_label("Title").fill("Wave 2")
    page.get_by_label("Simulated people only").check()
    page.get_by_role("button", name="Compute report").click()
    expect(page.locator("#pending")).to_contain_text("Being computed")
    axe(page)
    build_report(Report.objects.get(title="Wave 2").pk)
    expect(page.get_by_role("heading", name="What was compared")).to_be_visible()


def test_the_whole_report_as_a_file_is_read_on_a_phone(
    report: Report, new_page: Callable[..., Page], axe: Callable[[Page], None], tmp_path: Path
):
    file = tmp_path / "report.html"
    file.write_text(document(by_member(report)))
    page = new_page(color_scheme="dark", viewport={"width": 360, "height": 800})
    page.goto(file.as_uri())
    expect(page.get_by_role("img").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    axe(page)
    keep(page, "report-file-dark-360")
