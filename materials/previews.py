"""What an instrument looks like to the people who answer it, for one item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from materials.questions import Questionnaire, draw_orders, option_codes, option_label


@dataclass(frozen=True, slots=True)
class ShownOption:
    code: str
    label: str
    hotkey: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question ready to draw: `condition` is the sentence for one that is asked only sometimes."""

    question: Any
    options: Sequence[ShownOption]
    condition: str


def text_fields(questionnaire: Questionnaire) -> list[str]:
    """The item's fields that the options take their texts from."""
    options = (option for question in questionnaire.questions for option in getattr(question, "options", ()))
    fields = {option.text_field for option in options if option.text_field}
    for question in questionnaire.questions:
        if question.kind == "pairwise":
            fields |= {question.first_field, question.second_field}
    return sorted(fields)


def shown_questions(questionnaire: Questionnaire, content: Mapping[str, Any]) -> list[ShownQuestion]:
    """The questions with their options in one drawn order."""
    orders = draw_orders(questionnaire.questions, key="preview")
    return [
        ShownQuestion(
            question,
            [_option(question, code, content) for code in orders.get(question.code, option_codes(question))],
            _condition(question),
        )
        for question in questionnaire.questions
    ]


def _option(question: Any, code: str, content: Mapping[str, Any]) -> ShownOption:
    declared = {option.code: option for option in getattr(question, "options", ())}.get(code)
    label = option_label(question, code, content) or f"({code}: this item has no text for it)"
    return ShownOption(code, label, getattr(declared, "hotkey", ""), getattr(declared, "help", ""))


def _condition(question: Any) -> str:
    if question.show_if is None:
        return ""
    values = " or ".join(str(value) for value in question.show_if.any_of)
    return f"Asked only when {question.show_if.question} is {values}."
