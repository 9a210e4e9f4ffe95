"""How well people predict people: the mark against which a model's alignment is read."""

import numpy as np
import pandas as pd

from .checks import at_least_one, generator
from .items import check_counts
from .resampling import FloatArray, bootstrap_interval, weighted_mean
from .result import Estimate


def split_half_ceiling(
    items: pd.DataFrame, *, n_splits: int = 200, n_resamples: int = 2000, seed: int | np.random.Generator
) -> dict[str, Estimate]:
    """`majority_alignment` and `rate_mae` of one random half of the people against the other, averaged over splits.

    `items` is an items frame; only its human counts are used. Each split deals the answers to an item into two halves
    (an odd one stays in the second) and compares their culture rates as `alignment` compares people and model. `n`
    counts items with two human answers or more; items with fewer are left out, and undefined without any. Halves are
    noisier than the whole, so a model that follows all people well can pass this mark, the more so the fewer people
    answered.

    Both are means over items of what an item gives on average over the splits, so their 95 % percentile bootstrap
    intervals are drawn over items, as those of `alignment_summary`. The spread over splits is no sampling error (it
    vanishes with more splits) and does not enter. With fewer than two items there is no interval, and `reason` says so.

    >>> from evaluation.metrics.items import items_frame
    >>> ceiling = split_half_ceiling(items_frame([8, 8], [8, 0], [1, 1], [1, 1]), seed=1)
    >>> ceiling["majority_alignment"].value, ceiling["rate_mae"].value
    (1.0, 0.0)
    """
    at_least_one(n_splits, what="n_splits")
    at_least_one(n_resamples, what="n_resamples")
    rng, counts = generator(seed), check_counts(items)[:, :2].astype(np.int64)
    n, culture = counts[counts[:, 0] >= 2].T
    if not n.size:
        nothing = Estimate.undefined("no item has two human answers")
        return {"majority_alignment": nothing, "rate_mae": nothing}
    half = n // 2
    drawn = rng.hypergeometric(culture, n - culture, half, size=(n_splits, n.size))
    first, second = drawn / half, (culture - drawn) / (n - half)
    left_out = len(items) - n.size
    reason = f"{left_out} of {len(items)} items left out: fewer than two human answers" if left_out else ""
    if n.size < 2:
        reason = "; ".join(filter(None, [reason, "an interval needs two items"]))
    draws = int(rng.integers(2**63))  # both intervals come from the same resamples

    def estimate(by_split: FloatArray) -> Estimate:
        by_item = by_split.mean(axis=0)
        interval = bootstrap_interval(weighted_mean(by_item), np.arange(n.size), n_resamples=n_resamples, seed=draws)
        return Estimate(float(by_item.mean()), n.size, interval.low, interval.high, reason)

    same = ((first >= 0.5) == (second >= 0.5)).astype(np.float64)
    return {"majority_alignment": estimate(same), "rate_mae": estimate(np.abs(first - second))}
