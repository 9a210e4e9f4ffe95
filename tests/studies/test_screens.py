"""Pages of an item, the comprehension check, the platform id, drafts and paradata, as a browser without JavaScript."""

import pytest

from projects.crypto import decrypt
from responses.models import Respondent, Response
from studies.models import PlatformIdentity, Screen, Session
from studies.paradata import read_paradata
from studies.services import open_study
from tests.studies.conftest import CHECK, KNOWS, QUESTIONS, Participant

pytestmark = pytest.mark.django_db


@pytest.fixture
def opened(draft):
    def make(**given):
        return Participant(open_study(study=draft(**given), by=None))

    return make


def answer_until(person, outcome_or_code):
    """Right answers until a page asks this question or the session ends so; the codes of each page on the way."""
    seen = []
    for _ in range(30):
        if person.page.outcome == outcome_or_code or outcome_or_code in person.page.fields:
            return seen
        seen.append(list(person.page.fields))
        person.send(
            {
                code: value
                for code, value in person.right_answers().items()
                if code in person.page.fields or code == "consent"
            }
        )
    raise AssertionError(f"{outcome_or_code} never comes")


def test_linked_pairs_come_in_sequence_with_one_order(opened):
    person = opened(design={"groups": [["personal"], ["norm"], ["importance", "why"]], "asked_on": {"why": 1}})
    person.enter()
    pages = [page for page in answer_until(person, "completed") if set(page) & {"personal", "norm", "importance"}]
    assert [page[:1] for page in pages] == [["personal"], ["norm"], ["importance"]] * 3
    assert sum("why" in page for page in pages) == 1
    assert Response.objects.count() == 9
    for item in Screen.objects.filter(kind="item", group=0).values_list("item", flat=True):
        orders = Screen.objects.filter(item=item, group__lt=2).values_list("orders", flat=True)
        assert len({tuple(order) for one in orders for order in one.values()}) == 1


def test_a_page_on_which_nothing_is_left_to_ask_is_passed_over(opened):
    why = {
        "kind": "text",
        "code": "why",
        "text": "Why not?",
        "show_if": {"question": "personal", "any_of": ["culture"]},
    }
    design = {"groups": [["personal"], ["why"]], "items_each": 2, "balance": []}
    person = opened(questions=[QUESTIONS[0], why], design=design, texts={"debrief": ""})
    person.go_to("item")
    person.send({"personal": "culture"})
    assert list(person.page.fields) == ["why"]
    person.send({"why": "So."})
    while person.page.screen:
        person.send({"personal": "preference", "colour": "blue"})
    assert person.page.outcome == "completed"  # the last page was passed over, and the session ended with it
    assert sorted(Response.objects.values_list("question", flat=True)) == ["personal", "personal", "why"]


def test_two_tries_to_understand_and_a_form_sent_twice_is_one(opened):
    person = opened(design={"comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}}})
    page = person.go_to("comprehension")
    assert "Read each situation." in person.html
    wrong = {"about": "sums", "tries": "0"}
    for _ in range(2):
        person.send(wrong, page)
        assert "you can answer once more" in person.html
    assert Screen.objects.get(kind="comprehension").tries == 1
    person.send({"about": "sums", "tries": "1"}, page)
    assert person.page.outcome == "failed_comprehension"
    session = Session.objects.get()
    assert (session.given_back_why, session.respondent) == ("ended", None)
    assert 'choose "Stop without completing"' in person.html.replace("&quot;", '"')


def test_who_understands_at_the_second_try_goes_on(opened):
    person = opened(design={"comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}}})
    person.go_to("comprehension")
    person.send({"about": "sums", "tries": "0"})
    assert person.page.fields["about"].checked == ["sums"]
    person.send({"about": "customs", "tries": "1"})
    assert person.page.screen == "item"


def test_so_many_failed_checks_fail(opened):
    checks = [CHECK, {"question": CHECK["question"] | {"code": "hue"}, "expected": "red"}]
    for limit, end in ((2, "failed_attention"), (1, "failed_attention")):
        person = opened(design={"attention_checks": checks, "attention_limit": limit}, slug=f"limit-{limit}")
        answers = {"colour": "red", "hue": "red" if limit == 1 else "blue"}
        while person.go_to_next(answers).screen:
            pass
        assert person.page.outcome == end


def test_one_failed_check_of_two_is_no_failure_where_two_are(opened):
    checks = [CHECK, {"question": CHECK["question"] | {"code": "hue"}, "expected": "red"}]
    person = opened(design={"attention_checks": checks, "attention_limit": 2})
    while person.go_to_next({"colour": "red", "hue": "red"}).screen:
        pass
    assert person.page.outcome == "completed"
    assert Session.objects.get().attention_passed


def test_the_platform_id_is_confirmed_by_its_ending(opened):
    person = opened(design={"confirm_platform_id": True})
    page = person.go_to("platform_id")
    assert person.pid[-6:] in person.html
    assert person.pid not in person.html
    assert decrypt(PlatformIdentity.objects.get().participant_encrypted) == person.pid
    assert person.send({"platform_id": "no"}, page).screen == "platform_id"
    assert "open the study from Prolific with your own account" in person.html
    assert person.send({"platform_id": "yes"}, page).screen == "demographics"
    assert Screen.objects.get(kind="platform_id").answers == {"platform_id": "yes"}


def test_what_is_typed_comes_back_and_goes_with_the_answer(opened):
    person = opened()
    page = person.go_to("item")
    draft = f"{page.action}draft/"
    assert person.client.post(draft, {"why": "Because I", "personal": "culture", "other": "x"}).status_code == 204
    assert Screen.objects.exclude(draft={}).get().draft == {"why": "Because I", "personal": "culture"}
    person.enter()
    assert ">Because I</textarea>" in person.html
    assert person.page.fields["personal"].checked == ["culture"]
    person.send(person.right_answers() | {"paradata": '{"pastes": 2, "text": "secret", "seconds": 4.5}'}, page)
    screen = Screen.objects.get(pk=Screen.objects.filter(kind="item", answered_at__isnull=False).get().pk)
    assert (screen.draft, screen.paradata) == ({}, {"pastes": 2, "seconds": 4.5})
    assert person.client.post(draft, {"why": "late"}).status_code == 409
    assert Respondent.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('{"seconds": 3, "pastes": true, "resizes": -1, "focus_losses": "2", "x": 1}', {"seconds": 3}),
        ('{"seconds": NaN, "hidden_seconds": 1e300, "pastes": 0}', {"pastes": 0}),
        ("[1]", {}),
        ("[" * 2000, {}),
        ("", {}),
    ],
)
def test_paradata_are_numbers(text, numbers):
    assert read_paradata(text) == numbers
