"""Who agrees with whom, which items they dispute, and how often they give the known answer.

Ratings are an items x raters table as from `ratings_matrix`; missing ratings are NaN.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from scipy.special import entr
from statsmodels.stats.proportion import proportion_confint

from .agreement import ONE_USED
from .checks import confidence_level, kind
from .ratings import category_codes, category_counts
from .result import Estimate

NO_SHARED_ITEM = "the two raters share no item"
NO_GOLD = "no answer to an item whose answer is known"


def annotator_pairs(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> pd.DataFrame:
    """One row for each pair of raters: `first`, `second`, `n`, `observed_agreement`, `cohen_kappa` and `reason`.

    `n` counts the items that both rated. The agreement is NaN without one, kappa also where both gave one and the same
    category throughout, and `reason` says so. A rating that is not declared raises ValueError. Source: Cohen (1960).

    >>> ratings = pd.DataFrame({"r": [1, 1, 0, 0], "s": [1, 0, 0, 0], "t": [1, None, None, None]})
    >>> annotator_pairs(ratings, [0, 1])[["first", "second", "n", "cohen_kappa"]].values.tolist()
    [['r', 's', 4, 0.5], ['r', 't', 1, nan], ['s', 't', 1, nan]]
    """
    codes = category_codes(ratings, categories)
    rated = (codes >= 0).astype(np.float64)
    chose = np.stack([codes == code for code in range(len(categories))]).astype(np.float64)
    n = rated.T @ rated
    agreeing = np.sum(chose.transpose(0, 2, 1) @ chose, axis=0)
    # For each category, rater and partner: how often the rater chose it on the items that both rated.
    shared = chose.transpose(0, 2, 1) @ rated
    chance = np.sum(shared * shared.transpose(0, 2, 1), axis=0)
    first, second = np.triu_indices(codes.shape[1], k=1)
    pairs = pd.DataFrame(
        {"first": ratings.columns[first], "second": ratings.columns[second], "n": n[first, second].astype(int)}
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        observed, expected = agreeing / n, chance / n**2
        kappa = (observed - expected) / (1 - expected)
    pairs["observed_agreement"], pairs["cohen_kappa"] = observed[first, second], kappa[first, second]
    why_not = np.where(pairs["n"] == 0, NO_SHARED_ITEM, ONE_USED)
    return pairs.assign(reason=np.where(pairs["cohen_kappa"].isna(), why_not, ""))


def confusion_table(first: pd.Series, second: pd.Series, categories: Sequence[Hashable]) -> pd.DataFrame:
    """How often each answer of the first met each answer of the second: counts, categories x categories.

    The two are answers by item: of two annotators, or of one and the known or adjudicated answers. They are matched by
    their index; items that only one of them has are left out. A value that is not declared, or an item that is there
    twice, raises ValueError.

    >>> first, second = pd.Series({"x": "A", "y": "B", "z": "A"}), pd.Series({"x": "A", "y": "A"})
    >>> confusion_table(first, second, ["A", "B"]).values.tolist()
    [[1, 0], [1, 0]]
    """
    one, other = (
        _coded(first, categories, what="The first answers"),
        _coded(second, categories, what="The second answers"),
    )
    both = pd.concat([one[one >= 0], other[other >= 0]], axis="columns", join="inner").to_numpy()
    counts = np.zeros((len(categories), len(categories)), dtype=np.int64)
    np.add.at(counts, (both[:, 0], both[:, 1]), 1)
    labels = pd.Index(list(categories), dtype=object)
    return pd.DataFrame(counts, index=labels, columns=labels)


def disputed_items(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> pd.DataFrame:
    """The items with two ratings or more, most disputed first: `n`, `disagreement` and `entropy`, by item.

    `disagreement` is the share of rater pairs that differ, in [0, 1]: one minus what the item adds to
    `observed_agreement`. `entropy`, in bits, is that of the answers given, in [0, log2 q]. Items of equal disagreement
    go by entropy, then stay in their order. A rating that is not declared raises ValueError.

    >>> ratings = pd.DataFrame({"r": ["A", "A"], "s": ["A", "B"], "t": ["A", "A"]}, index=["x", "y"])
    >>> disputed_items(ratings, ["A", "B"]).round(3).reset_index().values.tolist()
    [['y', 3, 0.667, 0.918], ['x', 3, 0.0, 0.0]]
    """
    counts = category_counts(ratings, categories)
    n = counts.sum(axis=1)
    counts, n, items = counts[n >= 2], n[n >= 2], ratings.index[n >= 2]
    disagreement = 1 - np.sum(counts * (counts - 1), axis=1) / (n * (n - 1))
    entropy = np.sum(entr(counts / n[:, None]), axis=1) / np.log(2)
    found = pd.DataFrame({"n": n, "disagreement": disagreement, "entropy": entropy}, index=items)
    return found.sort_values(["disagreement", "entropy"], ascending=False, kind="stable")


def gold_accuracy(
    ratings: pd.DataFrame, gold: pd.Series, categories: Sequence[Hashable], *, level: float = 0.95
) -> dict[Hashable, Estimate]:
    """For each rater the share of right answers to items whose answer is known, in [0, 1], with its Wilson interval.

    `gold` holds the known answers by item, as the index of `ratings` names it. `n` counts the rater's answers to such
    items; undefined without one. A value that is not declared, or an item that is there twice, raises ValueError.
    Source: Wilson (1927).

    >>> ratings = pd.DataFrame({"r": ["A", "B", "A"], "s": [None, None, "A"]}, index=["x", "y", "z"])
    >>> found = gold_accuracy(ratings, pd.Series({"x": "A", "y": "A"}), ["A", "B"])
    >>> found["r"].value, found["r"].n, found["s"].reason
    (0.5, 2, 'no answer to an item whose answer is known')
    """
    confidence_level(level, what="level")
    known = _coded(gold, categories, what="The known answers")
    truth = known.reindex(ratings.index, fill_value=-1).to_numpy()[:, None]
    codes = category_codes(ratings, categories)
    answered = (codes >= 0) & (truth >= 0)
    right, n = np.sum(answered & (codes == truth), axis=0), np.sum(answered, axis=0)
    return {rater: _share(int(right[column]), int(n[column]), level) for column, rater in enumerate(ratings.columns)}


def _coded(answers: pd.Series, categories: Sequence[Hashable], *, what: str) -> pd.Series:
    if not isinstance(answers, pd.Series):
        raise ValueError(f"{what} must be a series with the items as its index; this is {kind(answers)}.")
    return pd.Series(category_codes(answers.to_frame("answer"), categories)[:, 0], index=answers.index)


def _share(right: int, n: int, level: float) -> Estimate:
    if not n:
        return Estimate.undefined(NO_GOLD)
    low, high = proportion_confint(right, n, alpha=1 - level, method="wilson")
    return Estimate(right / n, n, float(low), float(high))
