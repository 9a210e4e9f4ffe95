"""What the participant's script adds: one submit for two clicks, drafts, answers that wait while offline."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from projects.models import User
from responses.models import Response
from studies.models import Study
from studies.services import open_study
from tests.e2e.participant import answer, screen, send
from tests.e2e.test_participant import entry, fits
from tests.studies.conftest import draft  # noqa: F401 - a fixture

NewPage = Callable[..., Page]


@pytest.fixture
def study(transactional_db: None, draft: Callable[..., Study]) -> Study:  # noqa: F811 - the fixture
    return open_study(study=draft(), by=None)


def go_to_item(page: Page, study: Study) -> None:
    page.goto(entry(study))
    while screen(page) != "item":
        answer(page)


def choose(page: Page) -> None:
    for group in page.locator("fieldset.choices:not(:has(.field-optional))").all():
        group.locator(".choice").first.click()


def test_an_answer_waits_while_offline_and_arrives_once(new_page: NewPage, study: Study) -> None:
    page = new_page(allow=["ERR_INTERNET_DISCONNECTED"])
    go_to_item(page, study)
    choose(page)
    page.context.set_offline(True)
    button = page.locator("form[data-screen] button")
    button.click()
    button.click()
    expect(page.get_by_text("There is no connection.")).to_be_visible()
    assert Response.objects.count() == 0
    with page.expect_event("load"):
        page.context.set_offline(False)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Situation 1 of 3")
    assert Response.objects.count() == 2


def test_a_double_click_sends_once(page: Page, study: Study) -> None:
    go_to_item(page, study)
    choose(page)
    posts: list[str] = []

    def slow(route: Route) -> None:
        page.wait_for_timeout(300)
        route.continue_()

    def note(request: Request) -> None:
        if request.method == "POST":
            posts.append(request.url)

    page.route("**/s/**", slow)
    page.on("request", note)
    with page.expect_event("load"):
        page.locator("form[data-screen] button").dblclick()
    assert len(posts) == 1
    expect(page.get_by_text("was stored already")).to_have_count(0)


def test_a_draft_survives_a_reload_and_goes_when_it_was_sent(page: Page, study: Study) -> None:
    go_to_item(page, study)
    page.get_by_label("Why?").fill("Because guests do.")
    page.get_by_label("Why?").blur()
    page.reload()
    expect(page.get_by_label("Why?")).to_have_value("Because guests do.")
    choose(page)
    send(page)
    page.wait_for_function("Object.keys(localStorage).length === 0")
    assert Response.objects.get(question="why").value == "Because guests do."
    if screen(page) == "item":
        expect(page.get_by_label("Why?")).to_have_value("")


def test_errors_get_the_focus_and_lead_to_their_field(
    new_page: NewPage, axe: Callable[..., None], study: Study
) -> None:
    page = new_page(viewport={"width": 320, "height": 640})
    go_to_item(page, study)
    send(page)
    expect(page.locator("[data-error-summary]")).to_be_focused()
    expect(page).to_have_title(re.compile("^Error: "))
    axe(page)
    assert fits(page)
    page.get_by_role("link", name="What would you do? Choose an answer.").click()
    expect(page.locator("#q-personal")).to_be_focused()
    choose(page)
    send(page)
    assert Response.objects.count() == 2


@pytest.mark.parametrize("width", [360, 1280])
def test_the_researchers_pages(
    *,
    new_page: NewPage,
    axe: Callable[..., None],
    login: Callable[[Page, User], None],
    study: Study,
    researcher: User,
    width: int,
) -> None:
    page = new_page(viewport={"width": width, "height": 800})
    login(page, researcher)
    address = f"/p/{study.project.slug}/studies/"
    for tail in ("", f"{study.pk}/", f"{study.pk}/preview/0/", f"{study.pk}/preview/3/"):
        page.goto(address + tail)
        axe(page)
        assert fits(page), tail
