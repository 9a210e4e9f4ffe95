"""How people come in, come back and leave: one session each, and an end with what belongs to it."""

import re

import pytest
from django.test import Client

from responses.models import Response
from studies.models import PlatformIdentity, Screen, Session
from studies.services import close_study, open_study
from tests.studies.conftest import CODES, Participant

pytestmark = pytest.mark.django_db


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


def test_platform_ids_are_in_no_log(participant, caplog):
    with caplog.at_level("DEBUG", logger="concord"):
        participant.go_to("item")
        Client().get(f"/s/{participant.study.key}/?PROLIFIC_PID=secretperson")
    assert "participant_entry" in caplog.text or "/s/" in caplog.text
    for word in (participant.pid, participant.submission, "secretperson", participant.session.key):
        assert word not in caplog.text
