"""Every page of a participant, as a browser without JavaScript and with CSRF checks on sees it."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from responses.models import Response
from studies.models import PlatformIdentity, Screen, Session
from studies.services import close_study, open_study
from tests.studies.conftest import CODES, QUESTIONS, Participant, content

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


def test_no_consent_ends_at_once_and_stores_no_answer(participant):
    participant.enter()
    participant.send({"consent": "no"})
    assert participant.page.heading == "You have chosen not to take part"
    assert participant.page.code == "NONE42"
    session = Session.objects.get()
    assert (session.status, session.respondent, session.screens.count()) == ("no_consent", None, 1)
    participant.enter()
    assert participant.page.heading == "You have chosen not to take part"


def test_a_failed_attention_check_is_decided_at_the_end(participant):
    participant.go_to("attention")
    participant.send({"colour": "red"})
    assert Session.objects.get().status == "started"
    participant.go_to("")
    assert participant.page.code == "FAIL42"
    assert Session.objects.get().status == "failed_attention"
    assert Response.objects.count() == 9


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


def test_a_screen_not_reached_stores_nothing(participant):
    page = participant.go_to("item")
    ahead = re.sub(r"/(\d+)/$", lambda found: f"/{int(found[1]) + 1}/", page.action)
    participant.response = participant.client.post(ahead, participant.right_answers(), follow=True)
    assert "not open yet" in participant.html
    assert participant.page.action == page.action
    assert Response.objects.count() == 0
    for position in (99, 10**30):
        unknown = re.sub(r"\d+/$", f"{position}/", page.action)
        assert "not open yet" in participant.client.post(unknown, {}, follow=True).content.decode()


def test_reload_and_back_show_where_the_person_is(participant):
    participant.go_to("item")
    session_url = participant.response.redirect_chain[-1][0]
    assert participant.get(session_url).action == participant.get(session_url).action
    assert participant.get(participant.page.action).screen == "item"  # a page with errors, opened again


def test_the_same_link_again_another_submission_and_another_device_are_one_session(study, participant):
    page = participant.go_to("item")
    other = Participant(study, submission="submission2")
    other.enter()
    assert "You have started already" in other.html
    assert other.page.action == page.action
    assert Session.objects.count() == PlatformIdentity.objects.count() == 1


def test_the_bare_link_goes_on_by_cookie(study, participant):
    page = participant.go_to("item")
    cookie = participant.client.cookies["session_key"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (f"/s/{study.key}/", True, "Lax")
    assert participant.get(f"/s/{study.key}/").action == page.action


def test_without_cookies_the_whole_way_works(study):
    person = Participant(study)
    page = person.enter()
    for _ in range(12):
        person.client = Client(enforce_csrf_checks=True)
        if page.screen:
            page = person.send(person.right_answers())
    assert page.code == "DONE42"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "PROLIFIC_PID=abc",
        "PROLIFIC_PID={{%25PROLIFIC_PID%25}}&STUDY_ID={{%25STUDY_ID%25}}&SESSION_ID={{%25SESSION_ID%25}}",
        "PROLIFIC_PID=&SESSION_ID=",
        "PROLIFIC_PID=null&SESSION_ID=undefined",
        f"PROLIFIC_PID={'a' * 65}&SESSION_ID=s",
        "PROLIFIC_PID=%00&SESSION_ID=s",
        "PROLIFIC_PID=a'b&SESSION_ID=s",
    ],
)
def test_entry_without_usable_ids_explains_and_records_nothing(study, query):
    response = Client().get(f"/s/{study.key}/?{query}")
    assert response.status_code == 200
    assert "open this study from Prolific" in response.content.decode()
    assert Session.objects.count() == 0
    assert "session_key" not in response.cookies


def test_a_head_request_records_nothing(study):
    assert Client().head(f"/s/{study.key}/?PROLIFIC_PID=a&SESSION_ID=b").status_code == 405
    assert Session.objects.count() == 0


def test_draft_and_closed_studies_let_nobody_new_in(draft):
    study = draft()
    assert Participant(study).enter().heading == "This study is not open yet"
    open_study(study=study, by=None)
    early = Participant(study, pid="early")
    early.go_to("item")
    close_study(study=study, by=None)
    assert Participant(study, pid="late").enter().heading == "This study is closed"
    assert Client().get(f"/s/{study.key}/").content.decode().count("This study is closed") >= 1
    early.enter()
    early.go_to("")
    assert early.page.code == "DONE42"
    assert Session.objects.count() == 1


def test_a_session_is_reached_only_under_its_own_study(draft, study, participant):
    participant.go_to("item")
    other = open_study(study=draft(slug="other"), by=None)
    foreign = participant.page.action.replace(study.key, other.key)
    assert Client().post(foreign, participant.right_answers()).status_code == 404
    assert Client().get(re.sub(r"\d+/$", "", foreign)).status_code == 404
    assert Client().get(f"/s/{study.key}/{'x' * 22}/").status_code == 404
    assert Client().get("/s/unknown/").status_code == 404


def test_a_study_without_a_platform_begins_with_a_post(draft):
    study = open_study(study=draft(platform="none"), by=None)
    client = Client(enforce_csrf_checks=True)
    html = client.get(f"/s/{study.key}/?PROLIFIC_PID=a&SESSION_ID=b").content.decode()
    assert Session.objects.count() == 0
    token = re.search(r'name="token" value="([^"]+)"', html)[1]
    first = client.post(f"/s/{study.key}/", {"token": token})
    second = Client().post(f"/s/{study.key}/", {"token": token})  # a double click, cookies blocked
    assert second.url.startswith(first.url)
    assert Session.objects.count() == 1
    assert PlatformIdentity.objects.count() == 0


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


def test_platform_ids_are_in_no_log(participant, caplog):
    with caplog.at_level("DEBUG", logger="concord"):
        participant.go_to("item")
        Client().get(f"/s/{participant.study.key}/?PROLIFIC_PID=secretperson")
    assert "participant_entry" in caplog.text or "/s/" in caplog.text
    for word in (participant.pid, participant.submission, "secretperson", participant.session.key):
        assert word not in caplog.text


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
    ("kind", "last", "sentence"),
    [
        ("consent", {}, "You have opened this study before. No answer of yours is stored yet."),
        ("consent", {"consent": "no"}, "This is what you chose when you opened this study before."),
        ("demographics", {}, "What you sent before is stored; go on here."),
        ("debrief", None, "You have finished already; nothing needs to be sent again."),
    ],
)
def test_the_link_again_says_what_fits(participant, kind, last, sentence):
    participant.go_to(kind)
    if last or last is None:
        participant.send(last or {})
    participant.enter()
    assert sentence in participant.html
    assert participant.html.count('class="notice notice-info"') == 1


def test_a_second_finish_does_not_say_go_on(participant):
    page = participant.go_to("debrief")
    participant.send({}, page)
    participant.send({}, page)
    assert "Page 8 was stored already. The first answer you sent for it counts." in participant.html
    assert participant.page.code == "DONE42"


def decline(study):
    person = Participant(study)
    person.enter()
    person.send({"consent": "no"})
    return person.html


def test_who_declines_returns_the_place_with_the_code_if_there_is_one(draft):
    html = decline(open_study(study=draft(), by=None))
    assert re.search(r'submissions/complete\?cc=NONE42">Return my place on Prolific</a>', html)
    assert "Stop without completing" not in html
    assert "Complete on Prolific" not in html
    assert "ompletion code" not in html
    html = decline(open_study(study=draft(slug="two", completion_codes=CODES | {"no_consent": ""}), by=None))
    assert 'choose "Stop without completing" on Prolific.' in html.replace("&quot;", '"')
    assert "button" not in html


def test_nobody_leaves_the_last_page_without_the_code(draft):
    person = Participant(open_study(study=draft(), by=None))
    person.go_to("item")
    assert "How to stop" in person.html
    person.go_to("debrief")
    assert "How to stop" not in person.html
    assert ">Finish and get the code</button>" in person.html
    free = open_study(study=draft(slug="free", platform="none", completion_codes={}), by=None)
    person = Participant(free)
    person.response = person.client.post(f"/s/{free.key}/", {"token": "visitor"}, follow=True)
    person.go_to("debrief")
    assert ">Finish</button>" in person.html


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


def test_an_address_without_a_study_says_so_and_records_nothing(study):
    query = "?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=x"
    for response in (
        Client().get(f"/s/unknown/{query}"),
        Client().get(f"/s/{study.key}/unknown/"),
        Client().post(f"/s/{study.key}/unknown/0/", {"consent": "yes"}),
    ):
        html = response.content.decode()
        assert response.status_code == 404
        assert "There is no study at this address" in html
        assert "concord" not in html.lower()
        assert not response.cookies
    assert Session.objects.count() == 0


def test_a_closed_study_records_nothing(study):
    close_study(study=study, by=None)
    person = Participant(study)
    person.enter()
    assert "nothing about you was stored" in person.html
    assert "Questions: team@example.org." in person.html
    assert not person.client.cookies
    assert Session.objects.count() == PlatformIdentity.objects.count() == Screen.objects.count() == 0


def test_a_long_scenario_is_not_pinned(draft):
    short = Participant(open_study(study=draft(), by=None))
    short.go_to("item")
    assert 'class="scenario scenario-pinned"' in short.html
    items = {"items": lambda index: content(index) | {"situation": "Word " * 150}}
    long = Participant(open_study(study=draft(slug="long", **items), by=None))
    long.go_to("item")
    assert 'class="scenario"' in long.html
