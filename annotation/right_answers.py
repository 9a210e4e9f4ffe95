"""Right answers as researchers write them in a table: one cell a question, several right values in it. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from materials.questions import AnswerError, check_value

SEPARATOR = "|"  # between values that are right alike
LISTS = ("multi", "rank", "span")  # kinds whose one value is a list
OBJECTS = ("best_worst", "span")  # kinds whose value has to be written as JSON


def right_values(question: Any, cell: Any, content: Mapping[str, Any]) -> list[Any]:
    """Every value that the cell names as right, in the form in which answers are stored; [] for an empty cell.

    In a text `|` stands between values that are right alike, and a comma between the options of one `multi` or `rank`
    value; `best_worst` and `span` values are JSON. Where the cell is a list already, as in JSON lines, its entries are
    the right values. Raises AnswerError for what the question does not allow about an item with this content.

    >>> from materials.questions import parse_questions
    >>> options = [{"code": code, "text": code} for code in ("warm", "kind", "curt")]
    >>> (tones,) = parse_questions([{"kind": "multi", "code": "t", "text": "?", "options": options}]).questions
    >>> right_values(tones, "kind, warm | curt", {})
    [['warm', 'kind'], ['curt']]
    """
    candidates = [value for value in _candidates(question, cell) if value not in (None, "", [])]
    return [check_value(question, value, content) for value in candidates]


def _candidates(question: Any, cell: Any) -> list[Any]:
    if isinstance(cell, str):
        if question.kind in OBJECTS:
            return _candidates(question, _loaded(question, cell)) if cell.strip() else []
        parts = [part.strip() for part in cell.split(SEPARATOR)]
        return [_listed(part) for part in parts] if question.kind in LISTS else list(parts)
    if isinstance(cell, list) and (question.kind not in LISTS or all(isinstance(entry, list) for entry in cell)):
        return cell
    return [cell]


def _listed(part: str) -> list[str]:
    return [option.strip() for option in part.split(",") if option.strip()]


def _loaded(question: Any, cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError as error:
        raise AnswerError(question.code, f"write the right answer as JSON, not {cell[:40]!r}.") from error
