"""Places: who gets which, which come back, and what is asked before."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from responses.models import Condition, Respondent, Response
from studies.models import Screen, Session, Study
from studies.pilot import pilot_path
from studies.services import StudyNotReadyError, enter, enter_pilot, give_back, give_back_timed_out, open_study
from studies.services.places import deal_place
from tests.studies.conftest import CHECK, CODES, Participant, content

pytestmark = pytest.mark.django_db

ENDS = CODES | {"screened_out": "OUT42", "quota_full": "FULL42"}
COUNTRIES = ("United Kingdom", "Brazil")
RELATION = {"attribute": "country", "field": "of", "close": {"Brazil": ["Peru"]}}
FRAMING = {
    "name": "framing",
    "levels": [{"code": "plain", "text": "Answer *freely*."}, {"code": "short", "item_fields": ["expectation"]}],
}
VIEW = {"name": "view", "within": True, "levels": [{"code": "own"}, {"code": "other"}]}


def of_countries(index):
    return content(index) | {"of": ("Brazil", "Peru", "Japan")[index % 3]}


def people(study, n, start=0):
    """n people who came to their first page after the place was dealt."""
    came = [Participant(study, pid=f"p{index}") for index in range(start, start + n)]
    for person in came:
        person.go_to("instructions")
    return came


def items(session):
    return list(session.screens.filter(kind="item").order_by("position").values_list("item", flat=True))


def places():
    return list(Session.objects.order_by("number").values_list("place", flat=True))


def test_places_are_numbered_within_a_stratum_and_come_back(draft):
    study = open_study(study=draft(design={"strata": ["age_group"]}), by=None)
    first, _ = people(study, 2)
    assert places() == [1, 2]
    assert first.session.stratum == "age_group=older"
    other = Participant(study, pid="young")
    other.go_to("demographics")
    other.send({"country": "Brazil", "age_group": "younger"})
    assert (other.session.stratum, other.session.place) == ("age_group=younger", 1)
    assert give_back(first.session, Session.GivenBack.RETURNED)
    assert not give_back(first.session, Session.GivenBack.RETURNED)
    (third,) = people(study, 1, start=2)
    assert (third.session.place, items(third.session)) == (1, items(first.session))


def test_who_goes_on_after_the_place_was_given_back_keeps_the_items_and_is_late(study):
    slow, steady = people(study, 2)
    before = items(slow.session)
    now = timezone.now()
    Screen.objects.filter(session=slow.session).update(shown_at=now - timedelta(minutes=31))
    assert give_back_timed_out(now) == 1
    assert give_back_timed_out(now) == 0
    people(study, 1, start=2)
    assert places() == [1, 2, 1]
    for person in (slow, steady):
        person.go_to("")
        assert person.page.outcome == "completed"
    slow_session, steady_session = Session.objects.filter(status="completed").order_by("number")
    assert (slow_session.late, steady_session.late) == (True, False)
    assert items(slow_session) == before


def test_a_long_study_waits_longer_and_who_completed_keeps_the_place(draft):
    study = open_study(study=draft(design={"minutes": 40}), by=None)
    _, done = people(study, 2)
    done.go_to("")
    Screen.objects.update(shown_at=F("shown_at") - timedelta(minutes=79))
    assert give_back_timed_out(timezone.now()) == 0
    assert give_back_timed_out(timezone.now() + timedelta(minutes=2)) == 1
    assert not give_back(Session.objects.get(status="completed"), Session.GivenBack.TIMED_OUT)
    returned = Session.objects.get(status="completed")
    assert give_back(returned, Session.GivenBack.RETURNED)
    returned.refresh_from_db()
    assert not returned.late


def test_a_failed_check_gives_the_place_back(study):
    (person,) = people(study, 1)
    person.go_to("attention")
    person.send({"colour": "red"})
    person.go_to("")
    session = Session.objects.get()
    assert (session.status, session.given_back_why) == ("failed_attention", "ended")
    people(study, 1, start=1)
    assert places() == [1, 1]


def test_simulated_people_and_trials_have_places_of_their_own(study):
    people(study, 1)
    kinds = [
        enter(study, participant_id="bot", submission_id="s", simulated=True),
        enter_pilot(study, token="someone"),
    ]
    for entered in kinds:
        entered.session.attributes = {"country": "Brazil"}
        deal_place(entered.session)
    assert places() == [1, 1, 1]


def test_a_trial_goes_the_whole_way_and_is_not_counted(draft):
    study = draft()
    person = Participant(study)
    assert person.get(pilot_path(study)).screen == ""
    person.response = person.client.post(pilot_path(study), {"token": "someone"}, follow=True)
    assert "Trial run." in person.html
    person.go_to("")
    assert person.page.outcome == "completed"
    assert Session.objects.get().pilot
    assert Respondent.objects.count() == Response.objects.count() == Session.objects.counted().count() == 0
    assert Study.objects.for_list(study.project).get().completed == 0
    assert person.client.get(f"/s/{study.key}/?pilot=x").status_code == 403


def test_people_who_are_not_asked_for_end_with_a_code_and_without_a_place(draft):
    design = {"screening": [{"question": "country", "allowed": ["Brazil"]}]}
    study = open_study(study=draft(design=design, completion_codes=ENDS), by=None)
    person = Participant(study)
    person.go_to("demographics")
    person.send({"country": "United Kingdom", "age_group": "older"})
    assert (person.page.outcome, person.page.code) == ("screened_out", "OUT42")
    session = Session.objects.get()
    assert (session.place, session.respondent, session.attributes["country"]) == (None, None, "United Kingdom")
    assert people(study, 1, start=1)[0].session.place == 1


def test_a_full_quota_ends_and_a_place_that_comes_back_opens_it(draft):
    design = {"quotas": [{"attributes": {"country": "Brazil"}, "most": 1}, {"most": 3}]}
    study = open_study(study=draft(design=design, completion_codes=ENDS), by=None)
    (first,) = people(study, 1)

    def come(pid, country):
        person = Participant(study, pid=pid)
        person.go_to("demographics")
        person.send({"country": country, "age_group": "older"})
        return person.page.outcome or person.page.screen

    assert come("b", "Brazil") == "quota_full"
    assert come("c", "United Kingdom") == come("d", "United Kingdom") == "instructions"
    assert come("e", "United Kingdom") == "quota_full"
    give_back(first.session, Session.GivenBack.RETURNED)
    assert come("f", "Brazil") == "instructions"
    Participant(study, pid="b").enter()
    assert Session.objects.filter(status="quota_full").count() == 2  # how it ended stands


def test_items_levels_and_cells_stand_with_every_answer(draft):
    design = {"relation": RELATION, "balance": ["relation"], "factors": [FRAMING, VIEW], "items_each": 6}
    study = open_study(study=draft(design=design, items=of_countries, n=18), by=None)
    cells = []
    for person in people(study, 2):
        session = person.session
        screens = list(session.screens.filter(kind="item").select_related("item"))
        relations = {"Brazil": "same", "Peru": "close", "Japan": "far"}
        assert [screen.factors["relation"] for screen in screens] == [
            relations[screen.item.content["of"]] for screen in screens
        ]
        assert sorted(screen.factors["relation"] for screen in screens) == ["close"] * 2 + ["far"] * 2 + ["same"] * 2
        assert sorted(screen.factors["view"] for screen in screens) == ["other"] * 3 + ["own"] * 3
        person.go_to("item")
        cells.append(session.cell["framing"])
        plain = session.cell["framing"] == "plain"
        assert ("Answer <em>freely</em>." in person.html, "Situation " in person.page.scenario) == (plain, plain)
        person.go_to("")
    assert sorted(cells) == ["plain", "short"]
    factors = Condition.objects.filter(responses__isnull=False).values_list("factors", flat=True)
    assert {frozenset(one) - {"option_order"} for one in factors} == {frozenset({"relation", "framing", "view"})}


@pytest.mark.parametrize(
    ("design", "sentence"),
    [
        ({"strata": ["region"]}, "The design's strata needs region"),
        ({"relation": RELATION | {"attribute": "region"}}, "The design's relation needs region"),
        ({"screening": [{"question": "country", "allowed": ["Peru"]}]}, "names Peru as an answer to country"),
        (
            {"quotas": [{"attributes": {"country": "Brazil"}, "most": 1}]},
            "no completion code for the outcome quota_full",
        ),
        ({"groups": [["personal"], ["norm"]]}, "importance is on no page, why is on no page"),
        ({"asked_on": {"nothing": 1}}, "names nothing, which is not asked"),
        (
            {"attention_checks": [CHECK | {"question": CHECK["question"] | {"code": "personal"}}]},
            "have the code personal",
        ),
        ({"factors": [FRAMING | {"levels": [{"code": "a"}, {"code": "b", "item_fields": ["no"]}]}]}, "has no field no"),
    ],
)
def test_what_the_design_wants_and_nobody_asks_is_named(draft, design, sentence):
    with pytest.raises(StudyNotReadyError, match=sentence):
        open_study(study=draft(design=design, items=of_countries), by=None)
