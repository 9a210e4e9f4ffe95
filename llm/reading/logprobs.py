"""The log probabilities that come with an answer, read tolerantly: servers leave out, rename and misshape parts.

Pure code.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MAX_TOKENS = 4096  # of one answer; of a longer one the last are kept, since an answer ends with its verdict
MAX_ALTERNATIVES = 20  # what the interface allows to ask for
LOWEST = -9999.0  # what servers send for "practically never"; stands for minus infinity and for null
_ROUNDING = 0.01  # a log probability above 0 by no more than this is 0, above that it is nonsense


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer. `top`: (text, log probability) of the likeliest tokens at its place, likeliest first.

    Log probabilities are natural and at most 0. `top` mostly holds the token itself, but need not.
    """

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


def read_logprobs(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    """The tokens of `choice["logprobs"]["content"]`, at most MAX_TOKENS; empty when there are none to be read.

    A token without a usable log probability has LOWEST, so that the texts still add up to the answer; an alternative
    without one is left out. One entry that is no token makes the whole list unusable: places could not be trusted.

    >>> read_logprobs({"logprobs": {"content": [{"token": "B", "logprob": None, "top_logprobs": None}]}})
    (Token(text='B', logprob=-9999.0, top=()),)
    """
    block = choice.get("logprobs")
    content = block.get("content") if isinstance(block, Mapping) else None
    if not isinstance(content, list):
        return ()
    tokens = [_token(entry) for entry in content[-MAX_TOKENS:]]
    return () if None in tokens else tuple(token for token in tokens if token is not None)


def _token(entry: Any) -> Token | None:
    text = _text(entry)
    if text is None:
        return None
    logprob = _logprob(entry.get("logprob"))
    return Token(text, LOWEST if logprob is None else logprob, _alternatives(entry.get("top_logprobs")))


def _alternatives(entries: Any) -> tuple[tuple[str, float], ...]:
    """Likeliest first. Two of the same text stay two: they are different tokens that look alike."""
    if not isinstance(entries, list):
        return ()
    read = [(_text(entry), _logprob(entry.get("logprob")) if isinstance(entry, dict) else None) for entry in entries]
    known = [(text, logprob) for text, logprob in read if text is not None and logprob is not None]
    return tuple(sorted(known, key=lambda pair: -pair[1])[:MAX_ALTERNATIVES])


def _text(entry: Any) -> str | None:
    """By its bytes where they are whole characters: the token's name can be escaped or be a number instead."""
    if not isinstance(entry, dict):
        return None
    text, numbers = entry.get("token"), entry.get("bytes")
    if isinstance(numbers, list) and numbers:
        with suppress(TypeError, ValueError):
            return bytes(numbers).decode()
    return text if isinstance(text, str) else None


def _logprob(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= _ROUNDING:  # NaN neither
        return None
    return float(value) if LOWEST < value < 0 else LOWEST if value < 0 else 0.0
