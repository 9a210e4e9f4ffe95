"""Decisions on two sides (two levels of a factor, two models, two orders of the options), counted by unit.

A *sides frame* has a row for each sort of unit, usually an item: `units` of them have each `n_left` decisions on the
left, `n_left_culture` of which follow culture, and so on the right. A *turns frame* counts cases that
were asked on both sides (`n_asked`), those decided on both (`n_pairs`), and of these how many turn from culture to the
preference (`n_to_preference`) or back (`n_to_culture`).

Intervals are 95 % bootstrap intervals over units. A unit is drawn with both of its sides: what these have in common
does not widen the interval of their difference.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import columns_present, whole_counts
from .gap import mcnemar_exact
from .result import NAN, Estimate
from .sum_statistics import SumStatistic, with_intervals_by_sort

FloatArray = NDArray[np.float64]

SIDES = ("n_left", "n_left_culture", "n_right", "n_right_culture")
TURNS = ("n_asked", "n_pairs", "n_to_preference", "n_to_culture")

NO_PAIR = "no case is decided on both sides"


def sided_rates(sides: pd.DataFrame, *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """The allow rates on the `left` and on the `right`, in [0, 1], and `delta_pp`: right minus left, in points.

    `n` counts decisions, of both sides for the difference. Undefined where a side has none.

    >>> sides = pd.DataFrame({"n_left": [2, 1], "n_left_culture": [2, 0], "n_right": [1, 1], "n_right_culture": 0})
    >>> found = sided_rates(sides.assign(units=[3, 1]), n_resamples=200, seed=1)
    >>> round(found["left"].value, 3), found["right"].value, round(found["delta_pp"].value, 1)
    (0.143, 1.0, 85.7)
    """
    counts = _sums(sides, SIDES)
    n_left, n_right = (int(counts[:, place].sum()) for place in (0, 2))
    undefined = "" if n_left and n_right else "no decision on one side"
    statistics = {
        "left": SumStatistic(counts, lambda sums: _allow(sums, 0), n_left, "" if n_left else "no decision"),
        "right": SumStatistic(counts, lambda sums: _allow(sums, 2), n_right, "" if n_right else "no decision"),
        "delta_pp": SumStatistic(
            counts, lambda sums: 100 * (_allow(sums, 2) - _allow(sums, 0)), n_left + n_right, undefined
        ),
    }
    return with_intervals_by_sort(statistics, alike=sides["units"], n_resamples=n_resamples, seed=seed)


def turned_decisions(turns: pd.DataFrame, *, n_resamples: int, seed: int) -> dict[str, Estimate]:
    """Of the cases decided on both sides, the shares that stay the `same` and turn `to_preference` and `to_culture`.

    All in [0, 1], with `n` cases; undefined without any. `mcnemar` is the exact two-sided p of as many turns one way as
    the other, which takes cases to be independent.

    >>> turns = pd.DataFrame({"n_asked": [2], "n_pairs": [2], "n_to_preference": [1], "n_to_culture": [0]})
    >>> found = turned_decisions(turns.assign(units=4), n_resamples=200, seed=1)
    >>> found["same"].value, found["to_preference"].value, found["mcnemar"].value
    (0.5, 0.5, 0.125)
    """
    counts = _sums(turns, TURNS)
    _, n, to_preference, to_culture = (int(count) for count in counts.sum(axis=0))
    undefined = "" if n else NO_PAIR

    def share(of: FloatArray) -> SumStatistic:
        rows = np.column_stack([of, counts[:, 1]])
        return SumStatistic(rows, lambda sums: sums[..., 0] / sums[..., 1], n, undefined)

    statistics = {
        "same": share(counts[:, 1] - counts[:, 2] - counts[:, 3]),
        "to_preference": share(counts[:, 2]),
        "to_culture": share(counts[:, 3]),
    }
    found = with_intervals_by_sort(statistics, alike=turns["units"], n_resamples=n_resamples, seed=seed)
    return found | {"mcnemar": Estimate(mcnemar_exact(to_preference, to_culture) if n else NAN, n, reason=undefined)}


def side_totals(frame: pd.DataFrame) -> dict[str, int]:
    """The counts of a sides or turns frame over all units, by name.

    >>> side_totals(pd.DataFrame({"n_left": [2, 1], "units": [3, 1]}))
    {'n_left': 7}
    """
    names = [name for name in (*SIDES, *TURNS) if name in frame]
    return {name: int((frame[name] * frame["units"]).sum()) for name in names}


def _sums(frame: pd.DataFrame, names: Sequence[str]) -> FloatArray:
    """The counts of all units of each sort, shape (sorts, names)."""
    what = "The frame of two sides"
    columns_present(frame, [*names, "units"], what=what)
    counts = whole_counts(frame[[*names, "units"]], what=what)
    sums: FloatArray = counts[:, :-1] * counts[:, -1:]
    return sums


def _allow(sums: FloatArray, side: int) -> FloatArray:
    allowed: FloatArray = 1 - sums[..., side + 1] / sums[..., side]
    return allowed
