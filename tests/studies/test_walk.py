"""Bots on a live server: the real pages over real HTTP."""

from collections import Counter

import pytest
from django.core.management import CommandError, call_command
from django.core.servers.basehttp import WSGIRequestHandler
from django.db.models import Count, Q
from django.test import Client

from responses.models import Respondent, Response
from studies.models import Session
from studies.services import open_study
from studies.simulation import HEADER, simulation_header
from studies.walk import WalkError, walk
from studies.walk.browser import Browser
from tests.studies.conftest import CODES, KNOWS, Participant

live = pytest.mark.django_db(transaction=True)


@live
def test_walk_study_fills_the_study_with_marked_answers(study, live_server, capsys):
    arguments = ["--people", "24", "--seed", "3", "--drop-out", "0.25", "--refuse", "0.1", "--inattentive", "0.2"]
    call_command("walk_study", study.slug, *arguments, "--concurrency", "4", "--base-url", live_server.url)
    said = capsys.readouterr().out
    sessions = Session.objects.all()
    ends = Counter(sessions.values_list("status", flat=True))
    assert f"24 simulated people: {ends['completed']} completed, {ends['failed_attention']} failed" in said
    assert f"{ends['no_consent']} gave no consent, {ends['started']} dropped out" in said
    assert ends["completed"] > 10
    assert ends["started"] > 0
    assert all(sessions.values_list("simulated", flat=True))
    assert all(Respondent.objects.values_list("simulated", flat=True))
    done = sessions.filter(status="completed")
    assert Response.objects.filter(respondent__session__in=done, question="personal").count() == 3 * done.count()
    countries = Counter(done.values_list("attributes__country", flat=True))
    assert set(countries) == {"Brazil", "United Kingdom"}
    assert len(set(Response.objects.filter(question="personal").values_list("value", flat=True))) == 2


@live
def test_the_same_seed_on_a_fresh_study_gives_the_same_answers(draft, live_server):
    def answers(slug):
        study = open_study(study=draft(slug=slug), by=None)
        walk(live_server.url, study.key, 8, seed=5, concurrency=4)
        rows = Response.objects.filter(respondent__session__study=study)
        return sorted(
            (row.respondent.session.number, row.item.position, row.question, str(row.value))
            for row in rows.select_related("respondent__session", "item")
        )

    first = answers("one")
    assert len(first) > 40
    assert first == answers("two")


@live
def test_countries_can_be_chosen_and_a_study_needs_no_platform(draft, live_server):
    study = open_study(study=draft(platform="none"), by=None)
    walk(live_server.url, study.key, 4, seed=1, countries=["Brazil"], refuse=0, inattentive=0)
    assert set(Session.objects.values_list("attributes__country", "status", "simulated")) == {
        ("Brazil", "completed", True)
    }
    with pytest.raises(WalkError, match="United Kingdom, Brazil"):
        walk(live_server.url, study.key, 4, seed=1, countries=["Atlantis"])


@live
def test_every_kind_of_question_is_answered(draft, live_server):
    """Numbers with bounds, short texts, several options, pairs, and a question that an answer calls for."""
    options = [{"code": "a", "text": "A"}, {"code": "b", "text": "B"}]
    questions = [
        {"kind": "choice", "code": "first", "text": "First?", "options": options, "randomise": True},
        {
            "kind": "choice",
            "code": "on_a",
            "text": "A?",
            "options": options,
            "show_if": {"question": "first", "any_of": ["a"]},
        },
        {"kind": "number", "code": "years", "text": "Years?", "minimum": 18.5, "maximum": 30, "integer": True},
        {"kind": "text", "code": "short", "text": "Why?", "max_length": 5},
        {"kind": "multi", "code": "several", "text": "Which?", "options": options},
        {
            "kind": "pairwise",
            "code": "better",
            "text": "Better?",
            "first_field": "situation",
            "second_field": "expectation",
        },
    ]
    study = open_study(study=draft(questions=questions), by=None)
    assert walk(live_server.url, study.key, 6, seed=2, refuse=0, inattentive=0).ends == {"completed": 6}
    counts = Counter(Response.objects.values_list("question", flat=True))
    assert {code: counts[code] for code in ("first", "years", "short", "several", "better")} == dict.fromkeys(
        ("first", "years", "short", "several", "better"), 18
    )
    assert counts["on_a"] == Response.objects.filter(question="first", value="a").count() > 0


@live
def test_a_draft_a_wrong_name_and_a_dead_server_are_sentences(draft, live_server):
    study = draft()
    with pytest.raises(WalkError, match="is the study open"):
        walk(live_server.url, study.key, 1, seed=1)
    with pytest.raises(CommandError, match="has the key or slug nothing"):
        call_command("walk_study", "nothing")
    with pytest.raises(WalkError, match="does not answer"):
        walk("http://127.0.0.1:9", study.key, 1, seed=1)
    with pytest.raises(WalkError, match="no web address"):
        walk("localhost", study.key, 1, seed=1)
    with pytest.raises(WalkError, match="between 0 and 1"):
        walk(live_server.url, study.key, 1, seed=1, drop_out=2)


def ways(study):
    """How far each bot of a study came, and what became of it."""
    sessions = Session.objects.filter(study=study).order_by("number")
    answered = Count("screens", filter=Q(screens__answered_at__isnull=False))
    return list(sessions.annotate(n=answered).values_list("number", "status", "n"))


@live
def test_a_second_walk_changes_nobody(study, live_server):
    first = walk(live_server.url, study.key, 16, seed=3, drop_out=0.4, refuse=0.1, inattentive=0.1)
    before = ways(study)
    assert {"started", "completed"} <= {status for _, status, _ in before}
    again = walk(live_server.url, study.key, 16, seed=3, drop_out=0.4, refuse=0.1, inattentive=0.1)
    assert ways(study) == before
    assert again.ends["dropped_out"] == first.ends["dropped_out"] > 0


@live
@pytest.mark.parametrize("posts", [0, 30])
def test_an_interrupted_walk_goes_on_to_the_same_ends(draft, live_server, monkeypatch, posts):
    whole, interrupted = (open_study(study=draft(slug=slug), by=None) for slug in ("whole", "interrupted"))
    walk(live_server.url, whole.key, 12, seed=3, drop_out=0.4)
    left, post = [None] * posts, Browser.post

    def post_until_interrupted(self, *args, **options):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return post(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Browser, "post", post_until_interrupted)
        with pytest.raises(KeyboardInterrupt):
            walk(live_server.url, interrupted.key, 12, seed=3, drop_out=0.4, concurrency=2)
    assert ways(interrupted) != ways(whole)
    walk(live_server.url, interrupted.key, 12, seed=3, drop_out=0.4)
    assert ways(interrupted) == ways(whole)


@pytest.mark.django_db
def test_a_stranger_cannot_pose_as_simulated(draft, study):
    other = open_study(study=draft(slug="other"), by=None)
    entry = f"/s/{study.key}/?PROLIFIC_PID=p&STUDY_ID=s&SESSION_ID=x"
    for claim in ("yes", simulation_header(other)[HEADER], simulation_header(study)[HEADER] + "x"):
        response = Client().get(entry, headers={HEADER: claim})
        assert response.status_code == 403
        assert Session.objects.count() == 0
    assert Client().get(entry, headers=simulation_header(study)).status_code == 302
    assert Session.objects.get().simulated


@pytest.mark.django_db
def test_the_mark_is_made_at_entry_only(study):
    person = Participant(study)
    page = person.go_to("item")
    form = {"asked": list(page.fields)} | person.right_answers()
    person.client.post(page.action, form, headers=simulation_header(study))
    assert not Session.objects.get().simulated
    assert not Respondent.objects.get().simulated


@live
def test_a_server_that_drops_idle_connections_loses_nobody(study, live_server, monkeypatch):
    monkeypatch.setattr(WSGIRequestHandler, "timeout", 0.5)
    assert walk(live_server.url, study.key, 12, seed=1, refuse=0, inattentive=0, concurrency=1).ends == {
        "completed": 12
    }


@live
def test_bots_meet_every_kind_of_screen_and_end(draft, live_server):
    design = {
        "confirm_platform_id": True,
        "comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}},
        "groups": [["personal", "norm"], ["importance", "why"]],
        "asked_on": {"importance": 2, "why": 2},
        "screening": [{"question": "age_group", "allowed": ["older"]}],
        "quotas": [{"attributes": {"country": "Brazil"}, "most": 2}],
        "strata": ["country"],
        "attention_checks": [{"question": {"kind": "number", "code": "four", "text": "Enter 4."}, "expected": 4}],
    }
    codes = CODES | {"screened_out": "OUT42", "quota_full": "FULL42"}
    study = open_study(study=draft(design=design, completion_codes=codes), by=None)
    ends = walk(live_server.url, study.key, 16, seed=4, refuse=0, inattentive=0.3).ends
    assert set(ends) == {"completed", "screened_out", "quota_full", "failed_attention"}
    assert sum(ends.values()) == 16
    held = Session.objects.holding_places(Session(study=study, simulated=True))
    assert held.count() == ends["completed"]
    assert held.filter(attributes__country="Brazil").count() <= 2
