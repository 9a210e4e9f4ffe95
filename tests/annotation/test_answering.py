from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.models import Assignment, Draft, Flag, LabelProject, Submission
from annotation.services import (
    AlreadyAnsweredError,
    KeyReusedError,
    NotValidError,
    add_flag,
    change_member,
    claim_next,
    member_for,
    publish_guidelines,
    save_draft,
    skip,
    submit,
)
from responses.models import Condition, Respondent, Response
from responses.services import Answer, get_condition, get_respondent, record
from tests.annotation.conftest import YES_NO, answers

PAIR = {"kind": "pairwise", "text": "Which?", "first_field": "one", "second_field": "two", "allow_tie": True}
PAIRS = [{**PAIR, "code": "better"}, {**PAIR, "code": "kinder", "randomise": False}]
FOLLOW_UP = [
    {"kind": "choice", "code": "odd", "text": "Is it odd?", "options": YES_NO},
    {"kind": "text", "code": "why", "text": "Why?", "show_if": {"question": "odd", "any_of": ["yes"]}},
]


def standing(question):
    return list(Response.objects.filter(question=question, superseded_by=None).values_list("value", flat=True))


def test_a_changed_answer_keeps_its_history(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    submit(place, annotator, answers("yes", note="first thought"))
    finished = Assignment.objects.get(pk=place.pk).finished_at
    with pytest.raises(AlreadyAnsweredError):
        submit(place, annotator, answers("no"))
    submit(place, annotator, answers("no", note="first thought"), changing=True)
    assert standing("clear") == ["no"]
    assert Response.objects.filter(question="clear").count() == 2
    assert Response.objects.filter(question="note").count() == 1  # unchanged: no new row
    assert Assignment.objects.get(pk=place.pk).finished_at == finished


def test_an_answer_that_becomes_empty_no_longer_stands(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    submit(place, annotator, answers(note="a slip"))
    submit(place, annotator, answers(), changing=True)
    assert standing("note") == []
    assert Response.objects.get(question="note").value == "a slip"  # kept as history
    submit(place, annotator, answers(note="a slip"), changing=True)
    assert standing("note") == ["a slip"]


def test_an_answer_whose_question_is_no_longer_asked_does_not_stand(make_label_project, annotator):
    place = claim_next(make_label_project(questions=FOLLOW_UP), annotator)
    with pytest.raises(NotValidError) as error:
        submit(place, annotator, {"odd": "yes"})
    assert error.value.errors == {"why": "An answer is required."}
    submit(place, annotator, {"odd": "yes", "why": "the setting"})
    submit(place, annotator, {"odd": "no", "why": "the setting"}, changing=True)
    assert (standing("odd"), standing("why")) == (["no"], [])


def test_who_answered_and_how_long_it_took(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    Assignment.objects.filter(pk=place.pk).update(opened_at=timezone.now() - timedelta(seconds=12))
    submit(place, annotator, answers())
    respondent = Respondent.objects.get()
    assert (respondent.kind, respondent.key) == ("annotator", f"annotator:{annotator.pk}")
    response = Response.objects.get(question="clear")
    assert 12 <= response.seconds < 20
    assert (response.source_kind, response.source_id) == ("assignment", place.pk)
    submit(place, annotator, answers("no"), changing=True)
    assert Response.objects.get(question="clear", superseded_by=None).seconds is None


def test_wrong_values_are_refused_and_kept(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    with pytest.raises(NotValidError) as error:
        submit(place, annotator, {"plausible": "perhaps", "clear": "yes", "note": "words"})
    assert set(error.value.errors) == {"plausible", "neutral"}
    assert "use one of yes, no" in error.value.errors["plausible"]
    assert Draft.objects.get().answers["note"] == "words"
    assert not Response.objects.exists()


def test_sides_are_drawn_per_person_recorded_and_shared_by_a_pair(make_label_project, make_annotators):
    label_project = make_label_project(
        n=1, questions=PAIRS, content=lambda i: {"one": "a", "two": "b"}, overlap=12, seed=3
    )
    seen = set()
    for user in make_annotators(12):
        place = claim_next(label_project, user)
        assert place.orders["better"] == place.orders["kinder"]
        assert place.orders["better"][-1] == "tie"
        submit(place, user, {"better": "first", "kinder": "tie"})
        seen.add(tuple(place.orders["better"]))
        condition = Response.objects.get(question="better", source_id=place.pk).condition
        assert condition.factors == {"option_order": "|".join(place.orders["better"])}
    assert seen == {("first", "second", "tie"), ("second", "first", "tie")}


def test_without_random_order_there_is_no_condition(make_label_project, annotator):
    submit(claim_next(make_label_project(), annotator), annotator, answers())
    assert Condition.objects.get().factors == {}


def test_a_draft_after_its_own_submit_is_dropped(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    submit(place, annotator, answers())
    assert save_draft(place, annotator, {"note": "late"})
    assert not Draft.objects.exists()
    save_draft(place, annotator, {"note": "while changing"}, changing=True)
    assert Draft.objects.get().answers == {"note": "while changing"}


def test_a_draft_extends_the_lease(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    Assignment.objects.filter(pk=place.pk).update(lease_until=timezone.now() + timedelta(minutes=1))
    save_draft(place, annotator, {})
    assert Assignment.objects.get(pk=place.pk).lease_until > timezone.now() + timedelta(minutes=20)


def test_a_key_names_one_sending(make_label_project, annotator):
    label_project, key = make_label_project(n=2), uuid4()
    place = claim_next(label_project, annotator)
    for _ in range(2):
        submit(place, annotator, answers(), key=key, seconds=4.5)
    sent = Submission.objects.get()
    assert (sent.key, sent.assignment, sent.seconds) == (key, place, 4.5)
    with pytest.raises(KeyReusedError, match="other answers"):
        submit(place, annotator, answers("no"), key=key, changing=True)
    other = claim_next(label_project, annotator)
    with pytest.raises(KeyReusedError):
        submit(other, annotator, answers(), key=key)
    assert standing("clear") == ["yes"]
    assert Draft.objects.get(item=other.item).answers == answers()


def test_a_refused_sending_leaves_its_key_free(make_label_project, annotator):
    place, key = claim_next(make_label_project(), annotator), uuid4()
    with pytest.raises(NotValidError):
        submit(place, annotator, {"clear": "yes"}, key=key)
    assert submit(place, annotator, answers(), key=key).status == "submitted"


def test_answers_say_how_a_suggestion_was_shown_even_after_the_setting_changed(
    make_label_project, make_annotators, project
):
    label_project = make_label_project(n=1, overlap=2)
    item, model = (
        label_project.dataset.items.get(),
        get_respondent(project=project, kind="model", key="m", attributes={}),
    )
    record(
        project=project,
        instrument=label_project.instrument,
        answer=Answer(model.pk, item.pk, "clear", "no", get_condition(project=project, factors={}).pk),
        source_kind="call",
    )
    LabelProject.objects.update(suggestions="preselected", suggestions_of=model)
    label_project.refresh_from_db()
    sees, does_not = make_annotators(2)
    change_member(member=member_for(label_project, does_not), cap=None, sees_suggestions=False, by=None)
    places = {user: claim_next(label_project, user) for user in (sees, does_not)}
    assert [places[user].suggested for user in (sees, does_not)] == [{"clear": "no"}, {}]
    LabelProject.objects.update(suggestions="shown")
    label_project.refresh_from_db()
    for user, place in places.items():
        submit(place, user, answers("no"))
        submit(place, user, answers("yes"), changing=True)
    factors = {(answer.respondent.key, answer.question): answer.condition.factors for answer in Response.objects.all()}
    assert factors[f"annotator:{sees.pk}", "clear"] == {"suggestion": "preselected"}
    assert factors[f"annotator:{sees.pk}", "plausible"] == factors[f"annotator:{does_not.pk}", "clear"] == {}
    assert Response.objects.filter(source_kind="assignment", question="clear", superseded_by=None).count() == 2


def test_the_guidelines_in_force_at_the_first_answer_are_kept(make_label_project, annotator):
    label_project = make_label_project(guidelines="First")
    place = claim_next(label_project, annotator)
    for text, value in [("Second", "yes"), ("Third", "no")]:
        publish_guidelines(label_project=label_project, text=text, by=None)
        submit(place, annotator, answers(value), changing=True)
    assert Assignment.objects.get(pk=place.pk).guidelines_version == 2


def test_work_that_was_left_out_can_no_longer_be_changed(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    submit(place, annotator, answers())
    Assignment.objects.filter(pk=place.pk).update(status="invalid")
    with pytest.raises(ValueError, match="left this item out"):
        submit(place, annotator, answers("no"), changing=True)


def test_flags_add_up_and_double_clicks_do_not(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    for note in ["odd", "odd", " odd ", "very\x00 odd"]:
        add_flag(place, annotator, note)
    assert set(Flag.objects.values_list("note", flat=True)) == {"odd", "very odd"}


def test_a_submitted_item_cannot_be_skipped(make_label_project, annotator):
    place = claim_next(make_label_project(), annotator)
    submit(place, annotator, answers())
    with pytest.raises(ValueError, match="already submitted"):
        skip(place, annotator, "too late")


def test_new_conditions_are_made_in_the_same_order_by_everybody(make_label_project, annotator, monkeypatch):
    options = [{"code": code, "text": code} for code in "abcdef"]
    questions = [
        {"kind": "choice", "code": f"q{n}", "text": "Which?", "randomise": True, "options": options} for n in range(6)
    ]
    held = claim_next(make_label_project(questions=questions), annotator)
    made = []
    monkeypatch.setattr(
        "annotation.services.answering.get_condition",
        lambda *, project, factors: (
            made.append(tuple(factors.items())) or get_condition(project=project, factors=factors)
        ),
    )
    submit(held, annotator, {f"q{n}": "a" for n in range(6)})
    assert len(made) == 6
    assert made == sorted(made)
