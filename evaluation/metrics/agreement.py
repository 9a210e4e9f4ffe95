"""Agreement among annotators who put items into categories.

The functions take `counts` of shape (items, categories): how many raters chose each of the q declared categories.
Items may have any number of ratings. Items with at least two enter the observed agreement; items with one still tell
how common the categories are. `n` of each estimate is the number of items with at least two ratings.
`criteria.agreement_summary` adds intervals; what needs to know who rated is in `raters`.
Sources: PACT, appendix A.4; SenseJudge, appendix A.1.3; Gwet, Handbook of Inter-Rater Reliability (2014), chapters 2-4.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import known_option, whole_counts
from .result import Estimate
from .sum_statistics import SumStatistic
from .weights import WEIGHTS_OF_SCALE, Scale, Weights, agreement_weights, squared_distances

FloatArray = NDArray[np.float64]

NO_PAIRS = "no item has two ratings"
ONE_USED = "every rating is the same category, so agreement beyond chance is 0/0"
ONE_DECLARED = "fewer than two categories are declared"


def observed_agreement(counts: ArrayLike) -> Estimate:
    """Mean over items of the share of agreeing rater pairs, in [0, 1]; undefined when no item has two ratings.

    >>> observed_agreement([[2, 0], [1, 1], [3, 0]]).value
    0.6666666666666666
    """
    return _observed(_table(counts)).estimate()


def pooled_pair_agreement(counts: ArrayLike) -> Estimate:
    """Share of agreeing pairs among all rater pairs of all items, in [0, 1]: items with more ratings weigh more.

    >>> pooled_pair_agreement([[2, 0], [1, 1], [3, 0]]).value
    0.8
    """
    return _pooled_pairs(_table(counts)).estimate()


def brennan_prediger(counts: ArrayLike) -> Estimate:
    """Observed agreement beyond 1/q, q the declared categories, in [-1/(q-1), 1].

    Also called PABAK, Bennett's S or free-marginal kappa. Undefined without two ratings of one item or with q < 2.
    Source: Brennan and Prediger (1981).

    >>> brennan_prediger([[2, 0], [1, 1], [2, 0], [2, 0]]).value
    0.5
    """
    return _brennan_prediger(_table(counts)).estimate()


def gwet_ac1(counts: ArrayLike) -> Estimate:
    """Gwet's first-order agreement coefficient, at most 1; undefined as for `brennan_prediger`.

    Chance agreement is the sum of p(1-p)/(q-1) over the category prevalences p of all rated items. Source: Gwet (2008).

    >>> gwet_ac1([[0, 2], [0, 2], [1, 1], [0, 2]]).value.__round__(4)
    0.68
    """
    return _gwet(_table(counts), "identity").estimate()


def gwet_ac2(counts: ArrayLike, *, weights: Weights, scores: Sequence[float] | None = None) -> Estimate:
    """Gwet's coefficient for ordered categories, at most 1: near misses agree in part, as `agreement_weights` says.

    The columns of `counts` are in the order of the categories; `linear` and `quadratic` weights need their `scores`.
    With `identity` it is `gwet_ac1`. Undefined as for `brennan_prediger`. Source: Gwet (2014), chapter 3.

    >>> gwet_ac2([[2, 0, 0], [1, 1, 0], [0, 0, 2]], weights="linear", scores=[1, 2, 3]).value.__round__(4)
    0.6604
    """
    return _gwet(_table(counts), weights, scores).estimate()


def fleiss_kappa(counts: ArrayLike) -> Estimate:
    """Fleiss' kappa, generalised to uneven numbers of ratings, at most 1.

    Undefined without two ratings of one item, or when all ratings fall into one category. Source: Fleiss (1971).

    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1]]).value.__round__(4)
    0.3333
    """
    return _fleiss(_table(counts)).estimate()


def krippendorff_alpha(
    counts: ArrayLike, *, scale: Scale = "nominal", scores: Sequence[float] | None = None
) -> Estimate:
    """Krippendorff's alpha, at most 1; one minus observed over expected disagreement.

    On the `ordinal` scale the columns are in the order of the categories; `interval` and `ratio` need their `scores`, a
    number for each. Only items with two ratings enter. Undefined when there is none or when their ratings are all the
    same category. Source: Krippendorff (2004), chapter 11; (2011), part D, for the scales.

    >>> krippendorff_alpha([[2, 0], [0, 2], [1, 1]]).value.__round__(4)
    0.4444
    >>> krippendorff_alpha([[2, 0, 0], [0, 1, 1], [0, 0, 2]], scale="interval", scores=[1, 2, 3]).value.__round__(4)
    0.8276
    """
    return _alpha(_table(counts), scale, scores).estimate()


def specific_agreement(counts: ArrayLike, *, category: int) -> Estimate:
    """Given that one rater chose the category with this column number, the chance that another did too, in [0, 1].

    For two raters 2a/(2a+b+c). Undefined when nobody chose it on an item with two ratings.
    Source: Cicchetti and Feinstein (1990).

    >>> specific_agreement([[2, 0], [1, 1], [0, 2]], category=0).value
    0.6666666666666666
    """
    return specific_statistic(counts, category=category).estimate()


def specific_statistic(counts: ArrayLike, *, category: int) -> SumStatistic:
    """`specific_agreement` as a statistic with rows for the items, for its interval.

    >>> specific_statistic([[2, 0], [1, 1], [0, 2]], category=0).rows.sum(axis=0).tolist()
    [2.0, 3.0]
    """
    table = _table(counts)
    known_option(category, range(table.shape[1]), what="category (a column number)")
    ratings, chosen = table.sum(axis=1), table[:, int(category)]
    rows = np.column_stack([chosen * (chosen - 1), chosen * np.maximum(ratings - 1, 0)])
    never = "" if rows[:, 1].any() else f"category {category} was never chosen on an item with two ratings"
    return SumStatistic(rows, _ratio, _n_paired(table), never, lowest=0.0)


def agreement_statistics(
    counts: ArrayLike, *, scale: Scale = "nominal", scores: Sequence[float] | None = None
) -> dict[str, SumStatistic]:
    """The overall coefficients by name, as statistics with rows for the items, for `with_intervals`.

    Alpha is the one of the `scale`; on other scales than nominal `gwet_ac2` comes too, with the weights of that scale.

    >>> sorted(agreement_statistics([[2, 0], [1, 1]], scale="ordinal"))[:4]
    ['brennan_prediger', 'fleiss_kappa', 'gwet_ac1', 'gwet_ac2']
    """
    table = _table(counts)
    statistics = {
        "observed_agreement": _observed(table),
        "pooled_pair_agreement": _pooled_pairs(table),
        "brennan_prediger": _brennan_prediger(table),
        "gwet_ac1": _gwet(table, "identity"),
        "fleiss_kappa": _fleiss(table),
        "krippendorff_alpha": _alpha(table, scale, scores),
    }
    if scale in WEIGHTS_OF_SCALE:
        statistics["gwet_ac2"] = _gwet(table, WEIGHTS_OF_SCALE[scale], scores)
    return statistics


def _observed(table: FloatArray) -> SumStatistic:
    return SumStatistic(_agreement_rows(table), _ratio, _n_paired(table), _no_pairs(table), lowest=0.0)


def _pooled_pairs(table: FloatArray) -> SumStatistic:
    rows = np.column_stack([np.sum(table * (table - 1), axis=1), _pairs(table)])
    return SumStatistic(rows, _ratio, _n_paired(table), _no_pairs(table), lowest=0.0)


def _brennan_prediger(table: FloatArray) -> SumStatistic:
    q = table.shape[1]
    if q < 2:
        return SumStatistic.without_value(len(table), ONE_DECLARED)
    return SumStatistic(
        _agreement_rows(table),
        lambda sums: (_ratio(sums) - 1 / q) / (1 - 1 / q),
        _n_paired(table),
        _no_pairs(table),
        lowest=-1 / (q - 1),
    )


def _gwet(table: FloatArray, weights: Weights, scores: Sequence[float] | None = None) -> SumStatistic:
    q = table.shape[1]
    weighing = agreement_weights(weights, n_categories=q, scores=scores)
    if q < 2:
        return SumStatistic.without_value(len(table), ONE_DECLARED)
    share = weighing.sum() / (q * (q - 1))
    return _beyond_chance(table, lambda p: share * np.sum(p * (1 - p), axis=-1), weighing, _no_pairs(table))


def _fleiss(table: FloatArray) -> SumStatistic:
    undefined = _no_pairs(table) or _one_used(table)
    return _beyond_chance(table, lambda p: np.sum(p**2, axis=-1), np.eye(table.shape[1]), undefined)


def _alpha(table: FloatArray, scale: Scale, scores: Sequence[float] | None) -> SumStatistic:
    q = table.shape[1]
    distances = squared_distances(scale, n_categories=q, scores=scores)
    # Each item's coincidence matrix: its ordered pairs of ratings, divided so that every rating counts once.
    others = np.maximum(table.sum(axis=1) - 1, 1)[:, None, None]
    rows = (table[:, :, None] * table[:, None, :] - table[:, :, None] * np.eye(q)) / others

    def of_sums(sums: NDArray[Any]) -> NDArray[Any]:
        coincidences = sums.reshape(*sums.shape[:-1], q, q)
        totals = coincidences.sum(axis=-1)
        squared = _ordinal_distances(totals) if distances is None else distances
        observed = np.sum(coincidences * squared, axis=(-2, -1))
        expected = np.sum(totals[..., :, None] * totals[..., None, :] * squared, axis=(-2, -1))
        alpha: NDArray[Any] = 1 - observed / (expected / (totals.sum(axis=-1) - 1))
        return alpha

    undefined = _no_pairs(table) or _one_used(table[table.sum(axis=1) >= 2])
    return SumStatistic(rows.reshape(len(table), q * q), of_sums, _n_paired(table), undefined)


def _ordinal_distances(totals: NDArray[Any]) -> NDArray[Any]:
    midranks = np.cumsum(totals, axis=-1) - totals / 2
    distances: NDArray[Any] = (midranks[..., :, None] - midranks[..., None, :]) ** 2
    return distances


def _beyond_chance(
    table: FloatArray, chance: Callable[[NDArray[Any]], NDArray[Any]], weighing: FloatArray, undefined: str
) -> SumStatistic:
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)

    def of_sums(sums: NDArray[Any]) -> NDArray[Any]:
        rated = sums[..., 2:]
        expected = chance(rated / rated.sum(axis=-1, keepdims=True))
        kappa: NDArray[Any] = (_ratio(sums) - expected) / (1 - expected)
        return kappa

    rows = np.hstack([_agreement_rows(table, weighing), shares])
    return SumStatistic(rows, of_sums, _n_paired(table), undefined)


def _agreement_rows(table: FloatArray, weighing: FloatArray | None = None) -> FloatArray:
    """For each item the share of agreeing pairs and a 1, or two zeros without a pair."""
    pairs = _pairs(table)
    like = table if weighing is None else table @ weighing
    agreeing = np.sum(table * (like - 1), axis=1)
    return np.column_stack([np.where(pairs > 0, agreeing, 0.0) / np.maximum(pairs, 1), pairs > 0])


def _ratio(sums: NDArray[Any]) -> NDArray[Any]:
    ratio: NDArray[Any] = sums[..., 0] / sums[..., 1]
    return ratio


def _table(counts: ArrayLike) -> FloatArray:
    return whole_counts(counts, what="The table of items x categories")


def _pairs(table: FloatArray) -> FloatArray:
    ratings = table.sum(axis=1)
    pairs: FloatArray = ratings * (ratings - 1)
    return pairs


def _n_paired(table: FloatArray) -> int:
    return int(np.count_nonzero(_pairs(table)))


def _no_pairs(table: FloatArray) -> str:
    return "" if _n_paired(table) else NO_PAIRS


def _one_used(table: FloatArray) -> str:
    return ONE_USED if np.count_nonzero(table.sum(axis=0)) < 2 else ""
