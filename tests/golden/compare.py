"""Where a result differs from what was expected."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "(no such key)"


@dataclass(frozen=True, slots=True)
class Difference:
    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected!r}, got {self.got!r}"


def differences(expected: Any, got: Any, *, tolerance: float, path: str = "") -> Iterator[Difference]:
    """Every expected leaf that `got` lacks or misses by more than `tolerance`.

    None stands for NaN; keys that only `got` has are fine.
    """
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key, value in expected.items():
            yield from differences(value, got.get(key, MISSING), tolerance=tolerance, path=f"{path}/{key}")
    elif _is_list(expected) and _is_list(got) and len(expected) == len(got):
        for index, (value, other) in enumerate(zip(expected, got, strict=True)):
            yield from differences(value, other, tolerance=tolerance, path=f"{path}/{index}")
    elif not _same_leaf(expected, got, tolerance):
        yield Difference(path or "/", expected, got)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same_leaf(expected: Any, got: Any, tolerance: float) -> bool:
    if expected is None:
        return got is None or (isinstance(got, float) and math.isnan(got))
    if _is_number(expected) and _is_number(got):
        return abs(expected - got) <= tolerance
    return type(expected) is type(got) and bool(expected == got)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
