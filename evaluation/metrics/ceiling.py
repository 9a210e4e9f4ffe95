"""How well people predict people: the mark against which a model's alignment is read."""

import numpy as np
import pandas as pd

from .items import check_counts
from .result import Estimate


def split_half_ceiling(
    items: pd.DataFrame, *, n_splits: int = 200, seed: int | np.random.Generator
) -> dict[str, Estimate]:
    """`majority_alignment` and `rate_mae` of one random half of the people against the other, averaged over splits.

    `items` is an items frame; only its human counts are used. Each split deals the answers to an item into two halves
    (an odd one stays in the second) and compares their culture rates as `alignment` compares people and model. `n`
    counts items with two human answers or more; items with fewer are left out, and undefined without any. Halves are
    noisier than the whole, so a model that follows all people well can pass this mark, the more so the fewer people
    answered. There is no interval: the spread over splits is not sampling error.

    >>> from evaluation.metrics.items import items_frame
    >>> ceiling = split_half_ceiling(items_frame([8, 8], [8, 0], [1, 1], [1, 1]), seed=1)
    >>> ceiling["majority_alignment"].value, ceiling["rate_mae"].value
    (1.0, 0.0)
    """
    if n_splits < 1:
        raise ValueError("A split-half ceiling needs n_splits of at least 1.")
    check_counts(items)
    counts = items.loc[items["n_human"] >= 2, ["n_human", "n_human_culture"]].to_numpy(dtype=np.int64)
    n, culture = counts.T
    if not n.size:
        nothing = Estimate.undefined("no item has two human answers")
        return {"majority_alignment": nothing, "rate_mae": nothing}
    half = n // 2
    drawn = np.random.default_rng(seed).hypergeometric(culture, n - culture, half, size=(n_splits, n.size))
    first, second = drawn / half, (culture - drawn) / (n - half)
    left_out = len(items) - n.size
    reason = f"{left_out} of {len(items)} items left out: fewer than two human answers" if left_out else ""
    same = (first >= 0.5) == (second >= 0.5)
    return {
        "majority_alignment": Estimate(float(same.mean()), n.size, reason=reason),
        "rate_mae": Estimate(float(np.abs(first - second).mean()), n.size, reason=reason),
    }
