"""A researcher writes questions in a form, copies, moves and publishes them, and turns them into JSON and back."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from materials.models import Dataset, Instrument
from projects.models import Project, User

PHONE = {"width": 360, "height": 740}


def test_an_instrument_is_written_without_json(
    page: Page,
    project: Project,
    make_dataset: Callable[..., Dataset],
    login: Callable[[Page, User], None],
    researcher: User,
    axe: Callable[[Page], None],
) -> None:
    make_dataset(project, n=1, content=lambda i: {"text": "Who pays?", "option_a": "The host", "option_b": "All"})
    login(page, researcher)
    page.goto(f"/p/{project.slug}/materials/instruments/new/")
    shown = page.locator("#draft-preview")
    add = page.get_by_role("button", name="Add a question")
    for kind, sees in (
        ("One of the item's own texts", shown.get_by_role("radio", name="The host")),
        ("A number on a labelled scale", shown.get_by_role("group", name="How appropriate is it?")),
        ("Passages of one of the item's texts", shown.get_by_text("reply_a, which these questions show")),
    ):
        page.get_by_label("What to add to questions").select_option(label=kind)
        add.click()
        expect(sees).to_be_visible()
    page.get_by_label("Field of the item in which passages are marked").fill("text")
    page.get_by_label("What a passage can be marked as").fill("who | A person | p")
    expect(shown.get_by_role("group", name="Mark what the reply says")).to_contain_text("A person")
    axe(page)

    page.get_by_role("button", name="Copy question 2").click()
    copy = page.locator(".row-of").nth(2)
    expect(copy.get_by_label("Code")).to_have_value("appropriate_2")
    copy.get_by_label("Question", exact=True).fill("How usual is it?")
    copy.get_by_text("More about it").click()
    copy.get_by_label("Asked only after").fill("own_action: c")
    fault = "appropriate_2 depends on c, which is no answer of own_action."
    expect(shown.get_by_text(fault)).to_be_visible()
    page.get_by_label("Title").fill("Who pays")
    page.get_by_label("Name", exact=True).fill("pays")
    page.get_by_role("button", name="Preview").click()
    expect(copy.locator(".field-error")).to_have_text(fault)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    axe(page)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")

    copy.get_by_label("Asked only after").fill("own_action: b")
    page.get_by_role("button", name="JSON", exact=True).click()
    page.get_by_text("Any number", exact=True).click()
    page.locator("details", has_text="Any number").get_by_role("button", name="Add to the questions").click()
    expect(page.get_by_label("Questions as JSON")).to_be_focused()
    axe(page)
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_text("Question 5: How many guests are there?")).to_be_visible()
    page.get_by_role("button", name="Move up: question 5").click()
    expect(page.get_by_text("Question 4: How many guests are there?")).to_be_visible()
    page.get_by_role("button", name="Publish version").click()
    expect(page.get_by_text("Who pays (version 1) is published.")).to_be_visible()
    questions = Instrument.objects.get().questionnaire.questions
    assert [question.code for question in questions] == [
        "own_action",
        "appropriate",
        "appropriate_2",
        "guests",
        "claims",
    ]
    assert questions[2].show_if.any_of == ("b",)
    assert questions[4].labels[0].hotkey == "p"
