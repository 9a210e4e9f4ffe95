"""Finding the answer inside a model's prose: thinking blocks, JSON objects, marked letters.

Pure code, which knows nothing of questions.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

MAX_OBJECT_STARTS = 50  # braces tried in one reply, so that a reply of braces costs no time

_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TRAILING_OBJECT = re.compile(r"\{[^{}]*\}\s*(?:```)?\s*$")
_ANSWER_IS = r"\b(?:(?:final|my|the|best|correct)\s+)*(?:answer|choice|option|verdict|response|pick|choose|select)\b"
_MARK = re.compile(rf"^\W*{_ANSWER_IS}(?:\s+is)?\s*[:=\-]?\s*(.+)$", re.IGNORECASE | re.DOTALL)
_PHRASE = re.compile(r"\s+(?!(?:as|because|due|for|in|is|over|since|with)\b)[a-z]")
_NEGATION = re.compile(r"\b(?:not|never|neither|nor|cannot|unsure|unclear|both|either)\b|n['’]t\b", re.IGNORECASE)


class UnclearError(ValueError):
    """A reply that is not clearly one answer; the text says what is wrong, in one sentence."""


def split_think(text: str) -> tuple[str, str]:
    """The text after the thinking and the thinking: `<think>` closed, opened by the prompt only, or never closed.

    A block that is never closed is all thinking, except for a JSON object at its very end.

    >>> split_think("<think>Hm.</think> B")
    ('B', 'Hm.')
    >>> split_think('<think>So B. {"q": "B"}')
    ('{"q": "B"}', 'So B.')
    """
    closings = list(_THINK_CLOSE.finditer(text))
    if closings:
        thinking, answer = text[: closings[-1].start()], text[closings[-1].end() :]
        return answer.strip(), _THINK_OPEN.sub("", thinking, count=1).strip()
    opening = _THINK_OPEN.search(text)
    if opening is None:
        return text.strip(), ""
    before, thinking = text[: opening.start()].strip(), text[opening.end() :]
    last = _TRAILING_OBJECT.search(thinking)
    if before or last is None:
        return before, thinking.strip()
    return thinking[last.start() :].strip().removesuffix("```").strip(), thinking[: last.start()].strip()


def json_objects(text: str) -> list[dict[str, Any]]:
    """Every complete JSON object in the text, outermost ones only, in order.

    Raises UnclearError when an object has the same key twice with different values: it would say two things.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_without_contradiction)
    objects: list[dict[str, Any]] = []
    position = text.find("{")
    for _ in range(MAX_OBJECT_STARTS):
        if position < 0:
            break
        try:
            value, end = decoder.raw_decode(text, position)
            objects.append(value)
        except UnclearError:
            raise
        except (ValueError, RecursionError):
            end = position + 1
        position = text.find("{", end)
    return objects


def marked_answer(text: str) -> str:
    """What follows "Answer:", "The answer is" or the like at the start of the text; otherwise the text itself.

    >>> marked_answer("**Final answer:** 4")
    '** 4'
    """
    mark = _MARK.match(text)
    return mark.group(1) if mark else text


def marked_letters(text: str, letters: Sequence[str]) -> set[str]:
    """The option letters that the text puts forward as its answer; several when it is not clear.

    First those that follow words like "answer:"; without any, those that stand alone before punctuation or at the end,
    unless the text denies something. A letter inside a word, and "A" as an article, is none.

    >>> sorted(marked_letters("A person may, so (b)", "AB")), sorted(marked_letters("Answer: A or B", "AB"))
    (['B'], ['A', 'B'])
    """
    one = "|".join(sorted(letters, key=len, reverse=True))
    alone = rf"(?<![\w'’.-])({one})(?![\w'’-])"
    explicit = re.compile(rf"{_ANSWER_IS}(?:\s+(?:is|would\s+be|will\s+be))?[\s:=*_\"'`(\[]*{alone}", re.IGNORECASE)
    found: set[str] = set()
    for match in explicit.finditer(text):
        rest = text[match.end() :]
        if re.match(r"[\s)\]*]*\?|\W*\s(?:if|unless|when)\b", rest, re.IGNORECASE) or _is_article(match.group(1), rest):
            continue
        found.add(match.group(1).upper())
        other = re.match(rf"[\s)\]*\"']*(?:or|and|/|,|&|\|)[\s(\[*\"']*{alone}", rest, re.IGNORECASE)
        if other and not _is_article(other.group(1), rest[other.end() :]):
            found.add(other.group(1).upper())
    if found:
        return found
    if _NEGATION.search(text):
        return set()
    bare = re.compile(rf"[(\[*\"'`]+({one})[)\]*\"'`]+|{alone}(?=\s*(?:[.,;:!)\]](?!\w)|$))", re.IGNORECASE)
    return {
        (enclosed or standing).upper() for enclosed, standing in bare.findall(text) if enclosed or standing.isupper()
    }


def _is_article(letter: str, rest: str) -> bool:
    """Whether the letter begins a phrase ("a fair one", "I think") instead of standing for an option ("A because")."""
    return letter.upper() in ("A", "I") and _PHRASE.match(rest) is not None


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in pairs:
        if key in document and document[key] != value:
            raise UnclearError(f'The JSON object has the key "{key}" twice with different values.')
        document[key] = value
    return document
