"""Which key chooses which option. Pure: the page and its tests draw the same keys."""

import string
from collections.abc import Sequence

RESERVED = frozenset("usfgt")  # undo, skip, flag, guidelines, text field


def option_keys(codes: Sequence[str], *, wanted: Sequence[str] = ()) -> list[str]:
    """One lower-case key for each option: the wanted one, else the next free digit, then the next free letter.

    On a scale a point that is a single digit has that digit. Options past the last key get "".
    """
    given = [key.lower() for key in wanted] or [""] * len(codes)
    if all(code.lstrip("-").isdigit() for code in codes):
        given = [key or (code if len(code) == 1 else "") for key, code in zip(given, codes, strict=True)]
    letters = (letter for letter in string.ascii_lowercase if letter not in RESERVED)
    spare = iter([key for key in [*"1234567890", *letters] if key not in given])
    return [key or next(spare, "") for key in given]
