"""From a form to checked answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from materials.form_values import form_value
from materials.presentation import PREFIX
from materials.questions import NO_CONTENT, AnswerError, Questionnaire, check_value, is_shown


@dataclass(frozen=True, slots=True)
class Checked:
    """Values ready to store by question code, and a sentence for each question that has none and needs one."""

    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def read_form(questionnaire: Questionnaire, data: QueryDict) -> dict[str, Any]:
    """What was typed, by question code; questions absent from the form are absent here."""
    values = {question.code: form_value(question, PREFIX + question.code, data) for question in questionnaire.questions}
    return {code: value for code, value in values.items() if value is not None}


def check_answers(
    questionnaire: Questionnaire, answers: Mapping[str, Any], content: Mapping[str, Any] = NO_CONTENT
) -> Checked:
    """Check each question that is asked given the answers before it; the others are left out.

    `content` is the item's, in which passages are marked.
    """
    checked = Checked()
    for question in questionnaire.questions:
        if not is_shown(question, checked.values):
            continue
        try:
            value = check_value(question, _given(question, answers), content)
        except AnswerError as error:
            checked.errors[question.code] = error.sentence
            continue
        if value is not None:
            checked.values[question.code] = value
    return checked


def _given(question: Any, answers: Mapping[str, Any]) -> Any:
    """Nothing chosen or marked is an answer as well."""
    given = answers.get(question.code)
    return (given or []) if question.kind in ("multi", "span") else given
