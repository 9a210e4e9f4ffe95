"""A researcher designs a study beside what participants will see."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from materials.models import Dataset, Instrument
from projects.models import Project, User
from studies.models import Study
from studies.services import begin_study


def test_what_is_typed_shows_in_the_preview_before_anything_is_saved(
    page: Page,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    login: Callable[[Page, User], None],
    researcher: User,
    axe: Callable[..., Any],
) -> None:
    study = begin_study(
        project=project,
        name="Tea",
        dataset=make_dataset(project),
        instrument=make_instrument(project),
        platform=Study.Platform.NONE,
        by=researcher,
    )
    login(page, researcher)
    page.goto(f"/p/{project.slug}/studies/{study.pk}/edit/")
    shown = page.frame_locator(".page-preview")
    expect(shown.get_by_text("Preview.")).to_be_visible()
    axe(page)

    page.get_by_label("Page", exact=True).select_option(label="1. Consent")
    expect(shown.get_by_text("You can stop at any time")).to_be_visible()
    page.get_by_text("Texts before the items").click()
    page.get_by_label("Consent", exact=True).fill("We store **almost nothing**.")
    expect(shown.locator("strong", has_text="almost nothing")).to_be_visible()
    expect(page.get_by_label("Page", exact=True)).to_have_value("0")

    page.get_by_text("People", exact=True).click()
    page.get_by_role("button", name="Add a question").first.click()
    expect(page.get_by_label("Why it is asked")).to_have_value("Answers are compared between countries.")
    page.get_by_label("What to add to questions about the person").select_option(label="Age group")
    page.get_by_role("button", name="Add a question").first.click()
    page.get_by_role("button", name="Move up: question 2").click()
    expect(page.get_by_text("Question 1: How old are you?")).to_be_visible()
    page.get_by_role("button", name="Remove question 1").click()
    expect(page.get_by_text("Question 1: In which country")).to_be_visible()
    page.get_by_text("Question 1: In which country").click()
    page.get_by_label("Question", exact=True).fill("Where do you live?")
    page.get_by_label("Page", exact=True).select_option(label="2. Demographics")
    expect(shown.get_by_text("Where do you live?")).to_be_visible()
    axe(page)
    page.get_by_label("Who may go on").fill("country")
    expect(page.get_by_role("link", name="Who may go on")).to_be_visible()
    assert Study.objects.get().demographics == []

    page.get_by_label("Who may go on").fill("country: India")
    page.get_by_label("Title", exact=True).press("Enter")  # saves, and is no press of the first button of a list
    expect(page.get_by_text("The draft is saved. It can be opened.")).to_be_visible()
    assert Study.objects.get().parsed_design.screening[0].allowed == ("India",)

    page.get_by_role("link", name="Languages", exact=True).click()
    page.get_by_label("Another language").fill("ar")
    page.get_by_role("button", name="Write it").click()
    page.get_by_label("Consent", exact=True).fill("نسأل عن **مواقف**")
    page.get_by_label("Page", exact=True).select_option(label="1. Consent")
    expect(shown.locator("[dir=rtl] strong", has_text="مواقف")).to_be_visible()
    axe(page)
