"""Counts of seconds in bins with round edges. Pure code."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MOST_BINS = 20
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Bin:
    """Values from `low` to below `high`; the last bin has no upper end when values lie far out (`open`)."""

    low: float
    high: float
    count: int
    open: bool = False


def histogram(ordered: Sequence[float]) -> list[Bin]:
    """Bins of equal width over sorted values, at most MOST_BINS of them, of which the last takes a long tail.

    The width comes from the 99th percentile, so that one time-out does not press all others into one bin.

    >>> histogram([0.1, 0.1, 0.3])[0]
    Bin(low=0.1, high=0.12, count=2, open=False)
    """
    low, high = ordered[0], ordered[math.ceil(0.99 * len(ordered)) - 1]
    width = _round_width((high - low) / (MOST_BINS - 2)) if high > low else _round_width(max(high, 0.001) / 10)
    first = math.floor(low / width + 1e-9)
    last = math.floor(high / width + 1e-9)
    edges = [round(number * width, 9) for number in range(first, last + 2)]
    counts = [0] * (len(edges) - 1)
    beyond = 0
    for value in ordered:
        place = bisect_right(edges, value) - 1
        if place >= len(counts):
            beyond += 1
        else:
            counts[max(0, place)] += 1
    bins = [Bin(edges[number], edges[number + 1], count) for number, count in enumerate(counts)]
    return [*bins, Bin(edges[-1], ordered[-1], beyond, open=True)] if beyond else bins


def _round_width(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * (1 - 1e-9))
