"""Statistics that depend on the units only through sums over them: their value and their intervals.

Every coefficient of agreement is one. The analytic interval linearises the statistic in the sums, the bootstrap draws
whole clusters; both let units of one cluster depend on each other.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .checks import at_least_one, confidence_level, generator, same_length, unit_codes
from .resampling import draw_alike, draw_weights, percentile_interval
from .result import Estimate

FloatArray = NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)

ONE_UNIT = "an interval needs two independent units"
NO_SPREAD = "all units contribute the same, so there is no interval"
NO_RESAMPLE = "no resample has a value, so there is no interval"

# To draw how many units there are of a sort takes as long as to draw so many units.
_UNITS_A_SORT = 10
_RESAMPLES_AT_ONCE = 200

_STEP = 1e-100
_NO_WIDTH = 1e-12


@dataclass(frozen=True, slots=True)
class SumStatistic:
    """`rows`, shape (units, k), holds what each unit adds; `of_sums` turns sums of shape (..., k) into values (...).

    `of_sums` is made of arithmetic only, as it is also called with complex numbers; 0/0 in it means undefined. `n`
    counts the units behind the value. `undefined` says why there is no value, and is empty where there is one; `note`
    says what was left out. The value lies between `lowest` and 1.
    """

    rows: FloatArray
    of_sums: Callable[[NDArray[Any]], NDArray[Any]]
    n: int
    undefined: str = ""
    note: str = ""
    lowest: float = float("-inf")

    @classmethod
    def without_value(cls, n_units: int, reason: str) -> Self:
        """A statistic that is undefined for so many units."""
        return cls(np.zeros((n_units, 1)), lambda sums: np.full(sums.shape[:-1], np.nan), 0, reason)

    def estimate(self) -> Estimate:
        """The value over all units, without an interval."""
        if self.undefined:
            return Estimate.undefined(self.undefined, n=self.n)
        return Estimate(float(self.of_sums(self.rows.sum(axis=0))), self.n, reason=self.note)


def with_intervals(
    statistics: Mapping[Name, SumStatistic],
    *,
    clusters: ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> dict[Name, Estimate]:
    """Each statistic with its interval; all have rows for the same units.

    `clusters` has one label per unit, shape (units,); without it each unit is its own. With a seed the intervals are
    percentiles of `n_resamples` bootstrap resamples of clusters, the same resamples for all statistics. Without one
    they are analytic: linearised, with t quantiles on clusters - 1 degrees of freedom and cut to the statistic's range.
    Bounds are NaN, and `reason` says why, with fewer than two clusters and where clusters do not differ, as in perfect
    agreement. Raises ValueError for a bad seed, level or number of resamples, and for clusters of another length.
    Source: Gwet (2014), chapter 5, whose variances these are when no rating is missing; Binder (1983) for the rest.

    >>> rows = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    >>> mean = SumStatistic(rows, lambda sums: sums[..., 0] / sums[..., 1], n=4)
    >>> found = with_intervals({"mean": mean})["mean"]
    >>> round(found.low, 4), round(found.value, 4), round(found.high, 4)
    (-0.4187, 0.5, 1.0)
    >>> with_intervals({"mean": mean}, seed=1)["mean"].low
    0.0
    """
    confidence_level(level, what="level")
    at_least_one(n_resamples, what="n_resamples")
    n_units = max((len(statistic.rows) for statistic in statistics.values()), default=0)
    codes = np.arange(n_units) if clusters is None else unit_codes(clusters, what="The clusters")
    for statistic in statistics.values():
        same_length("An interval", units=statistic.rows, clusters=codes)
    if seed is None:
        return {name: _analytic(statistic, codes, level) for name, statistic in statistics.items()}
    return _bootstrap(statistics, codes, generator(seed), n_resamples, level)


def with_intervals_by_sort(
    statistics: Mapping[Name, SumStatistic],
    *,
    alike: ArrayLike,
    seed: int | np.random.Generator,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> dict[Name, Estimate]:
    """As `with_intervals` by bootstrap, where a row is the sum over all units of a sort, which add the same.

    `alike`, shape (rows,), says how many units each row is the sum of; units are drawn, not rows.

    >>> rows = np.array([[0.0, 20.0], [60.0, 60.0]])
    >>> mean = SumStatistic(rows, lambda sums: sums[..., 0] / sums[..., 1], n=80)
    >>> found = with_intervals_by_sort({"mean": mean}, alike=[20, 60], seed=1)["mean"]
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (0.75, 0.65, 0.84)
    """
    confidence_level(level, what="level")
    at_least_one(n_resamples, what="n_resamples")
    rng, times = generator(seed), np.asarray(alike, dtype=np.int64)
    for statistic in statistics.values():
        same_length("An interval", units=statistic.rows, alike=times)
    rows = np.hstack([statistic.rows for statistic in statistics.values()])
    contributing = rows.any(axis=1)
    times, sums = times[contributing], rows[contributing]
    if times.sum() < 2:
        return {name: _without_interval(statistic.estimate(), ONE_UNIT) for name, statistic in statistics.items()}
    each = sums / times[:, None]
    if _UNITS_A_SORT * len(times) < times.sum():
        parts = np.diff([*range(0, n_resamples, _RESAMPLES_AT_ONCE), n_resamples])
        drawn = np.concatenate([draw_alike(times, part, rng) @ each for part in parts])
    else:
        units = np.repeat(each, times, axis=0)
        drawn = np.concatenate([weights @ units for weights in draw_weights(len(units), n_resamples, rng)])
    return _of_resamples(statistics, drawn, level)


def _analytic(statistic: SumStatistic, codes: NDArray[np.intp], level: float) -> Estimate:
    point, sums = statistic.estimate(), _cluster_sums(statistic.rows, codes)
    if not point.defined or len(sums) < 2:
        return _without_interval(point, ONE_UNIT)
    n, k = sums.shape
    # The imaginary part over the step is the gradient in the sums, without the rounding of a real step.
    influence = sums @ (statistic.of_sums(sums.sum(axis=0) + 1j * _STEP * np.eye(k)).imag / _STEP)
    error = np.sqrt(n / (n - 1) * np.sum((influence - influence.mean()) ** 2))
    if error < _NO_WIDTH:
        return _without_interval(point, NO_SPREAD)
    margin = float(stats.t.ppf((1 + level) / 2, n - 1) * error)
    low, high = max(point.value - margin, statistic.lowest), min(point.value + margin, 1.0)
    return Estimate(point.value, point.n, low, high, point.reason)


def _bootstrap(
    statistics: Mapping[Name, SumStatistic],
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    n_resamples: int,
    level: float,
) -> dict[Name, Estimate]:
    if not statistics:
        return {}
    rows = np.hstack([statistic.rows for statistic in statistics.values()])
    sums = _cluster_sums(rows, codes)
    if len(sums) < 2:
        return {name: _without_interval(statistic.estimate(), ONE_UNIT) for name, statistic in statistics.items()}
    drawn = np.concatenate([weights @ sums for weights in draw_weights(len(sums), n_resamples, rng)])
    return _of_resamples(statistics, drawn, level)


def _of_resamples(statistics: Mapping[Name, SumStatistic], drawn: FloatArray, level: float) -> dict[Name, Estimate]:
    """`drawn` has the sums of all statistics side by side, a row for each resample."""
    points = {name: statistic.estimate() for name, statistic in statistics.items()}
    ends = np.cumsum([statistic.rows.shape[1] for statistic in statistics.values()])
    parts = dict(zip(statistics, np.split(drawn, ends[:-1], axis=1), strict=True))
    return {
        name: _percentiles(point, statistics[name].of_sums, parts[name], level) if point.defined else point
        for name, point in points.items()
    }


def _percentiles(
    point: Estimate, of_sums: Callable[[NDArray[Any]], NDArray[Any]], drawn: FloatArray, level: float
) -> Estimate:
    with np.errstate(divide="ignore", invalid="ignore"):
        interval = percentile_interval(of_sums(drawn), level=level)
    if interval.n_undefined == interval.n_resamples:
        return _without_interval(point, NO_RESAMPLE)
    if interval.high - interval.low < _NO_WIDTH:
        return _without_interval(point, NO_SPREAD)
    left_out = f"{interval.n_undefined} of {interval.n_resamples} resamples left out: undefined"
    reason = "; ".join(filter(None, [point.reason, left_out if interval.n_undefined else ""]))
    return Estimate(point.value, point.n, interval.low, interval.high, reason)


def _cluster_sums(rows: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    """Sums of the rows by cluster; a cluster that adds nothing is no part of the sample."""
    sums = pd.DataFrame(rows).groupby(codes).sum().to_numpy(dtype=np.float64)
    contributing: FloatArray = sums[sums.any(axis=1)]
    return contributing


def _without_interval(point: Estimate, why_not: str) -> Estimate:
    if not point.defined:
        return point
    return Estimate(point.value, point.n, reason="; ".join(filter(None, [point.reason, why_not])))
