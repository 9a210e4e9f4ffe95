"""An annotator ranks, chooses best and worst, slides, and marks passages, with the keyboard alone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.services import create_label_project
from materials.models import Dataset, Instrument
from projects.models import Project, User
from responses.models import Response

WORK = "/p/everyday-norms/labelling/marks/work/"
REPLY = "Tea 🍵🍵 is cafe\u0301.\r\nIt cools. I like it."
TONES = [{"code": code, "text": code.capitalize()} for code in ("warm", "plain", "formal")]
QUESTIONS: list[dict[str, Any]] = [
    {"kind": "rank", "code": "order", "text": "Which tones fit?", "help": "Of the reply.", "options": TONES},
    {"kind": "best_worst", "code": "ends", "text": "Best and worst?", "options": TONES},
    {
        "kind": "span",
        "code": "marks",
        "text": "Mark facts and views.",
        "field": "reply",
        "labels": [{"code": "fact", "text": "Fact", "hotkey": "a"}, {"code": "view", "text": "View", "hotkey": "v"}],
    },
    {
        "kind": "number",
        "code": "share",
        "text": "How sure are you?",
        "minimum": 0,
        "maximum": 10,
        "integer": True,
        "slider": True,
        "low_label": "not at all",
        "high_label": "fully",
    },
]
CONTENT = {
    "question": "Is $x^2 > 0$ for \\(x \\ne 0\\)? It costs $5 or $6.\n\n```py\nprint(1)\n```",
    "reply": REPLY,
    "turns": [{"role": "user" if n % 2 else "assistant", "content": f"Turn {n}"} for n in range(20)],
}


@pytest.fixture
def work(
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    login: Callable[[Page, User], None],
    annotator: User,
) -> Callable[[Page], Page]:
    create_label_project(
        project=project,
        name="Marks",
        dataset=make_dataset(project, n=2, content=lambda i: CONTENT),
        instrument=make_instrument(project, questions=QUESTIONS, name="marks"),
        item_fields=[{"field": "question", "format": "markdown"}, "reply", "turns"],
        order="fixed",
        by=None,
    )

    def opened(page: Page) -> Page:
        login(page, annotator)
        page.goto(WORK)
        expect(page.locator(".question[data-active]")).to_be_visible()
        return page

    return opened


def place(page: Page, option: str) -> str:
    return page.locator(f"select[name='answer_order:{option}']").input_value()


def test_all_by_keyboard(page: Page, work: Callable[[Page], Page], axe: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    work(page)
    expect(page.locator(".item math").first).to_be_visible()
    expect(page.locator(".item")).to_contain_text("It costs $5 or $6.")
    expect(page.get_by_text("Turn 2", exact=True)).to_be_hidden()
    axe(page)

    page.keyboard.type("21")
    page.keyboard.press("Backspace")
    page.keyboard.type("31")
    assert [place(page, option) for option in ("warm", "plain", "formal")] == ["3", "1", "2"]
    page.keyboard.type("46")  # the mark has gone on to the next question: its first and third option

    page.keyboard.press("t")  # the text to mark
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("a")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("v")
    expect(page.locator("[data-marks] li")).to_have_count(2)
    page.keyboard.press("Backspace")
    expect(page.locator("[data-marks] li")).to_have_count(1)
    expect(page.locator("[data-marks]")).to_contain_text("Tea 🍵")
    page.keyboard.press("ArrowRight")
    with page.expect_response("**/draft/"):
        page.keyboard.press("v")

    slider = page.get_by_role("slider")
    expect(slider).to_have_attribute("aria-valuetext", "no answer yet")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(slider).to_be_focused()
    page.keyboard.press("ArrowRight")
    axe(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("[data-marks] li")).to_have_count(0)  # the next item

    stored = dict(Response.objects.values_list("question", "value"))
    assert stored["order"] == ["plain", "formal", "warm"]
    assert stored["ends"] == {"best": "warm", "worst": "formal"}
    assert stored["share"] == 6
    passages = [(REPLY[span["start"] : span["end"]], span["label"]) for span in stored["marks"]]
    assert passages[0][1] == "fact"
    assert passages[0][0].startswith("Tea 🍵")
    assert passages[1] == ("cafe\u0301", "view")


def test_marks_survive_a_reload_and_the_mouse_selects(page: Page, work: Callable[[Page], Page]) -> None:
    work(page)
    page.locator("[data-marked]").evaluate(
        """(text) => {
          const node = text.firstChild, start = text.textContent.indexOf("It cools");
          document.getSelection().setBaseAndExtent(node, start - 1, node, start + 9);
        }"""
    )
    with page.expect_response("**/draft/"):
        page.get_by_role("button", name="Fact").click()
    page.reload()
    expect(page.locator("[data-marks]")).to_contain_text("It cools.")
    start = REPLY.index("It cools")
    assert page.locator("textarea[name='answer_marks']").input_value() == f"fact {start}-{start + 9}: It cools."


def test_the_same_digits_serve_each_question_in_turn_and_the_text_to_mark(
    page: Page,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
    login: Callable[[Page, User], None],
    annotator: User,
) -> None:
    labels = [{"code": "fact", "text": "Fact"}, {"code": "view", "text": "View"}]
    questions = [
        {"kind": "scale", "code": "fit", "text": "How fitting?", "minimum": 1, "maximum": 5},
        {"kind": "rank", "code": "order", "text": "Which tones fit?", "options": TONES},
        {"kind": "span", "code": "marks", "text": "Mark.", "field": "reply", "labels": labels, "required": False},
        {"kind": "scale", "code": "sure", "text": "How sure?", "minimum": 1, "maximum": 5},
    ]
    create_label_project(
        project=project,
        name="Marks",
        dataset=make_dataset(project, n=1, content=lambda i: CONTENT),
        instrument=make_instrument(project, questions=questions, name="digits"),
        item_fields=["reply"],
        by=None,
    )
    login(page, annotator)
    page.goto(WORK)
    page.keyboard.press("t")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("2")
    page.keyboard.press("Escape")
    page.keyboard.type("43214")  # the first scale, three places, the second scale
    expect(page.locator("[data-marks] li")).to_have_text("View Tea Remove")
    assert [place(page, option) for option in ("warm", "plain", "formal")] == ["3", "2", "1"]
    expect(page.locator("[name=answer_fit]:checked")).to_have_value("4")
    expect(page.locator("[name=answer_sure]:checked")).to_have_value("4")
