"""Columns of exports: what each holds, its type, and what of a stored answer goes into the columns of its question."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from materials.questions import BEST, FIRST, SECOND, TIE, WORST

# json: a list or an object, or what differs in type from row to row. Times are ISO 8601 in UTC where there is no type.
Type = Literal["integer", "number", "boolean", "text", "time", "list", "json"]
LEFT, RIGHT = "left", "right"
PREFIX = "q_"  # of the columns of questions, whose codes are the instrument's to choose
_TYPES: dict[str, Type] = {
    "choice": "text",
    "pairwise": "text",
    "text": "text",
    "scale": "integer",
    "number": "number",
    "multi": "list",
    "span": "json",
}
_HOLDS = {
    "choice": "Code of the chosen option",
    "pairwise": "Which of the item's two texts, whichever side it was shown on",
    "text": "What was written",
    "scale": "Point of the scale",
    "number": "Number",
    "multi": "Codes of the chosen options; an empty list says that none fits",
    "span": "Marked passages: start and end in Unicode code points of the text, and label",
}
_OF_JSON: dict[frozenset[str], Type] = {
    frozenset({"string"}): "text",
    frozenset({"number"}): "number",
    frozenset({"boolean"}): "boolean",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the codebook has it. Of a question also its code, text and options (label by code)."""

    name: str
    type: Type
    about: str
    question: str = ""
    text: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def codebook_row(column: Column) -> dict[str, Any]:
    """The column in the words of a codebook, as JSON has it."""
    row = asdict(column)
    return {
        "variable": row["name"],
        "type": row["type"],
        "description": row["about"],
        "question": row["question"],
        "question_text": row["text"],
        "options": row["options"],
    }


def type_of_json(types: Iterable[str]) -> Type:
    """The type of a column whose values have these types in JSON.

    >>> type_of_json(["number", "null"]), type_of_json(["number", "string"])
    ('number', 'json')
    """
    return _OF_JSON.get(frozenset(types) - {"null"}, "json")


def question_columns(question: Any) -> list[Column]:
    """One column; for a ranking one an option, with its place from 1; for best and worst one each."""
    name, options = PREFIX + question.code, _options(question)
    asked = {"question": question.code, "text": question.text}
    if question.kind == "rank":
        return [
            Column(f"{name}.{code}", "integer", f"Place of {code}, 1 is the best; empty without one", **asked)
            for code in options
        ]
    if question.kind == "best_worst":
        return [
            Column(f"{name}.{place}", "text", f"Code of the {place} option", **asked, options=options)
            for place in (BEST, WORST)
        ]
    whole = question.kind == "number" and question.integer
    type: Type = "integer" if whole else _TYPES[question.kind]
    return [Column(name, type, _HOLDS[question.kind], **asked, options=options)]


def question_cells(question: Any, value: Any) -> dict[str, Any]:
    """A stored value by the name of the column that it, or a part of it, goes into."""
    name = PREFIX + question.code
    if question.kind == "rank":
        return {f"{name}.{code}": place for place, code in enumerate(value, start=1)}
    if question.kind == "best_worst":
        return {f"{name}.{place}": code for place, code in value.items()}
    return {name: value}


def pair_side(question: Any, value: str, order: str) -> str | None:
    """The side on which the chosen text of a pair was shown: "left", which is above on a narrow page, or "right".

    `order` is the condition's option_order: of one question, of several with their codes, or empty for the order as
    written. None for a tie.

    >>> from materials.questions import parse_questions
    >>> pair = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"}
    >>> (better,) = parse_questions([pair]).questions
    >>> pair_side(better, "first", "second|first"), pair_side(better, "second", "better: second|first; why: b|a")
    ('right', 'left')
    >>> pair_side(better, "first", ""), pair_side(better, "tie", "second|first|tie")
    ('left', None)
    """
    by_question = dict(part.split(": ") for part in order.split("; ") if ": " in part)
    shown = by_question.get(question.code, "" if by_question else order).split("|")
    first = next((code for code in shown if code in (FIRST, SECOND)), FIRST)
    return None if value == TIE else LEFT if value == first else RIGHT


def merged(columns: Iterable[Column]) -> list[Column]:
    """Each name once, in order: versions of a question share a column, which takes what all of them hold."""
    found: dict[str, Column] = {}
    for column in columns:
        earlier = found.get(column.name, column)
        found[column.name] = Column(
            name=column.name,
            type=_common({earlier.type, column.type}),
            about=column.about,
            question=column.question,
            text=column.text,
            options={**earlier.options, **column.options},
        )
    return list(found.values())


def _common(types: set[Type]) -> Type:
    if len(types) == 1:
        return next(iter(types))
    return "number" if types == {"integer", "number"} else "json"


def merged_factors(by_question: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The factors of several answers as one: a level that differs between them names the questions.

    >>> merged_factors({"a": {"prompt": "x", "order": "1|2"}, "b": {"prompt": "x", "order": "2|1"}})
    {'prompt': 'x', 'order': 'a: 1|2; b: 2|1'}
    """
    names = dict.fromkeys(name for factors in by_question.values() for name in factors)
    return {name: _level({q: factors[name] for q, factors in by_question.items() if name in factors}) for name in names}


def _level(levels: Mapping[str, Any]) -> Any:
    first = next(iter(levels.values()))
    if all(level == first for level in levels.values()):
        return first
    return "; ".join(f"{question}: {level}" for question, level in levels.items())


def _options(question: Any) -> dict[str, str]:
    if question.kind == "pairwise":
        fields = {FIRST: question.first_field, SECOND: question.second_field}
        return _of_fields(fields) | ({TIE: "Both equally"} if question.allow_tie else {})
    if question.kind == "scale":
        ends = (question.low_label, *[""] * (len(question.points) - 2), question.high_label)
        labels = question.labels or ends
        return {str(point): label for point, label in zip(question.points, labels, strict=True)}
    if question.kind == "span":
        return {label.code: label.text for label in question.labels}
    options = getattr(question, "options", ())
    return {option.code: option.text or f"the item's {option.text_field}" for option in options}


def _of_fields(fields: Mapping[str, str]) -> dict[str, str]:
    return {code: f"the item's {name}" for code, name in fields.items()}
