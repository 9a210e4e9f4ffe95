"""Factors and item filters as lines of a form. Pure code.

A line is `name: one | two | three`; a factor's level may have a text of its own: `tone: none = | kind = Be kind.`.
"""

from collections.abc import Iterator
from typing import Any

from llm.grid import Factor, GridError, Level


def read_factors(text: str) -> list[dict[str, Any]]:
    """Factors, one a line, as JSON. Raises GridError with the line.

    >>> read_factors("tone: kind | blunt = Say it straight.")[0]["levels"][1]
    {'name': 'blunt', 'value': 'Say it straight.'}
    """
    factors = []
    for number, name, entries in _lines(text):
        levels = []
        for entry in entries:
            level, sign, value = (part.strip() for part in entry.partition("="))
            levels.append(Level(level, value if sign else level))
        try:
            factors.append(Factor(name, tuple(levels)).to_json())
        except GridError as error:
            raise GridError(f"Line {number}: {error}") from error
    return factors


def read_filter(text: str) -> dict[str, list[str]]:
    """Values by field, one field a line; an item passes that has one of the values in each field. Raises GridError.

    >>> read_filter("country: Brazil | India")
    {'country': ['Brazil', 'India']}
    """
    found: dict[str, list[str]] = {}
    for number, name, entries in _lines(text):
        if name in found:
            raise GridError(f"Line {number}: {name} is there twice; give all its values in one line.")
        found[name] = entries
    return found


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, rest = line.partition(":")
        entries = [entry.strip() for entry in rest.split("|")]
        if not colon or not name.strip() or not all(entries):
            raise GridError(f"Line {number}: write a name, a colon and values with | between them, as in a: x | y.")
        yield number, name.strip(), entries
