"""Uncertainty of a share. Pure code."""

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """A share of `n` with its 95 % Wilson interval, all in [0, 1]; NaN when `n` is 0."""

    value: float
    low: float
    high: float
    n: int


def wilson_share(count: int, n: int) -> Share:
    """The share `count / n` with its interval. Source: Wilson (1927), without continuity correction.

    >>> share = wilson_share(8, 10)
    >>> round(share.low, 4), round(share.high, 4)
    (0.4902, 0.9433)
    """
    if n == 0:
        return Share(math.nan, math.nan, math.nan, 0)
    p, z2 = count / n, Z_95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Share(p, max(0.0, middle - half), min(1.0, middle + half), n)
