"""An item with its questions as annotators see it, for the researcher's pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from materials.item_parts import item_parts, pairs
from materials.models import Instrument, Item
from materials.presentation import item_orders, shown_questions
from materials.questions import span_fields

NOTHING: Mapping[str, Any] = {}


def shown_item(
    instrument: Instrument,
    item: Item,
    item_fields: Sequence[Any],
    *,
    answers: Mapping[str, Any] = NOTHING,
    errors: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """`parts`, `pairs` and `questions` for the item's and question's templates."""
    questionnaire = instrument.questionnaire
    orders = item_orders(questionnaire, key="preview")
    sides = pairs(questionnaire, item.content, orders, item_fields)
    apart = [field for pair in sides for field in pair]
    marked = span_fields(questionnaire.questions)
    return {
        "parts": item_parts(item.content, item_fields, without=apart, marked=marked),
        "pairs": list(sides.values()),
        "questions": shown_questions(questionnaire, item.content, orders=orders, answers=answers, errors=errors),
    }
