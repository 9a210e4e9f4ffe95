"""Agreement that depends on who rated what, from an items x raters table; missing ratings are NaN."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .agreement import ONE_USED
from .ratings import category_codes, ratings_table
from .result import Estimate
from .sum_statistics import SumStatistic
from .weights import WEIGHTS_OF_SCALE, Scale, Weights, agreement_weights, scores_of

FloatArray = NDArray[np.float64]


def cohen_kappa(ratings: pd.DataFrame) -> Estimate:
    """Cohen's kappa of exactly two raters, in [-1, 1], from an items x raters table; missing ratings are NaN.

    `n` counts the items both rated. Undefined with other than two raters, no common item, or both raters giving one and
    the same category throughout. Source: Cohen (1960).

    >>> cohen_kappa(pd.DataFrame({"r": [1, 1, 0, 0], "s": [1, 0, 0, 0]})).value
    0.5
    """
    used = pd.unique(ratings_table(ratings).to_numpy(dtype=object).ravel())
    categories = [category for category in used if not pd.isna(category)]
    return _kappa(ratings, categories or [""], "identity").estimate()


def weighted_kappa(
    ratings: pd.DataFrame,
    categories: Sequence[Hashable],
    *,
    weights: Weights,
    scores: Sequence[float] | None = None,
) -> Estimate:
    """Cohen's weighted kappa of exactly two raters, at most 1: near misses agree in part, as `agreement_weights` says.

    `categories` are all that could be chosen, in order; `linear` and `quadratic` weights need their `scores`. `n` and
    undefined as for `cohen_kappa`; a rating that is not declared raises ValueError. Source: Cohen (1968).

    >>> ratings = pd.DataFrame({"r": [1, 2, 3, 3], "s": [1, 3, 3, 3]})
    >>> weighted_kappa(ratings, [1, 2, 3], weights="linear", scores=[1, 2, 3]).value.__round__(4)
    0.7143
    """
    return _kappa(ratings, categories, weights, scores).estimate()


def unanimity(ratings: pd.DataFrame) -> Estimate:
    """Share of items on which all raters agree, in [0, 1], from an items x raters table.

    `n` counts the items that every rater rated; the others are left out, and `reason` says how many. Undefined with
    fewer than two raters or no complete item. It falls as raters are added. Source: SenseJudge, table 6.

    >>> unanimity(pd.DataFrame({"r": [1, 1, 0], "s": [1, 0, None]}))
    Estimate(value=0.5, n=2, low=nan, high=nan, reason='1 of 3 items left out: not rated by every rater')
    """
    return _unanimity(ratings).estimate()


def rater_statistics(
    ratings: pd.DataFrame, categories: Sequence[Hashable], *, scale: Scale = "nominal"
) -> dict[str, SumStatistic]:
    """`cohen_kappa` and `unanimity` by name, as statistics with rows for the items, for `with_intervals`.

    On other scales than nominal `weighted_kappa` comes too, with the weights of that scale.

    >>> sorted(rater_statistics(pd.DataFrame({"r": [1, 0], "s": [1, 1]}), [0, 1]))
    ['cohen_kappa', 'unanimity']
    """
    statistics = {"cohen_kappa": _kappa(ratings, categories, "identity"), "unanimity": _unanimity(ratings)}
    if scale in WEIGHTS_OF_SCALE:
        weights, scores = WEIGHTS_OF_SCALE[scale], scores_of(categories, scale)
        statistics["weighted_kappa"] = _kappa(ratings, categories, weights, scores)
    return statistics


def _kappa(
    ratings: pd.DataFrame, categories: Sequence[Hashable], weights: Weights, scores: Sequence[float] | None = None
) -> SumStatistic:
    codes, q = category_codes(ratings, categories), len(categories)
    weighing = agreement_weights(weights, n_categories=q, scores=scores)
    codes = codes[:, np.any(codes >= 0, axis=0)]
    if codes.shape[1] != 2:
        reason = f"it compares exactly two raters, here are {codes.shape[1]}"
        return SumStatistic.without_value(len(codes), reason)
    both = np.all(codes >= 0, axis=1)
    first, second = (np.eye(q)[rater] * both[:, None] for rater in codes.T)
    agreeing = np.sum((first @ weighing) * second, axis=1)

    def of_sums(sums: NDArray[Any]) -> NDArray[Any]:
        n, one, other = sums[..., 1], sums[..., 2 : 2 + q], sums[..., 2 + q :]
        expected = np.sum((one @ weighing) * other, axis=-1) / n**2
        kappa: NDArray[Any] = (sums[..., 0] / n - expected) / (1 - expected)
        return kappa

    undefined = "" if both.any() else "the two raters share no item"
    if both.any() and np.unique(codes[both]).size < 2:
        undefined = ONE_USED
    return SumStatistic(np.column_stack([agreeing, both, first, second]), of_sums, int(both.sum()), undefined)


def _unanimity(ratings: pd.DataFrame) -> SumStatistic:
    ratings = ratings_table(ratings)
    complete = ratings.notna().all(axis="columns").to_numpy()
    n, left_out = int(complete.sum()), int((~complete).sum())
    note = f"{left_out} of {len(ratings)} items left out: not rated by every rater" if left_out else ""
    if ratings.shape[1] < 2:
        return SumStatistic.without_value(len(ratings), f"it needs two raters, here are {ratings.shape[1]}")
    same = ratings.eq(ratings.iloc[:, 0], axis="index").all(axis="columns").to_numpy()
    undefined = "" if n else note or "there are no items"
    rows = np.column_stack([same & complete, complete]).astype(np.float64)
    return SumStatistic(rows, lambda sums: sums[..., 0] / sums[..., 1], n, undefined, note, lowest=0.0)
