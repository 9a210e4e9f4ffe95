"""Permutation tests and bootstrap intervals of `attitude_deltas`, by post or by community."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .attitude_deltas import attitude_deltas
from .checks import at_least_one, confidence_level, generator, same_length, unit_codes
from .resampling import draw_weights, percentile_interval
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

NO_INTERVAL = "an interval needs two posts or communities"

# Patterns of swaps looked at together, times posts.
_AT_ONCE = 2_000_000
# What rounding may take off a statistic that is as far from 0 as the observed one.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class SwapTest:
    """Two-sided `p` of a delta; `n_defined` of the `n_swaps` patterns have a value. `exact`: these are all patterns.

    NaN, with a `reason`, where the observed delta is undefined.
    """

    p: float
    n_swaps: int
    n_defined: int
    exact: bool
    reason: str = ""


def swap_tests(
    pairs: pd.DataFrame, *, communities: ArrayLike | None = None, n_swaps: int = 10_000, seed: int | np.random.Generator
) -> dict[str, SwapTest]:
    """Permutation tests of `attitude_deltas`: blind and informed swapped within a post, or within all of a community.

    p is the share of patterns with a delta at least as far from 0 as the observed one, among those with a value. All
    patterns are looked at where they are at most `n_swaps`; otherwise so many are drawn, and the observed one counts as
    one more (Phipson and Smyth 2010). `communities` has one label per row of `pairs`, so that posts of a community may
    depend on each other.

    >>> pairs = pd.DataFrame({"post": ["p", "q"], "real": [-1, 1], "blind": [0, 0], "informed": [-1, 1]})
    >>> swap_tests(pairs, seed=1)["delta_rmse"]
    SwapTest(p=0.5, n_swaps=4, n_defined=4, exact=True, reason='')
    """
    at_least_one(n_swaps, what="n_swaps")
    rng, observed = generator(seed), attitude_deltas(pairs)
    clusters = _clusters(pairs, communities)
    n_clusters, coded = int(clusters.max(initial=-1)) + 1, _Coded.of(pairs)
    if not n_clusters:
        return {name: SwapTest(NAN, 0, 0, True, delta.reason) for name, delta in observed.items()}
    exact = n_clusters < 63 and 2**n_clusters <= n_swaps
    n_patterns = 2**n_clusters if exact else n_swaps
    step = max(1, _AT_ONCE // max(1, clusters.size))
    parts = []
    for start in range(0, n_patterns, step):
        numbers = np.arange(start, min(start + step, n_patterns))
        if exact:
            swapped = numbers[:, None] >> np.arange(n_clusters) & 1 == 1
        else:
            swapped = rng.random((numbers.size, n_clusters)) < 0.5
        parts.append(coded.deltas(swapped[:, clusters], np.ones((numbers.size, clusters.size))))
    return {
        name: _swap_test(delta, np.concatenate([part[name] for part in parts]), exact=exact)
        for name, delta in observed.items()
    }


def delta_intervals(
    pairs: pd.DataFrame,
    *,
    communities: ArrayLike | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    seed: int | np.random.Generator,
) -> dict[str, Estimate]:
    """`attitude_deltas` with percentile bootstrap intervals: posts, or whole communities, are drawn with all they have.

    `reason` says how many resamples had no value. With fewer than two posts or communities there is no interval.

    >>> pairs = pd.DataFrame({"post": range(4), "real": [-1, 0, 1, 1], "blind": [0] * 4, "informed": [-1, 0, 0, 1]})
    >>> found = delta_intervals(pairs, seed=1)["delta_rmse"]
    >>> found.low <= found.value <= found.high <= 0
    True
    """
    at_least_one(n_resamples, what="n_resamples")
    confidence_level(level, what="level")
    rng, observed = generator(seed), attitude_deltas(pairs)
    clusters = _clusters(pairs, communities)
    n_clusters, coded = int(clusters.max(initial=-1)) + 1, _Coded.of(pairs)
    if n_clusters < 2:
        return {name: replace(delta, reason=delta.reason or NO_INTERVAL) for name, delta in observed.items()}
    parts = []
    for drawn in draw_weights(n_clusters, n_resamples, rng):
        weights = drawn[:, clusters]
        parts.append(coded.deltas(np.zeros(weights.shape, dtype=np.bool_), weights))
    found = {}
    for name, delta in observed.items():
        interval = percentile_interval(np.concatenate([part[name] for part in parts]), level=level)
        lost = f"{interval.n_undefined} of {n_resamples} resamples left out: undefined" if interval.n_undefined else ""
        found[name] = replace(delta, low=interval.low, high=interval.high, reason=lost) if delta.defined else delta
    return found


@dataclass(frozen=True, slots=True)
class _Coded:
    """Errors of both conditions, shape (n,), and what ranks need: a number from 0 for each distinct value, in order."""

    real: IntArray
    blind: IntArray
    informed: IntArray
    blind_error: FloatArray
    informed_error: FloatArray

    @classmethod
    def of(cls, pairs: pd.DataFrame) -> Self:
        real, blind, informed = (pairs[name].to_numpy(dtype=np.float64) for name in ("real", "blind", "informed"))
        both = np.unique(np.concatenate([blind, informed]), return_inverse=True)[1]
        return cls(
            real=np.unique(real, return_inverse=True)[1],
            blind=both[: real.size],
            informed=both[real.size :],
            blind_error=blind - real,
            informed_error=informed - real,
        )

    def deltas(self, swapped: NDArray[np.bool_], weights: FloatArray) -> dict[str, FloatArray]:
        """The three deltas for each row of swaps and weights, shape (rows, n)."""
        before = self._statistics(swapped, weights)
        after = self._statistics(~swapped, weights)
        return {name: after[name] - before[name] for name in before}

    def _statistics(self, informed: NDArray[np.bool_], weights: FloatArray) -> dict[str, FloatArray]:
        error = np.where(informed, self.informed_error, self.blind_error)
        codes = np.where(informed, self.informed, self.blind)
        total = weights.sum(axis=1)
        return {
            "delta_rmse": np.sqrt((weights * error**2).sum(axis=1) / total),
            "delta_abs_me": np.abs((weights * error).sum(axis=1) / total),
            "delta_rho": weighted_spearman(np.broadcast_to(self.real, codes.shape), codes, weights),
        }


def weighted_spearman(first: IntArray, second: IntArray, weights: FloatArray) -> FloatArray:
    """Rank correlation of two vectors for each row of weights, all of shape (rows, n); NaN where one is constant.

    The vectors are coded: a number from 0 for each distinct value, in order.

    >>> codes = np.array([[0, 1, 2]])
    >>> weighted_spearman(codes, codes[:, ::-1], np.ones((1, 3))).tolist()
    [-1.0]
    """
    middle = (weights.sum(axis=1, keepdims=True) + 1) / 2
    x, y = (_midranks(codes, weights) - middle for codes in (first, second))
    variance = (weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1)
    covariance = (weights * x * y).sum(axis=1)
    rho: FloatArray = np.divide(covariance, np.sqrt(variance), out=np.full(variance.shape, np.nan), where=variance > 0)
    return rho


def _midranks(codes: IntArray, weights: FloatArray) -> FloatArray:
    """The average rank of each unit among all, where a unit stands as often as its weight says."""
    rows, n_values = np.arange(len(codes))[:, None], int(codes.max(initial=0)) + 1
    places = rows * n_values + codes
    counts = np.bincount(places.ravel(), weights=weights.ravel(), minlength=len(codes) * n_values)
    counts = counts.reshape(-1, n_values)
    ranks: FloatArray = (counts.cumsum(axis=1) - counts / 2 + 0.5).ravel()[places]
    return ranks


def _swap_test(delta: Estimate, drawn: FloatArray, *, exact: bool) -> SwapTest:
    defined = drawn[~np.isnan(drawn)]
    if not delta.defined:
        return SwapTest(NAN, drawn.size, defined.size, exact, delta.reason)
    extreme = int((np.abs(defined) >= abs(delta.value) - _TOLERANCE).sum())
    p = extreme / defined.size if exact else (extreme + 1) / (defined.size + 1)
    return SwapTest(p, drawn.size, defined.size, exact)


def _clusters(pairs: pd.DataFrame, communities: ArrayLike | None) -> IntArray:
    if communities is None:
        return np.arange(len(pairs))
    codes = unit_codes(communities, what="The communities")
    same_length("Clusters of posts", pairs=pairs["post"].to_numpy(), communities=codes)
    return codes
