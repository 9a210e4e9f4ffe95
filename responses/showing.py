"""Answers in words for pages: the label beside the code, and who answered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from materials.models import Instrument
from materials.questions import option_codes, option_label
from responses.models import Respondent, RespondentKind, Response


def value_text(question: Any, value: Any, content: Mapping[str, Any]) -> str:
    """The value as people saw it: labels of options, marked passages in quotes, numbers and texts as they are."""
    if question.kind == "rank":
        return " > ".join(option_label(question, code, content) for code in value)
    if question.kind == "best_worst":
        return "; ".join(f"{place}: {option_label(question, code, content)}" for place, code in value.items())
    if question.kind == "span":
        text, labels = question.text_of(content), {label.code: label.text for label in question.labels}
        passages = [f"{labels[span['label']]}: “{text[span['start'] : span['end']]}”" for span in value]
        return "; ".join(passages) or "nothing marked"
    if not option_codes(question):
        return str(value)
    values = value if isinstance(value, list) else [value]
    return ", ".join(option_label(question, str(entry), content) or str(entry) for entry in values) or "none of them"


def answers_in_words(
    questionnaire: Any, values: Mapping[str, Any], content: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Text and answer of each question that has a value, in the order in which the questions are asked."""
    return [
        (question.text, value_text(question, values[question.code], content))
        for question in questionnaire.questions
        if question.code in values
    ]


def badges(respondent: Respondent) -> list[str]:
    """Kinds for templates/components/badge.html; simulated people and the demo model are always marked."""
    if respondent.kind == RespondentKind.MODEL:
        return ["model", *(["demo-model"] if respondent.demo_model else [])]
    return ["simulated"] if respondent.simulated else ["human"]


@dataclass(frozen=True, slots=True)
class ShownResponse:
    response: Response
    text: str
    badges: list[str]
    attributes: str
    condition: str


def shown(responses: Iterable[Response], instruments: Mapping[int, Instrument]) -> list[ShownResponse]:
    """Responses (with respondent, item and condition loaded) ready to draw; costs no query."""
    return [
        ShownResponse(
            response,
            value_text(
                instruments[response.instrument_id].questionnaire[response.question],
                response.value,
                response.item.content,
            ),
            badges(response.respondent),
            ", ".join(
                str(value) for value in response.respondent.attributes.values() if value not in ("", True, False)
            ),
            ", ".join(f"{name}: {value}" for name, value in response.condition.factors.items()),
        )
        for response in responses
    ]
