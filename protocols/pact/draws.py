"""Random choices that can be drawn again anywhere: a function of a seed and a key, never of a process or an order."""

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def draw_index(n: int, *, seed: int, key: str) -> int:
    """A number from 0 to n - 1, uniform over keys; n must be at least 1.

    The 64-bit remainder leans to small numbers by less than n / 2**64.
    """
    return _number(seed, key) % n


def drawn(things: Sequence[T], n: int, *, seed: int, key: Callable[[T], str]) -> list[T]:
    """At most n of the things, uniformly, in their order. Others that come or go hardly change which they are."""
    chosen = {key(thing) for thing in sorted(things, key=lambda thing: _number(seed, key(thing)))[:n]}
    return [thing for thing in things if key(thing) in chosen]


def _number(seed: int, key: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}/{key}".encode(), digest_size=8).digest(), "big")
