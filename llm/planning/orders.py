"""The orders in which a call shows the options of its questions.

Pure code. Only questions whose instrument lets their options change places (`randomise`) take part; a tie and what
stands apart stay last.
"""

from collections.abc import Sequence
from typing import Any

from materials.questions import draw_orders, last_codes, option_codes

Orders = dict[str, list[str]]


def movable(questions: Sequence[Any]) -> list[Any]:
    """The questions whose options may change places."""
    return [question for question in questions if getattr(question, "randomise", False)]


def count_orders(questions: Sequence[Any], rule: str) -> int:
    """How many calls the rule makes of one: 1 for "drawn" and "written", 2 for "both", for "rotated" as many as the
    longest movable question has options. Without a movable question 1."""
    longest = max((len(_codes(question)) for question in movable(questions)), default=1)
    return {"both": min(2, longest), "rotated": longest}.get(rule, 1)


def call_orders(questions: Sequence[Any], rule: str, variant: int, *, key: str) -> Orders:
    """Option codes as shown, by question code: those of the rule's variant number `variant`, or drawn by `key`.

    Empty for "written": the instrument's own order needs no record.
    """
    if rule == "drawn":
        return draw_orders(questions, key=key)
    if rule == "written":
        return {}
    return {question.code: _variant(question, rule, variant) for question in movable(questions)}


def _variant(question: Any, rule: str, variant: int) -> list[str]:
    codes = _codes(question)
    if rule == "both":
        shown = codes[::-1] if variant else codes
    else:
        start = variant % len(codes)
        shown = codes[start:] + codes[:start]
    return shown + last_codes(question)


def _codes(question: Any) -> list[str]:
    last = last_codes(question)
    return [code for code in option_codes(question) if code not in last]
