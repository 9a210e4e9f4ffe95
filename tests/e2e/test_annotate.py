"""An annotator labels with the keyboard alone, on a desk and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Draft, LabelProject, Submission
from annotation.services import add_flag, claim_next, create_label_project, publish_guidelines, set_status, submit
from materials.models import Dataset, Instrument
from projects.models import Project, Role, User
from projects.services import set_member
from responses.models import Response
from tests.annotation.conftest import PACT, answers, known

WORK = "/p/everyday-norms/labelling/validation/work/"
GUIDELINES = "## What to look for\n\nSay **yes** when the criterion holds.\n\n- Read the whole scenario first."


def content(i: int) -> dict[str, Any]:
    return {
        "scenario": f"Scenario {i}: A guest is offered a second cup of tea. She has had enough.\n\nThe host waits.",
        "actor": "guest",
        "receiver": "host",
    }


@pytest.fixture
def label_project(
    project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> LabelProject:
    return create_label_project(
        project=project,
        name="Validation",
        dataset=make_dataset(project, n=6, content=content),
        instrument=make_instrument(project, questions=PACT, name="validation"),
        guidelines=GUIDELINES,
        order="fixed",
        by=None,
    )


@pytest.fixture
def open_work(
    label_project: LabelProject, login: Callable[[Page, User], None], annotator: User
) -> Callable[[Page], Page]:
    def opened(page: Page) -> Page:
        login(page, annotator)
        page.goto(WORK)
        page.keyboard.press("Enter")  # the guidelines are read
        expect(page.locator(".question[data-active]")).to_be_visible()
        return page

    return opened


def item_number(page: Page, number: int) -> None:
    expect(page.locator(".item")).to_contain_text(f"Scenario {number}:")


def test_five_items_by_keyboard(page: Page, open_work: Callable[[Page], Page], axe: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    open_work(page)
    axe(page)
    for number in range(5):
        item_number(page, number)
        page.keyboard.type("1y2" if number else "1n1")  # digits go to the first open question, letters are its own keys
        if number == 1:
            page.keyboard.press("t")
            page.keyboard.type("2 cups, s or f")
            page.keyboard.press("Escape")
        page.keyboard.press("Enter")
    item_number(page, 5)
    expect(page.get_by_text("Done: 5 of 6")).to_be_visible()
    durations = page.evaluate("performance.getEntriesByName('next-item').map((entry) => entry.duration)")
    assert len(durations) == 5
    assert min(durations) > 0
    print("milliseconds from key to next item:", [round(duration) for duration in durations])
    assert Response.objects.filter(question="plausible", value="yes").count() == 5
    assert Response.objects.filter(question="clear", value="no").count() == 1
    assert Response.objects.filter(question="neutral", value="no").count() == 4
    assert Response.objects.get(question="note").value == "2 cups, s or f"
    assert all((response.seconds or 0) > 0 for response in Response.objects.all())


def test_a_reload_keeps_the_draft(page: Page, open_work: Callable[[Page], Page]) -> None:
    open_work(page)
    expect(page.get_by_text("Saved", exact=True)).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("t")
    with page.expect_response("**/draft/"):
        page.keyboard.type("half a thought")
    expect(page.locator("[data-saved]")).to_have_class("saved saved-now")
    page.reload()
    expect(page.locator("textarea")).to_have_value("half a thought")
    expect(page.locator("[name=answer_plausible][value=yes]")).to_be_checked()
    assert Draft.objects.get().answers["note"] == "half a thought"


def test_a_reload_at_once_keeps_a_choice_and_the_last_words(page: Page, open_work: Callable[[Page], Page]) -> None:
    open_work(page)
    page.keyboard.press("2")
    page.reload()
    expect(page.locator("[name=answer_plausible][value=no]")).to_be_checked()
    page.keyboard.press("t")
    page.keyboard.type("last words")
    page.reload()
    expect(page.locator("textarea")).to_have_value("last words")
    expect(page.locator("[name=answer_plausible][value=no]")).to_be_checked()
    expect(page.get_by_text("Saved", exact=True)).to_have_count(1)
    assert Draft.objects.get().answers["note"] == "last words"


def test_saved_is_said_only_once_the_server_has_it(
    new_page: Callable[..., Page], open_work: Callable[[Page], Page]
) -> None:
    page = open_work(new_page(allow=["ERR_FAILED"]))
    page.route("**/draft/", lambda route: route.abort())
    page.keyboard.press("1")
    expect(page.get_by_text("The server cannot be reached")).to_be_visible()
    expect(page.get_by_text("Saved", exact=True)).to_have_count(0)
    page.unroute("**/draft/")
    page.keyboard.press("2")
    expect(page.get_by_text("Saved", exact=True)).to_have_count(1)
    assert set(Draft.objects.get().answers) == {"plausible", "clear", "note"}


def test_undo_changes_the_last_answer_and_goes_forward_again(page: Page, open_work: Callable[[Page], Page]) -> None:
    open_work(page)
    page.keyboard.type("111")
    page.keyboard.press("Enter")
    item_number(page, 1)
    page.keyboard.press("u")
    item_number(page, 0)
    expect(page.locator("[name=answer_neutral][value=yes]")).to_be_checked()
    page.locator("[name=answer_neutral]").first.focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    item_number(page, 1)
    history = Response.objects.filter(question="neutral").order_by("pk")
    assert [(response.value, response.superseded_by_id is None) for response in history] == [
        ("yes", False),
        ("no", True),
    ]
    page.keyboard.press("ArrowLeft")
    item_number(page, 0)
    for key in ("Tab", "Enter", "Tab"):  # by the link over the item and its arrows
        page.keyboard.press(key)
    expect(page.locator("[name=answer_plausible][value=yes]")).to_be_focused()
    page.locator(".item").focus()
    page.keyboard.press("ArrowRight")
    item_number(page, 1)


UNIQUE_KEYS = [
    {
        "kind": "choice",
        "code": code,
        "text": f"Is it {code}?",
        "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
    }
    for code in ("plausible", "clear")
]


def test_a_shown_key_works_at_its_question_whatever_was_answered(
    *,
    page: Page,
    login: Callable[[Page, User], None],
    annotator: User,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
) -> None:
    create_label_project(
        project=project,
        name="Validation",
        dataset=make_dataset(project, n=2, content=content),
        instrument=make_instrument(project, questions=UNIQUE_KEYS, name="unique"),
        order="fixed",
        by=None,
    )
    login(page, annotator)
    page.goto(WORK)
    chosen = page.locator(".question :checked")

    def expect_chosen(*values: str) -> None:
        expect(chosen).to_have_count(len(values))
        assert chosen.evaluate_all("inputs => inputs.map((input) => `${input.name} ${input.value}`)") == list(values)

    expect(page.locator(".question kbd:visible")).to_have_text(["1", "2", "3", "4"])
    page.keyboard.press("1")
    expect_chosen("answer_plausible yes")
    page.keyboard.press("2")
    expect_chosen("answer_plausible no")
    page.keyboard.type("31")
    expect_chosen("answer_plausible yes", "answer_clear yes")
    page.keyboard.press("Enter")
    item_number(page, 1)
    page.keyboard.press("u")
    item_number(page, 0)
    expect_chosen("answer_plausible yes", "answer_clear yes")
    page.keyboard.press("2")
    expect_chosen("answer_plausible no", "answer_clear yes")
    page.keyboard.press("Enter")
    item_number(page, 1)
    history = Response.objects.filter(question="plausible").order_by("pk")
    assert [(response.value, response.superseded_by_id is None) for response in history] == [
        ("yes", False),
        ("no", True),
    ]
    assert [response.value for response in Response.objects.filter(question="clear", superseded_by=None)] == ["yes"]


def test_shared_keys_show_at_the_marked_question_only(page: Page, open_work: Callable[[Page], Page]) -> None:
    open_work(page)
    keys = page.locator(".question .choice kbd:visible")
    marked = page.locator(".question[data-active]")
    expect(keys).to_have_text(["Y", "N"])
    page.keyboard.type("yyy")
    page.keyboard.press("Enter")
    item_number(page, 1)
    page.keyboard.press("u")
    item_number(page, 0)
    expect(marked).to_have_attribute("data-question", "answer_plausible")
    expect(keys).to_have_text(["Y", "N"])
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    item_number(page, 1)
    assert Response.objects.get(question="plausible", superseded_by=None).value == "no"


def test_skip_flag_guidelines_and_keys(
    page: Page, open_work: Callable[[Page], Page], axe: Callable[[Page], None], label_project: LabelProject
) -> None:
    open_work(page)
    for key, title in [("g", "Guidelines"), ("?", "Keys")]:
        page.keyboard.press(key)
        expect(page.get_by_role("dialog", name=title)).to_be_visible()
        axe(page)
        page.keyboard.press("Escape")
    page.keyboard.press("f")
    page.keyboard.type("odd wording")
    page.keyboard.press("Enter")
    expect(page.get_by_text("odd wording")).to_be_visible()
    item_number(page, 0)
    publish_guidelines(label_project=label_project, text="Say **no** when in doubt.", by=None)
    page.keyboard.press("s")
    page.keyboard.type("not my language")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The guidelines have changed")).to_be_visible()
    axe(page)
    page.keyboard.press("Enter")
    item_number(page, 1)
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("in doubt")
    assert Assignment.objects.get(status="skipped").skip_reason == "not my language"


def test_missing_answers_are_named_and_nothing_is_lost(
    new_page: Callable[..., Page], open_work: Callable[[Page], Page], axe: Callable[[Page], None]
) -> None:
    page = open_work(new_page(allow=["422"]))
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("An answer is required")
    expect(page.locator("[name=answer_plausible][value=no]")).to_be_checked()
    axe(page)
    page.keyboard.type("11")
    page.keyboard.press("Enter")
    item_number(page, 1)


def test_a_lost_connection_loses_nothing(new_page: Callable[..., Page], open_work: Callable[[Page], Page]) -> None:
    page = open_work(new_page(allow=["ERR_INTERNET_DISCONNECTED"], viewport={"width": 360, "height": 500}))
    page.context.set_offline(True)
    page.keyboard.type("111")
    page.get_by_role("button", name="Submit").click()  # far below the top
    expect(page.get_by_text("kept on this device")).to_be_in_viewport()
    item_number(page, 0)
    page.context.set_offline(False)
    item_number(page, 1)
    assert Response.objects.filter(value="yes").count() == 3


@pytest.mark.parametrize("gone", [{"name": "sessionid"}, {}], ids=["session ended", "all cookies gone"])
def test_an_ended_login_loses_nothing(
    page: Page,
    open_work: Callable[[Page], Page],
    login: Callable[[Page, User], None],
    annotator: User,
    gone: dict[str, str],
) -> None:
    open_work(page)
    page.context.clear_cookies(**gone)
    page.keyboard.type("111")
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Log in in a new tab")
    expect(link).to_be_visible()
    expect(page.get_by_text("kept on this device")).to_be_visible()  # drafts ask for the login as well
    expect(page.locator("[name=answer_plausible][value=yes]")).to_be_checked()
    with page.expect_popup() as tab:
        link.click()
    expect(tab.value.get_by_role("button", name="Log in")).to_be_visible()
    login(page, annotator)
    page.evaluate("window.dispatchEvent(new Event('focus'))")  # the person comes back to this tab
    item_number(page, 1)
    expect(link).to_be_hidden()
    assert Response.objects.filter(value="yes").count() == 3


def test_logging_in_again_in_another_tab_sends_what_waits(
    page: Page, open_work: Callable[[Page], Page], login: Callable[[Page, User], None], annotator: User, outsider: User
) -> None:
    open_work(page)
    page.context.clear_cookies(name="sessionid")
    page.keyboard.type("111")
    page.keyboard.press("Enter")
    expect(page.get_by_text("kept on this device")).to_be_visible()
    set_member(project=Project.objects.get(), user=outsider, role=Role.ANNOTATOR, by=None)
    for user, then in [(outsider, "Somebody else is logged in now"), (annotator, "Scenario 1:")]:
        login(page, user)
        tab = page.context.new_page()
        tab.goto(f"{WORK}back/")
        expect(page.get_by_text(then)).to_be_visible()
    assert Response.objects.filter(value="yes").count() == 3
    assert not Response.objects.exclude(respondent__key=f"annotator:{annotator.pk}").exists()


def test_a_persons_own_keys(page: Page, open_work: Callable[[Page], Page]) -> None:
    open_work(page)
    dialog, words = page.get_by_role("dialog", name="Keys"), page.locator("[data-key-words]")

    def change(action: str, key: str) -> None:
        dialog.locator(f"[data-change-key={action}]").click()
        page.keyboard.press(key)

    page.keyboard.press("?")
    for key, refusal in [("s", "something else"), ("y", "chooses an option"), ("4", "Digits")]:
        change("flag", key)
        expect(words).to_contain_text(refusal)
        page.keyboard.press("Escape")
        expect(dialog).to_be_visible()
    change("flag", "x")
    expect(dialog.locator("[data-key-of=flag]")).to_have_text("X")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".work [data-key-of=flag]")).to_have_text("X")
    page.keyboard.press("t")
    page.keyboard.type("xf")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("x")
    expect(page.get_by_role("dialog", name="Flag this item")).to_be_visible()


def test_training_a_break_and_a_verdict_by_keyboard(
    page: Page,
    open_work: Callable[[Page], Page],
    axe: Callable[[Page], None],
    label_project: LabelProject,
    annotator: User,
) -> None:
    known(label_project, "training", 1)
    LabelProject.objects.update(break_every=1)
    open_work(page)
    page.keyboard.type("222")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not right")).to_be_visible()
    axe(page)
    page.keyboard.press("Enter")
    item_number(page, 0)
    page.keyboard.type("111")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Time for a break")).to_be_visible()
    axe(page)
    place = claim_next(LabelProject.objects.get(), annotator)
    assert place
    Assignment.objects.filter(pk=place.pk).update(suggested={"clear": "no"}, suggested_as="audited")
    page.keyboard.press("Enter")
    item_number(page, 1)
    axe(page)
    page.keyboard.type("1w")
    expect(page.get_by_label("Wrong: Yes")).to_be_checked()
    page.keyboard.type("r1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Time for a break")).to_be_visible()
    assert Response.objects.get(question="clear", source_id=place.pk).value == "no"
    assert Submission.objects.filter(seconds__gt=0).count() == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_and_the_done_page(
    new_page: Callable[..., Page],
    open_work: Callable[[Page], Page],
    axe: Callable[[Page], None],
    label_project: LabelProject,
    scheme: str,
) -> None:
    page = open_work(new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True))
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for name in ("plausible", "clear", "neutral"):
        page.locator(f".choice:has([name=answer_{name}])").first.tap()
    page.get_by_role("button", name="Submit").tap()
    item_number(page, 1)
    set_status(label_project=label_project, status="closed", by=None)
    page.goto(WORK)
    expect(page.get_by_text("closed this labelling project")).to_be_visible()
    expect(page.get_by_text("You answered 1 item.")).to_be_visible()
    axe(page)


EVERY_KIND = [
    {
        "kind": "pairwise",
        "code": "better",
        "text": "Which reply is better?",
        "first_field": "one",
        "second_field": "two",
    },
    {
        "kind": "multi",
        "code": "tones",
        "text": "Which tones?",
        "options": [{"code": code, "text": code} for code in ("warm", "formal", "curt")],
    },
    {"kind": "scale", "code": "sure", "text": "How sure are you?", "low_label": "not at all", "high_label": "fully"},
    {"kind": "text", "code": "why", "text": "Why unsure?", "show_if": {"question": "sure", "any_of": [1, 2]}},
    {"kind": "number", "code": "age", "text": "Age of the speaker", "required": False, "integer": True},
]


def test_every_kind_of_question_by_keyboard(
    *,
    page: Page,
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    annotator: User,
    project: Project,
    make_dataset: Callable[..., Dataset],
    make_instrument: Callable[..., Instrument],
) -> None:
    create_label_project(
        project=project,
        name="Pairs",
        dataset=make_dataset(project, n=2, content=lambda i: {"one": f"Reply {i}", "two": "No.", "turns": ["a", "b"]}),
        instrument=make_instrument(project, questions=EVERY_KIND, name="pairs"),
        by=None,
        order="fixed",
    )
    login(page, annotator)
    page.goto("/p/everyday-norms/labelling/pairs/work/")
    why = page.get_by_label("Why unsure?")
    expect(why).to_be_hidden()
    axe(page)
    page.keyboard.type("780")  # the right-hand reply and two tones
    page.keyboard.press("Enter")
    expect(page.locator("[data-question=answer_sure]")).to_have_attribute("data-active", "")
    page.keyboard.type("2")  # on the scale, whose points are their own keys
    expect(why).to_be_visible()
    expect(page.get_by_text("An answer is required.")).to_have_count(0)
    page.keyboard.press("t")
    page.keyboard.type("first line")
    page.keyboard.press("Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.keyboard.type("31")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".item")).to_contain_text("Reply 1")
    place = Assignment.objects.get(status="submitted")
    stored = dict(Response.objects.values_list("question", "value"))
    assert stored == {
        "better": place.orders["better"][1],
        "tones": ["warm", "curt"],
        "sure": 2,
        "why": "first line\nsecond line",
        "age": 31,
    }


def test_the_researchers_pages_have_no_barriers(
    *,
    page: Page,
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    researcher: User,
    annotator: User,
    label_project: LabelProject,
) -> None:
    place = claim_next(label_project, annotator)
    assert place
    add_flag(place, annotator, "odd wording")
    submit(place, annotator, answers(), simulated=True)
    login(page, researcher)
    for path in ("", "new/", "validation/"):
        page.goto(f"/p/everyday-norms/labelling/{path}")
        axe(page)
    page.set_viewport_size({"width": 360, "height": 740})
    axe(page)
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("Labelling is closed.")).to_be_visible()
