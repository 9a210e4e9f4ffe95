import json

import pytest

from annotation.suggested import contradictions, show_suggestions, with_audits
from materials.presentation import shown_questions
from materials.questions import parse_questions

YES_NO = [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}]
TONES = [{"code": code, "text": code.title()} for code in ("warm", "kind", "curt")]
AFTER_CLEAR = {"question": "clear", "any_of": ["yes"]}
QUESTIONS = parse_questions(
    [
        {"kind": "choice", "code": "clear", "text": "Clear?", "options": YES_NO},
        {"kind": "choice", "code": "kind", "text": "Kind?", "options": TONES, "show_if": AFTER_CLEAR},
    ]
)


def shown(shown_as, answers, errors=None, **suggested):
    questions = shown_questions(QUESTIONS, {}, orders={}, answers=answers, errors=errors or {})
    suggested = suggested or {"kind": "curt"}
    says = {code: value.title() for code, value in suggested.items()}
    return show_suggestions(questions, suggested=suggested, says=says, shown_as=shown_as, answers=answers)


def test_a_shown_suggestion_stands_beside_its_question_and_chooses_nothing():
    beside = [(entry.question.code, entry.says, entry.question.value) for entry in shown("shown", {})]
    assert beside == [("clear", "", None), ("kind", "Curt", None)]


def test_an_audited_question_opens_without_the_models_option_when_the_model_is_wrong():
    _, audit, own = [entry.question for entry in shown("audited", {"audit:kind": "wrong"})]
    assert "The model says: Curt." in audit.legend
    assert [(option.code, option.label, option.hotkey) for option in audit.options] == [
        ("right", "Right", "r"),
        ("wrong", "Wrong", "w"),
    ]
    assert audit.value == "wrong"
    assert json.loads(audit.show_if)["name"] == "answer_clear"
    assert json.loads(own.show_if) == {"name": audit.name, "any_of": ["wrong"]}
    assert [option.code for option in own.options] == ["warm", "kind"]


@pytest.mark.parametrize(("said", "verdict", "label"), [("yes", "right", "Wrong: No"), ("no", "wrong", "Wrong: Yes")])
def test_of_two_options_the_verdict_chooses_one_and_what_follows_is_asked_after_it(said, verdict, label):
    audit, after = [entry.question for entry in shown("audited", {}, clear=said)]
    assert [option.label for option in audit.options] == ["Right", label]
    assert json.loads(after.show_if)[0] == {"name": "audit_clear", "any_of": [verdict]}
    assert with_audits(QUESTIONS, {"clear": said}, {"audit:clear": verdict}) == {"clear": "yes"}


def test_a_missing_verdict_is_said_where_it_is_missing():
    errors = {"kind": "An answer is required."}
    _, audit, own = [entry.question for entry in shown("audited", {}, errors)]
    assert (audit.error, own.error) == ("An answer is required.", "")
    _, audit, own = [entry.question for entry in shown("audited", {"audit:kind": "wrong"}, errors)]
    assert (audit.error, own.error) == ("", "An answer is required.")


def test_verdicts_take_the_models_answer_or_the_persons():
    suggested = {"clear": "no", "kind": "curt"}
    given = {"audit:clear": "right", "audit:kind": "wrong", "clear": "yes", "kind": "warm"}
    assert with_audits(QUESTIONS, suggested, given) == {"clear": "no", "kind": "warm"}
    assert with_audits(QUESTIONS, {"kind": "curt"}, {"kind": "warm", "clear": "yes"}) == {"clear": "yes"}


def test_the_models_answer_cannot_be_given_after_it_was_called_wrong():
    assert list(contradictions({"kind": "curt"}, {"audit:kind": "wrong"}, {"kind": "curt", "clear": "no"})) == ["kind"]
    assert not contradictions({"kind": "curt"}, {"audit:kind": "wrong"}, {"kind": "warm"})
