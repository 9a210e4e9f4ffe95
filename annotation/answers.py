"""From a form to checked answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from materials.presentation import PREFIX
from materials.questions import AnswerError, Questionnaire, check_value, is_shown


@dataclass(frozen=True, slots=True)
class Checked:
    """Values ready to store by question code, and a sentence for each question that has none and needs one."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def read_form(questionnaire: Questionnaire, data: QueryDict) -> dict[str, Any]:
    """What was typed, by question code; questions absent from the form are absent here."""
    answers: dict[str, Any] = {}
    for question in questionnaire.questions:
        name = PREFIX + question.code
        if question.kind == "multi":
            answers[question.code] = [_clean(str(value)) for value in data.getlist(name)]
        elif name in data:
            answers[question.code] = _clean(str(data[name]))
    return answers


def _clean(text: str) -> str:
    """A plain form sends line ends as CR LF and a script as LF; one text must not become two answers."""
    return text.replace("\x00", "").replace("\r\n", "\n")


def check_answers(questionnaire: Questionnaire, answers: Mapping[str, Any]) -> Checked:
    """Check each question that is asked given the answers before it; the others are left out."""
    checked = Checked()
    for question in questionnaire.questions:
        if not is_shown(question, checked.values):
            continue
        try:
            value = check_value(question, answers.get(question.code, [] if question.kind == "multi" else None))
        except AnswerError as error:
            checked.errors[question.code] = error.sentence
            continue
        if value is not None:
            checked.values[question.code] = value
    return checked
