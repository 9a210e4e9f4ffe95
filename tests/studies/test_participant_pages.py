"""Every page of a participant, as a browser without JavaScript and with CSRF checks on sees it."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from responses.models import Response
from studies.models import Screen, Session
from studies.services import open_study
from tests.studies.conftest import QUESTIONS, Participant, content

pytestmark = pytest.mark.django_db


def test_the_whole_way(participant):
    page = participant.enter()
    assert (page.screen, page.heading) == ("consent", "Everyday customs")
    assert "PROLIFIC" not in participant.response.request["QUERY_STRING"]
    assert "<strong>your answers</strong>" in participant.html
    kinds = []
    while participant.page.screen:
        kinds.append(participant.page.screen)
        assert not any(field.checked for field in participant.page.fields.values())
        participant.send(participant.right_answers())
    assert kinds[:3] == ["consent", "demographics", "instructions"]
    assert sorted(kinds[3:-1]) == ["attention", "item", "item", "item"]
    assert kinds[-1] == "debrief"
    assert kinds[3] == kinds[-2] == "item"
    assert participant.page.code == "DONE42"
    assert 'href="https://app.prolific.com/submissions/complete?cc=DONE42"' in participant.html
    session = Session.objects.get()
    assert (session.status, session.attributes) == ("completed", {"country": "Brazil", "age_group": "older"})
    assert session.attention_passed
    assert len(session.consent_version) == 64
    assert session.finished_at > session.consented_at
    assert session.respondent.attributes == session.attributes | {"outcome": "completed"}
    assert session.respondent.key == f"session:{session.pk}"
    rows = Response.objects.filter(respondent=session.respondent)
    assert rows.count() == 9
    assert set(rows.values_list("question", "value")) == {
        ("personal", "preference"),
        ("norm", "culture"),
        ("importance", 4),
    }
    assert set(rows.filter(question="personal").values_list("condition__factors__option_order", flat=True)) <= {
        "culture|preference",
        "preference|culture",
    }
    assert all(seconds >= 0 for seconds in rows.values_list("seconds", flat=True))


def test_options_stand_in_the_stored_order_and_linked_questions_share_it(participant):
    page = participant.go_to("item")
    screen = participant.session.screens.get(answered_at=None, shown_at__isnull=False)
    assert page.fields["personal"].values == page.fields["norm"].values == screen.orders["personal"]
    assert f"People there do {screen.item.content['expectation'].split()[-1]}" in page.scenario
    assert 'class="scenario scenario-pinned"' in participant.html


def test_orders_differ_between_sessions(study):
    orders = set()
    for index in range(8):
        person = Participant(study, pid=f"person{index}")
        orders.add(tuple(person.go_to("item").fields["personal"].values))
    assert orders == {("culture", "preference"), ("preference", "culture")}


def test_demographics_say_why(participant):
    participant.go_to("demographics")
    assert "Why we ask: Answers are compared between countries." in participant.html


def test_missing_answers_are_named_on_top_and_at_the_field_and_nothing_is_lost(participant):
    page = participant.go_to("item")
    participant.send({"personal": "culture", "importance": "2", "why": "ok"}, page)
    assert "<title>Error: " in participant.html
    assert "data-error-summary" in participant.html
    assert 'href="#q-norm"' in participant.html
    assert 'id="q-norm-error"' in participant.html
    assert participant.page.fields["personal"].checked == ["culture"]
    assert participant.page.fields["importance"].checked == ["2"]
    assert ">ok</textarea>" in participant.html
    assert participant.page.action == page.action
    assert Response.objects.count() == 0


@pytest.mark.parametrize(
    "answers",
    [
        {"personal": "nonsense", "norm": "culture"},
        {"personal": "culture", "norm": "culture", "importance": "6"},
        {"personal": "culture", "norm": "culture", "importance": "1.5"},
        {"personal": "culture", "norm": "culture", "why": "x" * 1_000_000},
        {"personal": ["culture", "culture<script>"], "norm": "culture"},
    ],
)
def test_values_outside_the_instrument_are_refused_whole(participant, answers):
    page = participant.go_to("item")
    participant.send(answers, page)
    assert "data-error-summary" in participant.html
    assert Response.objects.count() == 0
    participant.send(participant.right_answers(), page)
    assert Response.objects.count() == 3


def test_consent_needs_a_choice(participant):
    participant.enter()
    participant.send({})
    assert "Choose whether you take part." in participant.html


def test_a_second_submit_is_told_what_is_stored(participant):
    page = participant.go_to("item")
    participant.send({"personal": "culture", "norm": "culture"}, page)
    following = participant.page
    participant.send({"personal": "preference", "norm": "preference"}, page)
    assert "was stored already" in participant.html
    assert re.search(r'What would you do\? <strong dir="auto">Do A\d\.</strong>', participant.html)
    assert participant.page.action == following.action
    assert set(Response.objects.values_list("value", flat=True)) == {"culture"}


def test_who_changes_their_mind_about_consent_in_another_tab_is_told_what_counts(participant):
    page = participant.go_to("consent")
    participant.send({"consent": "yes"}, page)
    participant.send({"consent": "no"}, page)
    assert 'Everyday customs <strong dir="auto">I agree and take part</strong>' in participant.html


@pytest.mark.parametrize("place", ["²", "-1", "1.5", "9" * 20, "7", ""])
def test_a_note_about_a_page_that_was_not_answered_says_nothing(participant, place):
    participant.go_to("item")
    participant.get(f"{participant.response.redirect_chain[-1][0]}?note=kept&page={place}")
    assert (participant.page.screen, "was stored already" in participant.html) == ("item", False)


def test_markup_in_items_and_answers_is_text(draft):
    def hostile(index):
        return content(index) | {"situation": "<script>alert(1)</script>", "option_culture": '"><img src=x onerror=y>'}

    study = open_study(
        study=draft(items=hostile, texts={"consent": "<script>x</script> [a](javascript:x) **b**"}), by=None
    )
    person = Participant(study)
    person.enter()
    assert "<script>x" not in person.html
    assert 'href="javascript' not in person.html
    person.go_to("item")
    assert "<script>alert" not in person.html
    assert "<img" not in person.html
    assert "&lt;script&gt;alert(1)" in person.html


def test_emoji_and_right_to_left_text_survive(draft):
    words = "ضيف يصل 🫖 שלום"
    study = open_study(study=draft(items=lambda index: content(index) | {"situation": words}), by=None)
    person = Participant(study)
    page = person.go_to("item")
    assert words in page.scenario
    person.send(person.right_answers() | {"why": f"  {words}\x00 \u202e "}, page)
    assert Response.objects.get(question="why").value == f"{words} \u202e"


def test_pages_are_never_stored_by_a_browser(participant):
    for kind in ("consent", "item", ""):
        participant.go_to(kind)
        assert "no-store" in participant.response.headers["Cache-Control"]


def test_the_first_page_is_small(participant):
    participant.enter()
    linked = re.findall(r'(?:href|src)="/static/([^"]+)"', participant.html)
    modules = [name for name in linked if name.endswith(".js")]
    root = Path(settings.STATICFILES_DIRS[0])
    for name in modules:
        assert "import " not in (root / name).read_text()  # an import would be a request of its own
    assert 1 + len(linked) <= 6
    size = len(participant.response.content) + sum((root / name).stat().st_size for name in linked)
    assert size < 60_000


def test_no_product_name_and_no_navigation(participant):
    for kind in ("consent", "demographics", "instructions", "item", "debrief", ""):
        participant.go_to(kind)
        assert "concord" not in participant.html.lower()
        assert "<nav" not in participant.html


def test_a_question_that_an_answer_calls_for_is_asked_before_anything_is_stored(draft):
    why = {"kind": "text", "code": "why", "text": "Why not?", "required": False}
    rule = {"show_if": {"question": "personal", "any_of": ["preference"]}}
    study = open_study(study=draft(questions=[QUESTIONS[0], {**why, **rule}]), by=None)
    person = Participant(study)
    page = person.go_to("item")
    assert list(page.fields) == ["personal"]
    page = person.send({"personal": "preference"}, page)
    assert "Your other answers lead to this question." in person.html
    assert list(page.fields) == ["personal", "why"]
    assert page.fields["personal"].checked == ["preference"]
    assert Response.objects.count() == 0
    person.send({"personal": "culture", "why": "not asked any more"}, page)
    assert list(Response.objects.values_list("question", "value")) == [("personal", "culture")]


def test_line_ends_count_as_the_browser_counts_them(participant):
    page = participant.go_to("item")
    text = "\r\n".join(["x" * 9] * 20)  # 199 characters in the browser, 218 on the wire
    participant.send(participant.right_answers() | {"why": text}, page)
    assert Response.objects.get(question="why").value == text.replace("\r\n", "\n")


def test_a_refused_form_is_a_page_to_come_back_to(participant):
    """Every post redirects, so that neither Back nor a reload asks whether to send a form again."""
    page = participant.go_to("item")
    address = re.sub(r"\d+/$", "", page.action)
    refused = participant.client.post(page.action, {"asked": list(page.fields), "personal": "culture", "why": "so\x00"})
    assert (refused.status_code, refused.url) == (302, address)
    for _ in range(2):
        assert participant.get(address).fields["personal"].checked == ["culture"]
        assert "data-error-summary" in participant.html
        assert ">so</textarea>" in participant.html
    participant.send(participant.right_answers(), page)
    assert participant.session.screens.exclude(refused={}).count() == 0
    participant.enter()
    assert "data-error-summary" not in participant.html


def test_little_is_kept_of_what_is_refused(participant):
    page = participant.go_to("item")
    participant.send({"personal": "x" * 1_000_000, "why": "y" * 1_000_000, "other": "z"}, page)
    refused = Screen.objects.get(answered_at=None, shown_at__isnull=False).refused
    assert {code: len(text) for code, text in refused["given"].items()} == {"personal": 10_000, "why": 10_000}
    assert len(str(refused["errors"])) < 1000


def test_before_consent_nothing_that_was_sent_is_kept(participant):
    page = participant.enter()
    participant.send({"country": "Brazil", "consent": "maybe"}, page)
    assert Screen.objects.get().refused == {"given": {}, "errors": {"consent": "Choose whether you take part."}}


def test_a_form_that_is_refused_too_late_leaves_the_stored_page_alone(participant):
    page = participant.go_to("item")
    participant.send(participant.right_answers(), page)
    participant.send({"personal": "nonsense"}, page)
    assert "was stored already" in participant.html
    assert Screen.objects.exclude(refused={}).count() == 0


@pytest.mark.parametrize(
    ("contact", "sentence"),
    [
        ("team@example.org", "Questions: team@example.org."),
        ("the person who gave you this link.", "Questions: the person who gave you this link."),
        ("", "This takes about 4 minutes.</p>"),
    ],
)
def test_the_contact_ends_a_sentence(draft, contact, sentence):
    person = Participant(open_study(study=draft(design={"contact": contact}), by=None))
    person.enter()
    assert sentence in person.html
    assert ".." not in person.html


def test_the_ends_of_a_scale_are_named_at_their_points_and_below(draft):
    scale = QUESTIONS[2] | {"low_label": "Not at all", "high_label": "Very"}
    person = Participant(open_study(study=draft(questions=[scale]), by=None))
    person.go_to("item")
    assert re.findall(r'dir="auto">(\d) <span class="choice-help">([^<]+)<', person.html) == [
        ("1", "Not at all"),
        ("5", "Very"),
    ]
    assert re.findall(r'class="scale-ends" aria-hidden="true">(.*?)</p>', person.html) == [
        '<span dir="auto">Not at all</span><span dir="auto">Very</span>'
    ]


def test_a_long_scenario_is_not_pinned(draft):
    short = Participant(open_study(study=draft(), by=None))
    short.go_to("item")
    assert 'class="scenario scenario-pinned"' in short.html
    items = {"items": lambda index: content(index) | {"situation": "Word " * 150}}
    long = Participant(open_study(study=draft(slug="long", **items), by=None))
    long.go_to("item")
    assert 'class="scenario"' in long.html
