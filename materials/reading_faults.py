"""What is wrong with a file, and where."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL stores neither NUL nor half a surrogate pair
MAX_DIGITS = 308  # of a whole number; more are no float


def displayable(text: str) -> str:
    """The text with a replacement character for each that can be neither stored nor sent.

    >>> displayable("a\\x00b")
    'a�b'
    """
    return NO_CHARACTER.sub("\ufffd", text)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong and where; row 0 is the file as a whole, column "" the row as a whole.

    Both texts quote the file, and hold only what can be stored and shown.
    """

    row: int
    column: str
    what: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", displayable(self.column))
        object.__setattr__(self, "what", displayable(self.what))

    def __str__(self) -> str:
        place = [f"row {self.row}"] if self.row else []
        place += [f"column {self.column}"] if self.column else []
        return f"{', '.join(place)}: {self.what}" if place else self.what


class SourceError(ValueError):
    """The file as a whole cannot be read; the text says why and what to do."""


def load_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError in words, also for NaN, infinities and doubled keys."""
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON ({error.msg}, character {error.colno}).") from error
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply.") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)} stands there twice.")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use null.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large.")
    return number


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"the number {text[:40]}… is too large.")
    return int(text)


DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite, parse_int=_whole
)
