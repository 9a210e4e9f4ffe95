"""Which key chooses which option. Pure: the page and its tests draw the same keys."""

import string
from collections.abc import Sequence

RESERVED = frozenset("usfgt?")  # undo, skip, flag, guidelines, text field, list of keys
DIGITS = "1234567890"


def form_keys(questions: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[list[str]]:
    """Keys for each question of a form, from its option codes and the keys wanted for them ("" for any).

    No key is given twice when the wanted ones differ and the digits suffice for the other options; else each question
    has the keys that `option_keys` gives it alone.
    """
    wanted = [_wanted(codes, keys) for codes, keys in questions]
    given = [key for keys in wanted for key in keys if key]
    spare = [digit for digit in DIGITS if digit not in given]
    if len(set(given)) == len(given) and sum(key == "" for keys in wanted for key in keys) <= len(spare):
        left = iter(spare)
        return [[key or next(left) for key in keys] for keys in wanted]
    return [option_keys(codes, wanted=keys) for codes, keys in questions]


def option_keys(codes: Sequence[str], *, wanted: Sequence[str] = ()) -> list[str]:
    """One lower-case key for each option: the wanted one, else the next free digit, then the next free letter.

    On a scale a point that is a single digit has that digit. Options past the last key get "". A wanted key that a
    command of the page has, or that an option before has, is not given.
    """
    given = _wanted(codes, wanted)
    letters = (letter for letter in string.ascii_lowercase if letter not in RESERVED)
    spare = iter([key for key in [*DIGITS, *letters] if key not in given])
    return [key or next(spare, "") for key in given]


def _wanted(codes: Sequence[str], wanted: Sequence[str]) -> list[str]:
    keys = [key.lower() for key in wanted] or [""] * len(codes)
    if codes and all(code.lstrip("-").isdigit() for code in codes):
        keys = [key or (code if len(code) == 1 else "") for key, code in zip(keys, codes, strict=True)]
    return ["" if key in RESERVED or key in keys[:place] else key for place, key in enumerate(keys)]
