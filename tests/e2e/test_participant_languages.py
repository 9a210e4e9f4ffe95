"""A participant reads a study in Arabic on a small phone: right to left, short questions as a table, a follow-up."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from responses.models import Response
from studies.models import Screen, Session, Study
from studies.services import open_study
from tests.e2e.participant import Look, answer, screen, send
from tests.e2e.test_participant import entry, fits
from tests.studies.conftest import draft  # noqa: F401 - a fixture
from tests.studies.translated import ARABIC, QUESTIONS

NewPage = Callable[..., Page]
SMALLEST = {"width": 320, "height": 640}


@pytest.fixture
def study(transactional_db: None, draft: Callable[..., Study]) -> Study:  # noqa: F811 - the fixture
    return open_study(study=draft(questions=QUESTIONS, translations={"ar": ARABIC}), by=None)


def go_to_item(page: Page, study: Study) -> None:
    page.goto(entry(study))
    while screen(page) != "item":
        answer(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_right_to_left_on_the_smallest_phone(new_page: NewPage, axe: Look, study: Study, scheme: str) -> None:
    page = new_page(viewport=SMALLEST, color_scheme=scheme, locale="ar-EG")
    page.goto(entry(study))
    while screen(page):
        axe(page)
        assert fits(page), screen(page)
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        answer(page)
    axe(page)
    expect(page.locator("h1")).to_have_text("شكرًا لك، إجاباتك محفوظة")
    assert Session.objects.get().language == "ar"


def test_short_questions_with_the_same_options_are_a_table_that_keeps_its_row_labels(
    new_page: NewPage, axe: Look, study: Study
) -> None:
    page = new_page(viewport={"width": 1280, "height": 900})
    go_to_item(page, study)
    matrix = page.locator(".matrix")
    rows, head = matrix.locator("fieldset"), matrix.locator(".matrix-head span")
    expect(rows).to_have_count(2)
    for column, label in enumerate(["1", "2", "3", "4", "5"]):
        box = rows.nth(1).locator(".choice").nth(column).bounding_box()
        above = head.get_by_text(label, exact=True).bounding_box()
        assert box
        assert above
        assert abs(box["x"] + box["width"] / 2 - above["x"] - above["width"] / 2) < 2
    axe(page)
    page.set_viewport_size(SMALLEST)
    assert fits(page)
    expect(head.first).to_be_hidden()
    for row in rows.all():
        expect(row.locator("legend")).to_be_visible()
        expect(row.locator(".choice-label").first).to_be_visible()


def test_what_is_typed_goes_along_to_another_language_and_a_follow_up_comes_at_once(
    new_page: NewPage, study: Study
) -> None:
    page = new_page()
    go_to_item(page, study)
    expect(page.get_by_label("What is missing?")).to_have_count(0)
    page.get_by_label("Neither").check()
    page.get_by_label("What is missing?").fill("قهوة")
    page.locator("[value=culture]").check()
    expect(page.get_by_label("What is missing?")).to_have_count(0)
    page.get_by_label("Neither").check()
    page.get_by_role("link", name="العربية").click()
    expect(page.get_by_label("ما الذي ينقص؟")).to_have_value("قهوة")
    expect(page.locator("[value=neither]")).to_be_checked()
    for row in page.locator(".matrix fieldset").all():
        row.locator(".choice").first.click()
    send(page)
    assert dict(Response.objects.values_list("question", "value")) == {
        "personal": "neither",
        "missing": "قهوة",
        "clear": 1,
        "usual": 1,
    }
    assert Response.objects.first().condition.factors["language"] == "ar"


def test_a_server_without_its_database_gets_the_answer_once_it_is_back(new_page: NewPage, study: Study) -> None:
    page = new_page(allow=["503"])
    go_to_item(page, study)
    page.get_by_label("Neither").check()
    page.get_by_label("What is missing?").fill("Coffee")
    for row in page.locator(".matrix fieldset").all():
        row.locator(".choice").first.click()
    away = [True]

    def fail_once(route: Route) -> None:
        if away.pop():
            away.append(False)
            route.fulfill(status=503, body="")
        else:
            away.append(False)
            route.continue_()

    page.route("**/s/*/*/*/", fail_once)
    with page.expect_event("load"):
        page.locator("form[data-screen] button").click()
        expect(page.get_by_text("There is no connection.")).to_be_visible()
        assert Response.objects.count() == 0
    assert Response.objects.get(question="missing").value == "Coffee"
    told = Screen.objects.get(kind="item", answered_at__isnull=False).paradata
    assert told["seconds"] > 0
    assert told["pastes"] == told["resizes"] == 0
