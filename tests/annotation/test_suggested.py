import json

from annotation.suggested import show_suggestions, with_audits
from materials.presentation import shown_questions
from materials.questions import parse_questions

YES_NO = [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}]
QUESTIONS = parse_questions(
    [
        {"kind": "choice", "code": "clear", "text": "Clear?", "options": YES_NO},
        {
            "kind": "choice",
            "code": "kind",
            "text": "Kind?",
            "options": YES_NO,
            "show_if": {"question": "clear", "any_of": ["yes"]},
        },
    ]
)


def shown(shown_as, answers, errors=None):
    questions = shown_questions(QUESTIONS, {}, orders={}, answers=answers, errors=errors or {})
    return show_suggestions(questions, says={"kind": "No"}, shown_as=shown_as, answers=answers)


def test_a_shown_suggestion_stands_beside_its_question_and_chooses_nothing():
    beside = [(entry.question.code, entry.says, entry.question.value) for entry in shown("shown", {})]
    assert beside == [("clear", "", None), ("kind", "No", None)]


def test_an_audited_question_opens_when_the_model_is_wrong():
    _, audit, own = [entry.question for entry in shown("audited", {"audit:kind": "wrong"})]
    assert "The model says: No." in audit.legend
    assert [(option.code, option.hotkey) for option in audit.options] == [("right", "r"), ("wrong", "w")]
    assert audit.value == "wrong"
    assert json.loads(audit.show_if)["name"] == "answer_clear"
    assert json.loads(own.show_if) == {"name": audit.name, "any_of": ["wrong"]}


def test_a_missing_verdict_is_said_where_it_is_missing():
    errors = {"kind": "An answer is required."}
    _, audit, own = [entry.question for entry in shown("audited", {}, errors)]
    assert (audit.error, own.error) == ("An answer is required.", "")
    _, audit, own = [entry.question for entry in shown("audited", {"audit:kind": "wrong"}, errors)]
    assert (audit.error, own.error) == ("", "An answer is required.")


def test_without_a_verdict_there_is_no_answer():
    assert with_audits({"kind": "no"}, {"kind": "yes", "clear": "yes"}) == {"clear": "yes"}
