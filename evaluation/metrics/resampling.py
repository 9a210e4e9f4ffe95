"""Percentile bootstrap over clusters, for statistics that can be written with weights.

A resample is a row of weights: how often each unit was drawn. A statistic that works on a whole matrix of such rows
needs no loop over resamples.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import at_least_one, confidence_level, generator, unit_codes
from .result import NAN

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]

# Weights held at once: 16 MB of float64, whatever the number of units.
_MAX_WEIGHTS = 2_000_000


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """Bounds of the interval and how many resamples had no value (they are left out of the percentiles)."""

    low: float
    high: float
    n_resamples: int
    n_undefined: int


def bootstrap_interval(
    statistic: Statistic,
    clusters: ArrayLike,
    *,
    n_resamples: int,
    seed: int | np.random.Generator,
    level: float = 0.95,
    around: float | None = None,
) -> BootstrapInterval:
    """Percentile interval from drawing whole clusters with replacement.

    `clusters` has one label per unit, shape (n,); give `numpy.arange(n)` to draw single units. `statistic` gets weights
    of shape (resamples, n) and returns one value per row, NaN where undefined. With fewer than two clusters, or when no
    resample has a value, the bounds are NaN. `around`: the statistic's value, for one that is biased by units that
    resamples repeat; the percentiles are moved until the resamples' mean is there. Source: Efron and Tibshirani (1993),
    chapter 13; the cluster form is Davison and Hinkley (1997), section 3.8.

    >>> values = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    >>> interval = bootstrap_interval(weighted_mean(values), np.arange(5), n_resamples=500, seed=1)
    >>> bool(interval.low < values.mean() < interval.high), interval.n_undefined
    (True, 0)
    """
    at_least_one(n_resamples, what="n_resamples")
    confidence_level(level, what="level")
    rng, codes = generator(seed), unit_codes(clusters, what="The clusters")
    n_clusters = np.unique(codes).size
    if n_clusters < 2:
        return BootstrapInterval(NAN, NAN, n_resamples, n_resamples)
    draws = draw_weights(n_clusters, n_resamples, rng)
    values = np.concatenate([statistic(weights[:, codes]) for weights in draws])
    if around is not None and not np.isnan(values).all():
        values = values - np.nanmean(values) + around
    return percentile_interval(values, level=level)


def percentile_interval(values: FloatArray, *, level: float) -> BootstrapInterval:
    """The interval that holds the middle `level` of the resampled values, shape (resamples,); NaN values are left out.

    >>> percentile_interval(np.array([0.0, 0.5, 1.0, np.nan]), level=0.5)
    BootstrapInterval(low=0.25, high=0.75, n_resamples=4, n_undefined=1)
    """
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return BootstrapInterval(NAN, NAN, values.size, values.size)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapInterval(float(low), float(high), values.size, values.size - defined.size)


def draw_weights(n_clusters: int, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """How often each cluster is drawn, shape (resamples, n_clusters), in parts that fit into memory.

    >>> next(draw_weights(4, 2, np.random.default_rng(1))).sum(axis=1).tolist()
    [4.0, 4.0]
    """
    chunk = max(1, _MAX_WEIGHTS // n_clusters)
    for start in range(0, n_resamples, chunk):
        rows = min(chunk, n_resamples - start)
        drawn = rng.integers(0, n_clusters, size=(rows, n_clusters))
        drawn += np.arange(rows)[:, None] * n_clusters
        counts = np.bincount(drawn.ravel(), minlength=rows * n_clusters)
        yield counts.reshape(rows, n_clusters).astype(np.float64)


def draw_alike(alike: ArrayLike, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """How often units of each sort are drawn where only their sort counts, shape (resamples, sorts).

    `alike` is how many units there are of each sort, shape (sorts,), and as many are drawn. The draws have the
    distribution of those of `draw_weights` summed by sort, at the cost of the sorts in place of the units.

    >>> draw_alike([3, 1], 2, np.random.default_rng(1)).sum(axis=1).tolist()
    [4.0, 4.0]
    """
    counts = np.asarray(alike, dtype=np.int64)
    return rng.multinomial(counts.sum(), counts / counts.sum(), size=n_resamples).astype(np.float64)


def weighted_mean(values: FloatArray) -> Statistic:
    """The mean of `values`, shape (n,), as a statistic of weights.

    >>> weighted_mean(np.array([1.0, 4.0]))(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist()
    [2.5, 1.0]
    """

    def statistic(weights: FloatArray) -> FloatArray:
        means: FloatArray = weights @ values / weights.sum(axis=1)
        return means

    return statistic


def weighted_pearson(first: FloatArray, second: FloatArray) -> Statistic:
    """Pearson's correlation of two vectors, shape (n,), as a statistic of weights.

    A resample in which either vector is constant gives NaN.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> weighted_pearson(x, 2 * x)(np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0]])).round(6).tolist()
    [1.0, nan]
    """
    x, y = first - first.mean(), second - second.mean()

    def statistic(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=1)
        mean_x, mean_y = weights @ x / total, weights @ y / total
        covariance = weights @ (x * y) / total - mean_x * mean_y
        variance_x = weights @ (x * x) / total - mean_x**2
        variance_y = weights @ (y * y) / total - mean_y**2
        # Rounding leaves a constant vector with a tiny variance, so constancy is read off the drawn values themselves.
        constant = _is_constant(weights, x) | _is_constant(weights, y)
        scale = np.sqrt(np.where(constant, 1.0, variance_x * variance_y))
        return np.where(constant, np.nan, np.clip(covariance / scale, -1.0, 1.0))

    return statistic


def _is_constant(weights: FloatArray, values: FloatArray) -> NDArray[np.bool_]:
    drawn = weights > 0
    highest = np.where(drawn, values, -np.inf).max(axis=1)
    lowest = np.where(drawn, values, np.inf).min(axis=1)
    constant: NDArray[np.bool_] = highest == lowest
    return constant
