"""Parts of a question as people type them into a form, one entry a line, and back. Pure code.

What reads raises ValueError with a sentence that names the line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from materials.lines import lines_of, pair_of, read_names, write_names

APART = "(apart)"  # at the end of an option that stands after all others and excludes them
MOST_OPTIONS = 500
CODE = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_ .-]{0,58}[A-Za-z0-9_.])?")
FIELD = re.compile(r"\{([^{}]+)\}")  # a field of the item in place of a text
PARTS = ("code", "text", "hotkey", "help")
ANSWERED_BY_NUMBER = ("scale", "number")


def read_options(text: str) -> list[dict[str, Any]]:
    """The options of a question: code, text, key and help with lines between; what is left out at the end is empty.

    A text alone is its own code, one in braces is the field of the item that holds it.

    >>> read_options("India\\na | {option_a} | k\\nunsaid | I prefer not to say (apart)")[:2]
    [{'code': 'India', 'text': 'India'}, {'code': 'a', 'hotkey': 'k', 'text_field': 'option_a'}]
    """
    options = []
    for line in _few_lines(text):
        plain = line.removesuffix(APART).strip()
        option: dict[str, Any] = _parts_of(plain)
        if field := FIELD.fullmatch(option["text"]):
            del option["text"]
            option["text_field"] = field[1].strip()
        options.append(option | ({"apart": True} if plain != line else {}))
    return options


def write_options(options: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(map(_option, options))


def _option(option: Mapping[str, Any]) -> str:
    text = f"{{{option['text_field']}}}" if option.get("text_field") else option.get("text", "")
    return _line_of({**option, "text": text}) + (f" {APART}" if option.get("apart") else "")


def read_labels(text: str) -> list[dict[str, Any]]:
    """What a passage can be marked as: as options, with texts of their own.

    >>> read_labels("fact | A fact | f")
    [{'code': 'fact', 'text': 'A fact', 'hotkey': 'f'}]
    """
    return [dict(_parts_of(line)) for line in _few_lines(text)]


def write_labels(labels: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(map(_line_of, labels))


def _few_lines(text: str) -> list[str]:
    lines = lines_of(text)
    if len(lines) > MOST_OPTIONS:
        raise ValueError(f"There are {len(lines)} answers; give at most {MOST_OPTIONS}.")
    return lines


def _parts_of(line: str) -> dict[str, str]:
    """Code and text, and what else the line has."""
    parts = [part.strip() for part in line.split("|")]
    if not CODE.fullmatch(parts[0]):
        raise ValueError(
            f"“{line}” needs a code before its text, such as “older | 40 or over”; a code has letters without "
            "accents, digits, spaces and _ . - in at most 60 characters."
        )
    if len(parts) > len(PARTS):
        raise ValueError(f"“{line}” has more parts than code | text | key | help.")
    given = {name: part for name, part in zip(PARTS, parts, strict=False) if part}
    if len(given.get("hotkey", "")) > 1:
        raise ValueError(f"“{line}” has a key of more than one character.")
    return {"code": parts[0], "text": parts[0]} | given


def _line_of(entry: Mapping[str, Any]) -> str:
    parts = [entry.get(name, "") for name in PARTS]
    if not any(parts[2:]) and parts[0] == parts[1]:
        return str(parts[0])
    while not parts[-1]:
        parts.pop()
    return " | ".join(parts)


def read_condition(text: str) -> dict[str, Any]:
    """When a question is asked: an earlier question's code, a colon and its answers, whole numbers as numbers.

    >>> read_condition("usual: no, 3")
    {'question': 'usual', 'any_of': ['no', 3]}
    """
    question, answers = pair_of(text.strip(), "usual: no")
    return {"question": question, "any_of": [_number_or_text(answer) for answer in read_names(answers)]}


def write_condition(condition: Mapping[str, Any]) -> str:
    return f"{condition['question']}: {write_names(map(str, condition['any_of']))}"


def typed_conditions(questions: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The questions with texts in conditions on questions that are not answered by a number: a code may be digits."""
    numeric = {question["code"] for question in questions if question["kind"] in ANSWERED_BY_NUMBER}
    for question in questions:
        rule = question.get("show_if")
        if rule and rule["question"] not in numeric:
            yield {**question, "show_if": {**rule, "any_of": [str(answer) for answer in rule["any_of"]]}}
        else:
            yield question


def _number_or_text(answer: str) -> str | int:
    digits = answer.removeprefix("-")
    return int(answer) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else answer
