"""Parts of a question and of a relation as people type them into a form, one entry a line, and back. Pure code.

What reads raises ValueError with a sentence that names the line.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from studies.design_lines import lines_of, pair_of, read_names, write_names

APART = "(apart)"  # at the end of an option that stands after all others and excludes them
MOST_OPTIONS = 500
CODE = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_ .-]{0,58}[A-Za-z0-9_.])?")


def read_options(text: str) -> list[dict[str, Any]]:
    """The options of a question: a text that can be its own code, or a code, a colon and the text.

    >>> read_options("India\\nunsaid: I prefer not to say (apart)")
    [{'code': 'India', 'text': 'India'}, {'code': 'unsaid', 'text': 'I prefer not to say', 'apart': True}]
    """
    lines, options = lines_of(text), []
    if len(lines) > MOST_OPTIONS:
        raise ValueError(f"There are {len(lines)} answers; give at most {MOST_OPTIONS}.")
    for line in lines:
        plain = line.removesuffix(APART).strip()
        code, colon, words = (part.strip() for part in plain.partition(":"))
        if not CODE.fullmatch(code):
            raise ValueError(
                f"“{line}” needs a code before its text, such as “older: 40 or over”; a code has letters without "
                "accents, digits, spaces and _ . - in at most 60 characters."
            )
        option = {"code": code, "text": words if colon else code}
        options.append(option | ({"apart": True} if plain != line else {}))
    return options


def write_options(options: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(map(_option, options))


def _option(option: Mapping[str, Any]) -> str:
    code, text = option.get("code", ""), option.get("text", "")
    line = code if code == text else f"{code}: {text}"
    return f"{line} {APART}" if option.get("apart") else line


def read_condition(text: str) -> dict[str, Any]:
    """When a question is asked: an earlier question's code, a colon and its answers, whole numbers as numbers.

    >>> read_condition("usual: no, 3")
    {'question': 'usual', 'any_of': ['no', 3]}
    """
    question, answers = pair_of(text.strip(), "usual: no")
    return {"question": question, "any_of": [_number_or_text(answer) for answer in read_names(answers)]}


def write_condition(condition: Mapping[str, Any]) -> str:
    return f"{condition['question']}: {write_names(map(str, condition['any_of']))}"


def read_close(text: str) -> dict[str, list[str]]:
    """What is close to each answer; names with commas are parted by semicolons.

    >>> read_close("India: Nepal, Pakistan")
    {'India': ['Nepal', 'Pakistan']}
    """
    pairs = (pair_of(line, "India: Nepal, Pakistan") for line in lines_of(text))
    return {
        own: list(filter(None, map(str.strip, others.split(";" if ";" in others else ",")))) for own, others in pairs
    }


def write_close(close: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(f"{own}: {_parted(list(others))}" for own, others in close.items())


def _parted(names: list[str]) -> str:
    return "; ".join(names) + ";" if any("," in name for name in names) else ", ".join(names)


def _number_or_text(answer: str) -> str | int:
    digits = answer.removeprefix("-")
    return int(answer) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else answer
