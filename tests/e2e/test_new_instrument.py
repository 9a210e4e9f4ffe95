"""A researcher puts a list of questions together from the examples."""

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from projects.models import Project, User


def test_examples_are_added_to_the_questions(
    page: Page, project: Project, login: Callable[[Page, User], None], researcher: User, axe: Callable[[Page], None]
) -> None:
    login(page, researcher)
    page.goto(f"/p/{project.slug}/materials/instruments/new/")
    for title in ("One of some answers", "An answer in words, asked only after another one"):
        page.get_by_text(title, exact=True).click()
        page.locator("details", has_text=title).get_by_role("button", name="Add to the questions").click()
        expect(page.get_by_label("Questions")).to_be_focused()
    axe(page)
    typed = page.get_by_label("Questions").input_value()
    assert [question["code"] for question in json.loads(typed)] == ["usual", "why"]

    page.get_by_label("Questions").fill("[{")
    page.get_by_role("button", name="Add to the questions").first.click()
    assert page.get_by_label("Questions").input_value().startswith("[{")  # what is no list yet is kept
