"""Random choices that can be drawn again anywhere: a function of a seed and a key, never of a process or an order."""

import hashlib


def draw_index(n: int, *, seed: int, key: str) -> int:
    """A number from 0 to n - 1, uniform over keys; n must be at least 1.

    The 64-bit remainder leans to small numbers by less than n / 2**64.
    """
    digest = hashlib.blake2b(f"{seed}/{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % n
