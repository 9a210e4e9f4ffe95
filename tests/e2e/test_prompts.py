"""A researcher previews and changes a prompt without JavaScript; its pages have no barrier on any screen."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from llm.prompting.prompt_publishing import publish_prompt
from materials.models import Dataset, Instrument
from projects.models import Project, User

pytestmark = pytest.mark.django_db(transaction=True)
SCREENS = (({"width": 1280, "height": 800}, "light"), ({"width": 360, "height": 740}, "dark"))


@pytest.fixture
def page_of_prompt(
    project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> str:
    make_dataset(project, n=3)
    make_instrument(project)
    prompt = publish_prompt(project=project, name="ask", system="Be kind.", user="Is this usual?\n{{ item.text }}")
    return reverse("prompt", args=[project.slug, prompt.pk])


def test_a_prompt_is_changed_compared_and_previewed_without_javascript(
    new_page: Callable[..., Page], login: Callable[[Page, User], None], researcher: User, page_of_prompt: str
) -> None:
    page = new_page(java_script_enabled=False)
    login(page, researcher)
    page.goto(page_of_prompt)
    page.get_by_role("link", name="New version").click()
    page.get_by_label("User").fill("Is this usual there?\n{{ item.text }} {{ condition.tone }}")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("condition.tone").fill("Be kind.")
    page.get_by_label("condition.tone").press("Enter")
    page.get_by_role("button", name="Next item").click()
    assert "Scenario 1 Be kind." in page.get_by_label("User message").inner_text()
    page.get_by_role("button", name="Publish").click()
    page.get_by_label("condition.tone").fill("Be blunt.")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Next").click()
    assert "Scenario 1 Be blunt." in page.get_by_label("User message").inner_text()
    page.get_by_role("link", name="What changed").click()
    expect(page.locator("ins").first).to_have_text("there")


def test_what_changed_a_preview_and_a_fault_have_no_barrier(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    researcher: User,
    project: Project,
    page_of_prompt: str,
) -> None:
    newest = publish_prompt(project=project, name="ask", system="", user="Is this usual there?\n{{ item.text }}")
    page = new_page(allow=["422"], reduced_motion="reduce")
    login(page, researcher)

    def look() -> None:
        for viewport, scheme in SCREENS:
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
            axe(page)

    page.goto(reverse("prompt_changes", args=[project.slug, newest.pk]))
    look()
    page.goto(reverse("prompt_new", args=[project.slug]) + f"?from={newest.pk}")
    page.get_by_label("User").fill("Is this usual?\n{{ itme.text }}")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Publish anyway")).to_be_visible()
    look()
    page.get_by_label("User", exact=True).fill("one\n{{ item.text")
    page.get_by_role("button", name="Publish").click()
    assert "→   2" in page.get_by_label("the lines around the fault").inner_text()
    look()
