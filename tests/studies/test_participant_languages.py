"""Which language a person's pages are in, and what a fault of the server says and keeps."""

import pytest
from django.db import OperationalError
from django.test import Client

from responses.models import Response
from studies.models import Screen, Session
from studies.services import close_study, open_study
from studies.translating import phrases_of
from tests.studies.conftest import Participant
from tests.studies.translated import ARABIC, QUESTIONS

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(draft):
    return open_study(study=draft(questions=QUESTIONS, translations={"ar": ARABIC}), by=None)


@pytest.fixture
def participant(draft):
    """In a study that has one language."""
    return Participant(open_study(study=draft(slug="english"), by=None))


def enter(study, *, lang="", accept=""):
    client = Client()
    query = f"?PROLIFIC_PID=abc&SESSION_ID=s1{lang and '&lang=' + lang}"
    response = client.get(f"/s/{study.key}/{query}", follow=True, headers={"Accept-Language": accept})
    return client, response


@pytest.mark.parametrize(
    ("lang", "accept", "language"),
    [("", "", "en"), ("", "fr, ar-EG;q=0.8, en;q=0.5", "ar"), ("ar", "en", "ar"), ("xx", "ar", "ar")],
)
def test_the_link_decides_then_the_browser_then_the_study(study, lang, accept, language):
    _, response = enter(study, lang=lang, accept=accept)
    assert f'<html lang="{language}"' in response.content.decode()
    assert Session.objects.get().language == language


def test_a_person_can_switch_and_comes_back_to_the_language(study):
    client, response = enter(study, accept="en")
    address = response.redirect_chain[-1][0]
    html = client.get(f"{address}?lang=ar").content.decode()
    assert '<html lang="ar" dir="rtl">' in html
    assert "أوافق وأشارك" in html
    assert "أوافق وأشارك" in client.get(f"{address}?lang=xx").content.decode()
    _, again = enter(study, accept="en")
    assert "أوافق وأشارك" in again.content.decode()


def test_what_is_too_large_is_refused_in_the_language_of_the_session(study, settings):
    client, response = enter(study, lang="ar")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    address = response.redirect_chain[-1][0] + "0/"
    refused = client.post(address, {"consent": "1" * 1001}, headers={"Accept-Language": "de"})
    assert refused.status_code == 400
    html = refused.content.decode()
    assert '<html lang="ar" dir="rtl">' in html
    assert phrases_of("ar")["too_large_text"] in html
    assert Screen.objects.filter(answered_at__isnull=False).count() == 0


def test_the_language_of_each_page_goes_with_its_answers(study):
    person = Participant(study)
    person.go_to("item")
    answers = {"personal": "culture", "clear": "1", "usual": "2"}
    person.send(answers | {"language": "ar"})
    person.go_to("item")
    person.send(answers | {"language": "Klingon"})
    assert set(Response.objects.values_list("condition__factors__language", flat=True)) == {"ar", "en"}


def test_faults_and_stored_answers_are_told_in_the_language(study):
    client, response = enter(study, lang="ar")
    person = Participant(study)
    person.client, person.response = client, response
    person.go_to("demographics")
    page = person.send({"country": "Brazil"})
    assert "كم عمرك؟ اختر إجابة." in person.html
    assert "Choose an answer" not in person.html
    person.send({"country": "Brazil", "age_group": "older"}, page)
    person.send({"country": "Brazil", "age_group": "older"}, page)
    assert "الصفحة 2 كانت محفوظة من قبل" in person.html
    assert '<strong dir="auto">البرازيل</strong>' in person.html


def test_a_text_in_another_direction_than_its_heading_keeps_its_own(study):
    person = Participant(study)
    person.client, person.response = enter(study, lang="ar")
    person.go_to("item")
    assert "المعتاد هناك:</strong> <bdi>People there do" in person.html


def test_a_study_with_one_language_has_nothing_to_choose(participant):
    participant.enter()
    assert "languages" not in participant.html
    assert Session.objects.get().language == ""


@pytest.mark.parametrize("accept", ["ar", "en"])
def test_pages_without_a_session_are_in_the_browsers_language(study, accept):
    close_study(study=study, by=None)
    words = {"ar": ("هذه الدراسة مغلقة", "لا توجد دراسة"), "en": ("This study is closed", "There is no study")}[accept]
    assert words[0] in enter(study, accept=accept)[1].content.decode()
    missing = Client().get("/s/unknown/", headers={"Accept-Language": accept})
    assert words[1] in missing.content.decode()


def test_the_script_is_told_where_to_go(participant):
    page = participant.go_to("item")
    form = {"asked": list(page.fields)} | participant.right_answers()
    told = [participant.client.post(page.action, form, headers={"X-Part": "answer"}) for _ in range(2)]
    assert [response.status_code for response in told] == [204, 204]
    assert told[0].headers["X-Location"] == page.action.rsplit("/", 2)[0] + "/"
    assert told[1].headers["X-Location"].endswith("?note=kept&page=3")


def test_without_the_database_what_was_sent_is_kept_in_the_page(participant, monkeypatch):
    page = participant.go_to("item")
    answers = participant.right_answers() | {"asked": list(page.fields), "why": 'So\r\n"<b>', "language": "es"}
    client = Client(raise_request_exception=False)
    with monkeypatch.context() as patched:
        patched.setattr("studies.participant_views.submit_screen", _fail)
        failed = client.post(page.action, answers)
    html = failed.content.decode()
    assert failed.status_code == 503
    assert "Enviar otra vez" in html
    assert "So\r\n&quot;&lt;b&gt;</textarea>" in html
    assert Response.objects.count() == 0
    assert client.post(page.action, answers).status_code == 302
    assert Response.objects.get(question="why").value == 'So\n"<b>'


def _fail(**_):
    raise OperationalError("the connection is closed")


def test_consent_says_what_else_is_stored_and_its_version_is_the_text_that_was_read(study):
    person = Participant(study)
    person.enter()
    assert "how often you pasted into a text, but not what" in person.html
    other = Participant(study, pid="other", submission="s2")
    other.enter()
    person.send({"consent": "yes", "language": "en"})
    other.send({"consent": "yes", "language": "ar"})
    assert len(set(Session.objects.values_list("consent_version", flat=True))) == 2


def test_what_is_typed_later_than_a_refusal_is_shown(participant):
    page = participant.go_to("item")
    participant.send({"personal": "culture", "why": "old"}, page)
    participant.client.post(f"{page.action}draft/", {"personal": "culture", "why": "newer"})
    participant.get(page.action)
    assert ">newer</textarea>" in participant.html
    assert "data-error-summary" in participant.html
    assert Screen.objects.exclude(draft={}).count() == 1
