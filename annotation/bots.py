"""What bots answer in the place of annotators, as a function of seeds alone.

Each item has an answer to each question that most bots give, so that they agree more than by chance. Of two options it
is mostly the first one, with which items go on in most instruments: bots that decided evenly would leave little of a
chain of such questions.
"""

import math
import re
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from materials.questions import BEST, NO_CONTENT, WORST, is_shown, last_codes, option_codes

AGREE, FIRST, LEAVE_OUT = 0.9, 0.9, 0.1  # probabilities
MOST = 10  # from the lowest number to the highest, where the question names no highest
SOME_TEXT = "A simulated answer."


def bot_answers(
    questions: Iterable[Any],
    content: Mapping[str, Any],
    *,
    item: str,
    bot: str,
    seed: int,
    known: Mapping[str, Any] = NO_CONTENT,
) -> dict[str, Any]:
    """A valid answer by question code to every question that is asked given the answers before it.

    `known`: answers that are given as they are, by code. Optional questions are left out now and then, optional texts
    always; nobody chooses a tie.
    """
    answers: dict[str, Any] = {}
    for question in questions:
        if not is_shown(question, answers):
            continue
        own = Random(f"{seed}/{bot}/{item}/{question.code}")
        agrees, leaves_out = own.random() < AGREE, own.random() < LEAVE_OUT
        if question.code in known:
            answers[question.code] = known[question.code]
        elif question.required or not (leaves_out or question.kind == "text"):
            answers[question.code] = _draw(
                question, content, Random(f"{seed}/{item}/{question.code}") if agrees else own
            )
    return answers


def _draw(question: Any, content: Mapping[str, Any], rng: Random) -> Any:
    match question.kind:
        case "text":
            return SOME_TEXT[: question.max_length]
        case "number":
            return _number(question, rng)
        case "scale":
            return rng.choice(question.points)
        case "span":
            return _passage(question, content, rng)
    last = last_codes(question)
    codes = [code for code in option_codes(question) if code not in last]
    if not codes:
        return [rng.choice(last)] if question.kind == "multi" else rng.choice(last)
    match question.kind:
        case "multi":
            most = len(codes) if question.maximum is None else min(question.maximum, len(codes))
            return rng.sample(codes, rng.randint(min(max(question.minimum, question.required), most), most))
        case "rank":
            return rng.sample(codes, question.places)
        case "best_worst":
            return dict(zip((BEST, WORST), rng.sample(codes, 2), strict=True))
        case "choice" if len(codes) == 2:
            return codes[rng.random() >= FIRST]
    return rng.choice(codes)


def _number(question: Any, rng: Random) -> int | float:
    highest = question.maximum
    low = question.minimum if question.minimum is not None else min(0, MOST if highest is None else highest - MOST)
    high = low + MOST if highest is None else highest
    if question.integer:
        return rng.randint(math.ceil(low), math.floor(high))
    return min(high, low + (high - low) * rng.randint(0, MOST) / MOST)


def _passage(question: Any, content: Mapping[str, Any], rng: Random) -> list[dict[str, Any]]:
    """One word of the text."""
    word = rng.choice(list(re.finditer(r"\S+", question.text_of(content))))
    label = rng.choice(question.labels)
    return [{"start": word.start(), "end": word.end(), "label": label.code}]
