"""How well people predict people: the mark against which a model's alignment is read."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .checks import at_least_one, generator
from .items import check_counts
from .resampling import FloatArray, Statistic, bootstrap_interval, weighted_mean
from .result import Estimate

Counts = NDArray[np.int64]

# A correlation takes several arrays of resamples x splits; so many splits at once keep them under 10 MB.
_SPLITS_AT_ONCE = 100
_NO_SPREAD = 1e-12


def split_half_ceiling(
    items: pd.DataFrame, *, n_splits: int = 200, n_resamples: int = 2000, seed: int | np.random.Generator
) -> dict[str, Estimate]:
    """Every number of `alignment_summary` for one random half of the people against the other, averaged over splits.

    `items` is an items frame; only its human counts are used. Each split deals the answers to an item into two halves
    (an odd one stays in the second) and compares the first with the second as `alignment` compares a model with people;
    `uncertainty_spearman` stands beside `uncertainty_correlation`, Pearson's. `n` counts items with two human answers
    or more; items with fewer are left out, and all is undefined without any. Correlations leave out splits in which a
    half agrees equally on all items. Halves are noisier than the whole, so a model that follows all people well can
    pass this mark, the more so the fewer people answered.

    The 95 % percentile bootstrap intervals are drawn over items, as those of `alignment_summary`, and each resample is
    averaged over the splits. The spread over splits is no sampling error (it vanishes with more splits) and does not
    enter. With fewer than two items there is no interval, and `reason` says so; the rank correlation has none.

    >>> from evaluation.metrics.items import items_frame
    >>> ceiling = split_half_ceiling(items_frame([8, 8], [8, 0], [1, 1], [1, 1]), seed=1)
    >>> ceiling["majority_alignment"].value, ceiling["rate_mae"].value
    (1.0, 0.0)
    """
    at_least_one(n_splits, what="n_splits")
    at_least_one(n_resamples, what="n_resamples")
    rng, counts = generator(seed), check_counts(items)[:, :2].astype(np.int64)
    n, culture = counts[counts[:, 0] >= 2].T
    half = n // 2
    first = rng.hypergeometric(culture, n - culture, half, size=(n_splits, n.size))
    statistics = _statistics(first, culture - first, half, n - half)
    if not n.size:
        return dict.fromkeys(statistics, Estimate.undefined("no item has two human answers"))
    left_out = len(items) - n.size
    reason = f"{left_out} of {len(items)} items left out: fewer than two human answers" if left_out else ""
    draws = int(rng.integers(2**63))  # all intervals come from the same resamples

    def estimate(name: str, statistic: Statistic) -> Estimate:
        value = float(statistic(np.ones((1, n.size)))[0])
        if np.isnan(value):
            return Estimate.undefined("in every split a half agrees equally on all items", n=n.size)
        if name == "uncertainty_spearman" or n.size < 2:
            why_not = "an interval needs two items" if n.size < 2 else ""
            return Estimate(value, n.size, reason="; ".join(filter(None, [reason, why_not])))
        interval = bootstrap_interval(statistic, np.arange(n.size), n_resamples=n_resamples, seed=draws)
        return Estimate(value, n.size, interval.low, interval.high, reason)

    return {name: estimate(name, statistic) for name, statistic in statistics.items()}


def _statistics(
    first_culture: Counts, second_culture: Counts, first_n: Counts, second_n: Counts
) -> dict[str, Statistic]:
    """From culture answers in both halves, shape (splits, items), and answers in them, shape (items,)."""
    first, second = first_culture / first_n, second_culture / second_n
    gap, same = first - second, (first >= 0.5) == (second >= 0.5)
    # From integers, so that 1 of 3 and 2 of 3 give the very same float and the same rank.
    agreement = [
        np.maximum(culture, n - culture) / n for culture, n in ((first_culture, first_n), (second_culture, second_n))
    ]
    return {
        "majority_alignment": weighted_mean(same.mean(axis=0)),
        "rate_mae": weighted_mean(np.abs(gap).mean(axis=0)),
        "rate_abs_diff_of_means": _mean_abs_difference(gap),
        "signed_culture_gap": weighted_mean(gap.mean(axis=0)),
        "signed_preference_gap": weighted_mean(-gap.mean(axis=0)),
        "uncertainty_correlation": _mean_correlation(*agreement),
        "uncertainty_spearman": _mean_correlation(*(stats.rankdata(side, axis=1) for side in agreement)),
    }


def _mean_abs_difference(gap: FloatArray) -> Statistic:
    def statistic(weights: FloatArray) -> FloatArray:
        means: FloatArray = np.abs(weights @ gap.T).mean(axis=1) / weights.sum(axis=1)
        return means

    return statistic


def _mean_correlation(first: FloatArray, second: FloatArray) -> Statistic:
    """Pearson's correlation in each split, averaged over those in which neither half is constant."""
    blocks = range(0, len(first), _SPLITS_AT_ONCE)

    def statistic(weights: FloatArray) -> FloatArray:
        found = [
            _correlations(weights, first[start : start + _SPLITS_AT_ONCE], second[start : start + _SPLITS_AT_ONCE])
            for start in blocks
        ]
        total = sum(np.nansum(block, axis=1) for block in found)
        defined = sum(np.sum(~np.isnan(block), axis=1) for block in found)
        means: FloatArray = np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
        return means

    return statistic


def _correlations(weights: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Shape (resamples, splits), NaN where a half is constant."""
    share = weights / weights.sum(axis=1, keepdims=True)
    x, y = (side - side.mean(axis=1, keepdims=True) for side in (first, second))
    mean_x, mean_y = share @ x.T, share @ y.T
    variance_x, variance_y = share @ (x * x).T - mean_x**2, share @ (y * y).T - mean_y**2
    constant = np.minimum(variance_x, variance_y) < _NO_SPREAD
    covariance = share @ (x * y).T - mean_x * mean_y
    return np.where(constant, np.nan, covariance / np.sqrt(np.where(constant, 1.0, variance_x * variance_y)))
