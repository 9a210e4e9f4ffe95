"""How a session ended stands with its answers: in the respondent's attributes, and so in filters and exports."""

from datetime import timedelta

import pytest
from django.db.models import F

from responses.models import Respondent, Response
from studies.models import Screen, Session
from studies.services import StudyNotReadyError, close_study, open_study
from tests.studies.conftest import DEMOGRAPHICS, Participant

pytestmark = pytest.mark.django_db


def outcomes():
    return list(Respondent.objects.order_by("pk").values_list("attributes__outcome", flat=True))


def fail(participant):
    participant.go_to("attention")
    participant.send({"colour": "red"})
    participant.go_to("debrief")


def test_unfinished_from_the_first_answer_about_an_item_on(participant):
    participant.go_to("item")
    assert outcomes() == []
    for _ in range(2):
        participant.go_to_next({})
        assert outcomes() == ["unfinished"]
    participant.go_to("debrief")
    assert Response.objects.filter(respondent__attributes__outcome="unfinished").count() == 9


def test_completed_with_the_end_and_what_the_person_said_is_kept(participant):
    participant.go_to("")
    assert Respondent.objects.get().attributes == {"country": "Brazil", "age_group": "older", "outcome": "completed"}
    assert Session.objects.get().attributes == {"country": "Brazil", "age_group": "older"}


def test_a_failed_check_shows_only_with_the_end(participant):
    fail(participant)
    assert outcomes() == ["unfinished"]
    participant.send({})
    assert outcomes() == ["failed_attention"]


def test_no_consent_makes_no_respondent(participant):
    participant.enter()
    participant.send({"consent": "no"})
    assert outcomes() == []


def test_late_finishers_count_as_what_they_became(study, participant):
    participant.go_to("debrief")
    Session.objects.update(started_at=F("started_at") - timedelta(days=9))
    Screen.objects.update(shown_at=F("shown_at") - timedelta(days=9))
    close_study(study=study, by=None)
    participant.enter()
    participant.go_to("")
    assert outcomes() == ["completed"]


def test_sending_the_end_again_changes_nothing(participant):
    fail(participant)
    page = participant.page
    participant.send({}, page)
    participant.send({}, page)
    participant.enter()
    assert outcomes() == ["failed_attention"]


def test_without_questions_about_the_person_the_end_still_stands(draft):
    design = {"attention_checks": [], "items_each": 1, "balance": []}
    texts = {"instructions": "", "debrief": ""}
    person = Participant(open_study(study=draft(demographics=[], texts=texts, design=design), by=None))
    person.go_to("")
    assert outcomes() == ["completed"]


def test_what_fails_at_the_end_leaves_both_as_they_were(participant, monkeypatch):
    page = participant.go_to("debrief")
    monkeypatch.setattr(Session, "save", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        participant.send({}, page)
    assert outcomes() == ["unfinished"]
    assert Session.objects.get().status == "started"


def test_a_question_about_people_cannot_take_the_name(draft):
    study = draft(demographics=[DEMOGRAPHICS[0] | {"code": "outcome"}])
    with pytest.raises(StudyNotReadyError, match="has the code outcome"):
        open_study(study=study, by=None)
