"""A participant takes the demo's survey in a real browser: on a phone, at a desk, without scripts, by keyboard."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from protocols.pact.demo import STUDY_SLUG, load
from responses.models import Response
from studies.models import Session, Study
from tests.conftest import PASSWORD
from tests.e2e.participant import Look, answer, screen, send, walk

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 800}
CODE = "CDEMO1OK"
MOST_BYTES = 60_000
MOST_REQUESTS = 6
MOST_KEYS = 60

NewPage = Callable[..., Page]


@pytest.fixture
def study(transactional_db: None) -> Study:
    load(password=PASSWORD)
    return Study.objects.get(slug=STUDY_SLUG)


def entry(study: Study) -> str:
    return f"/s/{study.key}/?PROLIFIC_PID=5f0c1a2b3c4d5e6f7a8b9c0d&STUDY_ID=study1&SESSION_ID=submission1"


def assert_whole_walk(kinds: list[str]) -> None:
    assert kinds[:3] == ["consent", "demographics", "instructions"]
    assert sorted(kinds[3:-1]) == ["attention"] + ["item"] * 7
    assert kinds[-1] == "debrief"


def assert_stored() -> None:
    session = Session.objects.get()
    assert (session.status, session.attention_passed, session.simulated) == ("completed", True, False)
    stored = Response.objects.filter(respondent=session.respondent, question__in=["personal", "norm"])
    assert stored.count() == 14


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("viewport", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
def test_from_consent_to_the_code(
    new_page: NewPage, axe: Look, study: Study, viewport: dict[str, int], scheme: str
) -> None:
    page = new_page(viewport=viewport, color_scheme=scheme)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(entry(study))
    assert "5f0c1a2b" not in page.url

    def look(page: Page) -> None:
        axe(page)
        assert fits(page), f"{page.url} ({screen(page)}) is wider than the window"

    assert_whole_walk(walk(page, look))
    assert_stored()
    expect(page.locator(".completion-code")).to_have_text(CODE)
    expect(page.get_by_role("link", name="Complete on Prolific")).to_have_attribute("href", re.compile(f"cc={CODE}$"))
    page.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CODE


def test_without_scripts(new_page: NewPage, study: Study) -> None:
    page = new_page(viewport=PHONE, java_script_enabled=False)
    page.goto(entry(study))
    assert_whole_walk(walk(page))
    assert_stored()
    expect(page.locator(".completion-code")).to_have_text(CODE)
    expect(page.get_by_role("button", name="Copy the code")).to_be_hidden()


def test_by_keyboard_alone(page: Page, study: Study) -> None:
    page.goto(entry(study))
    assert_whole_walk(walk(page, send=answer_by_keys))
    assert_stored()


FOCUSED = "document.activeElement"
IS_OPTIONAL = f"!!{FOCUSED}.closest('fieldset').querySelector('.field-optional')"
OUTLINED = f"[{FOCUSED}, {FOCUSED}.closest('label')].some((e) => e && getComputedStyle(e).outlineStyle !== 'none')"


def answer_by_keys(page: Page) -> None:
    """Tab through the form; Space takes the focused option, arrows look for the right one, Enter sends."""
    for _ in range(MOST_KEYS):
        page.keyboard.press("Tab")
        inside = page.evaluate(f"{FOCUSED}.form?.matches('[data-screen]') ? {FOCUSED}.type : ''")
        assert not inside or page.evaluate(OUTLINED), f"the focus on {inside} is not visible"
        if inside == "submit":
            with page.expect_event("load"):
                page.keyboard.press("Enter")
            return
        if inside == "select-one":
            page.keyboard.press("ArrowDown")
        elif inside == "radio" and not page.evaluate(
            f"!!{FOCUSED}.closest('fieldset').querySelector('.field-optional')"
        ):
            page.keyboard.press("Space")
            while screen(page) == "attention" and page.evaluate(f"{FOCUSED}.value") != "blue":
                page.keyboard.press("ArrowDown")
    raise AssertionError(f"{MOST_KEYS} times Tab do not reach the button of {page.url}")


def test_reload_second_tab_and_back_lose_nothing_and_store_nothing_twice(new_page: NewPage, study: Study) -> None:
    page = new_page(viewport=PHONE)
    page.goto(entry(study))
    while screen(page) != "item":
        answer(page)
    scenario = page.locator(".scenario").inner_text()
    page.reload()
    assert page.locator(".scenario").inner_text() == scenario
    second_tab = page.context.new_page()
    second_tab.goto(page.url)
    chosen = page.locator("[name=personal]").first.get_attribute("value")
    answer(page)
    assert Response.objects.get(question="personal").value == chosen

    for group in second_tab.locator("fieldset.choices:not(:has(.field-optional))").all():
        group.locator(".choice").last.click()
    second_tab.get_by_role("button", name="Continue").click()
    expect(second_tab.get_by_text("was stored already")).to_be_visible()
    second_tab.close()

    page.goto(entry(study))  # the platform's link again
    expect(page.get_by_text("You have started already")).to_be_visible()
    answer(page)
    page.go_back()
    walk(page)
    assert_stored()
    assert Response.objects.filter(question="personal").order_by("pk")[0].value == chosen
    expect(page.locator(".completion-code")).to_have_text(CODE)


def go_to_item(page: Page, study: Study) -> None:
    page.goto(entry(study))
    while screen(page) != "item":
        answer(page)


@pytest.mark.parametrize(("width", "text"), [(360, "100%"), (320, "100%"), (320, "200%")])
def test_on_a_phone_the_scenario_is_whole_and_comes_back(
    new_page: NewPage, axe: Look, study: Study, width: int, text: str
) -> None:
    page = new_page(viewport={"width": width, "height": 640})
    enlarge = f"document.documentElement.style.fontSize = '{text}'"
    page.add_init_script(f"document.addEventListener('DOMContentLoaded', () => {{ {enlarge} }})")
    go_to_item(page, study)
    scenario, again = page.locator(".scenario"), page.locator(".scenario-again")
    assert scenario.evaluate("e => e.scrollHeight === e.clientHeight")
    assert fits(page)
    page.locator("#q-norm legend").evaluate("e => e.scrollIntoView()")
    assert scenario.evaluate("e => e.getBoundingClientRect().bottom <= 0")
    bar = again.locator("summary")
    before = page.locator("#q-norm").bounding_box()
    bar.click()
    expect(again.locator("div")).to_have_text(scenario.inner_text(), use_inner_text=True)
    assert page.locator("#q-norm").bounding_box() == before
    axe(page)
    last = again.locator("p").last
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    bar.click()
    expect(last).to_be_hidden()


def test_at_a_desk_the_scenario_stays(new_page: NewPage, study: Study) -> None:
    page = new_page(viewport=DESK)
    go_to_item(page, study)
    page.locator("form[data-screen] button").scroll_into_view_if_needed()
    scenario = page.locator(".scenario")
    expect(scenario).to_be_in_viewport(ratio=1)
    assert scenario.evaluate("e => e.scrollHeight === e.clientHeight")
    expect(page.locator(".scenario-again")).to_be_hidden()


@pytest.mark.parametrize("scripts", [True, False])
def test_back_and_reload_after_a_mended_mistake_are_pages(new_page: NewPage, study: Study, *, scripts: bool) -> None:
    page = new_page(viewport=PHONE, java_script_enabled=scripts)
    go_to_item(page, study)
    send(page)
    expect(page.get_by_text("There is a problem")).to_be_visible()
    page.reload()
    expect(page.get_by_text("There is a problem")).to_be_visible()
    answer(page)
    expect(page.locator("h1")).to_have_text("Situation 2 of 7")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Situation 2 of 7")
    expect(page.get_by_text("There is a problem")).to_have_count(0)
    assert Response.objects.filter(question="personal").count() == 1


def test_the_first_page_is_light(page: Page, study: Study) -> None:
    sizes: dict[str, int] = {}

    def note(request: Request) -> None:
        found = request.sizes()
        sizes[request.url] = found["responseBodySize"] + found["responseHeadersSize"]

    page.on("requestfinished", note)
    page.goto(entry(study), wait_until="networkidle")
    assert screen(page) == "consent"
    assert len(sizes) <= MOST_REQUESTS, sizes
    assert sum(sizes.values()) <= MOST_BYTES, sizes
