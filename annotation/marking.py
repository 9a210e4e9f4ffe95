"""Known answers: which were right, and when the next one is due. Pure."""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

RightAnswers = Mapping[str, Sequence[Any]]  # by question code, every value that is right


def marks(right: RightAnswers, given: Mapping[str, Any]) -> dict[str, bool]:
    """Whether each question with known answers was answered right; one that was not answered is wrong.

    Texts are right whatever their case and the white space around them.

    >>> marks({"tone": ["warm", "kind"], "word": ["Blue"], "note": ["x"]}, {"tone": "kind", "word": " blue"})
    {'tone': True, 'word': True, 'note': False}
    """
    return {
        code: code in given and _plain(given[code]) in [_plain(value) for value in values]
        for code, values in right.items()
    }


def _plain(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value


def share_right(marked: Iterable[Mapping[str, bool]]) -> float | None:
    """The share of questions that were answered right, over all items; None without any question.

    >>> share_right([{"a": True, "b": False}, {"a": True, "b": True}])
    0.75
    """
    all_marks = [right for marks_of_item in marked for right in marks_of_item.values()]
    return sum(all_marks) / len(all_marks) if all_marks else None


def due(handled: int, *, every: int, key: str) -> int:
    """How many known answers should have been asked after `handled` ordinary items: one among each `every` of them.

    Where among them is drawn from `key`, so that nobody can count on it; 0 when `every` is 0.
    """
    if not every:
        return 0
    block, done = divmod(handled, every)
    return block + (done >= random.Random(f"{key}/{block}").randint(1, every))


def drawn_first(ids: Iterable[str], *, key: str) -> str | None:
    """One of the ids, drawn from `key`; the same whatever their order. None without any."""
    return min(ids, key=lambda entry: hashlib.sha256(f"{key}/{entry}".encode()).digest(), default=None)
