"""Agreement among annotators who put items into categories.

Most functions take `counts` of shape (items, categories): how many raters chose each of the q declared categories.
Items may have any number of ratings. Items with at least two enter the observed agreement; items with one still tell
how common the categories are. `n` of each estimate is the number of items with at least two ratings.
Sources: PACT, appendix A.4; SenseJudge, appendix A.1.3; Gwet, Handbook of Inter-Rater Reliability (2014), chapters 2-4.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .checks import known_option, whole_counts
from .ratings import ratings_table
from .result import Estimate

FloatArray = NDArray[np.float64]

NO_PAIRS = "no item has two ratings"
ONE_USED = "every rating is the same category, so agreement beyond chance is 0/0"
ONE_DECLARED = "fewer than two categories are declared"


def observed_agreement(counts: ArrayLike) -> Estimate:
    """Mean over items of the share of agreeing rater pairs, in [0, 1]; undefined when no item has two ratings.

    >>> observed_agreement([[2, 0], [1, 1], [3, 0]]).value
    0.6666666666666666
    """
    table = _paired(counts)
    if not len(table):
        return Estimate.undefined(NO_PAIRS)
    return Estimate(float(np.mean(_agreeing(table) / _pairs(table))), len(table))


def pooled_pair_agreement(counts: ArrayLike) -> Estimate:
    """Share of agreeing pairs among all rater pairs of all items, in [0, 1]: items with more ratings weigh more.

    >>> pooled_pair_agreement([[2, 0], [1, 1], [3, 0]]).value
    0.8
    """
    table = _paired(counts)
    if not len(table):
        return Estimate.undefined(NO_PAIRS)
    return Estimate(float(_agreeing(table).sum() / _pairs(table).sum()), len(table))


def brennan_prediger(counts: ArrayLike) -> Estimate:
    """Observed agreement beyond 1/q, q the declared categories, in [-1/(q-1), 1].

    Also called PABAK, Bennett's S or free-marginal kappa. Undefined without two ratings of one item or with q < 2.
    Source: Brennan and Prediger (1981).

    >>> brennan_prediger([[2, 0], [1, 1], [2, 0], [2, 0]]).value
    0.5
    """
    q = _table(counts).shape[1]
    if q < 2:
        return Estimate.undefined(ONE_DECLARED)
    return _beyond_chance(observed_agreement(counts), 1 / q)


def gwet_ac1(counts: ArrayLike) -> Estimate:
    """Gwet's first-order agreement coefficient, at most 1; undefined as for `brennan_prediger`.

    Chance agreement is the sum of p(1-p)/(q-1) over the category prevalences p of all rated items. Source: Gwet (2008).

    >>> gwet_ac1([[0, 2], [0, 2], [1, 1], [0, 2]]).value.__round__(4)
    0.68
    """
    prevalence = _prevalence(counts)
    if prevalence.size < 2:
        return Estimate.undefined(ONE_DECLARED)
    return _beyond_chance(
        observed_agreement(counts), float(np.sum(prevalence * (1 - prevalence)) / (prevalence.size - 1))
    )


def fleiss_kappa(counts: ArrayLike) -> Estimate:
    """Fleiss' kappa, generalised to uneven numbers of ratings, at most 1.

    Undefined without two ratings of one item, or when all ratings fall into one category. Source: Fleiss (1971).

    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1]]).value.__round__(4)
    0.3333
    """
    if _used(_table(counts)) < 2:
        return _one_category(counts)
    return _beyond_chance(observed_agreement(counts), float(np.sum(_prevalence(counts) ** 2)))


def krippendorff_alpha(counts: ArrayLike) -> Estimate:
    """Krippendorff's alpha for nominal data, at most 1; one minus observed over expected disagreement.

    Only items with two ratings enter. Undefined when there is none or when their ratings are all the same category.
    Source: Krippendorff (2004), chapter 11.

    >>> krippendorff_alpha([[2, 0], [0, 2], [1, 1]]).value.__round__(4)
    0.4444
    """
    table = _paired(counts)
    if _used(table) < 2:
        return _one_category(counts)
    totals, n = table.sum(axis=0), table.sum()
    observed = 1 - np.sum(_agreeing(table) / (table.sum(axis=1) - 1)) / n
    expected = 1 - np.sum(totals * (totals - 1)) / (n * (n - 1))
    return Estimate(float(1 - observed / expected), len(table))


def specific_agreement(counts: ArrayLike, *, category: int) -> Estimate:
    """Given that one rater chose the category with this column number, the chance that another did too, in [0, 1].

    For two raters 2a/(2a+b+c). Undefined when nobody chose it on an item with two ratings.
    Source: Cicchetti and Feinstein (1990).

    >>> specific_agreement([[2, 0], [1, 1], [0, 2]], category=0).value
    0.6666666666666666
    """
    table = _paired(counts)
    known_option(category, range(table.shape[1]), what="category (a column number)")
    chosen = table[:, int(category)]
    chances = np.sum(chosen * (table.sum(axis=1) - 1))
    if not chances:
        return Estimate.undefined(f"category {category} was never chosen on an item with two ratings", n=len(table))
    return Estimate(float(np.sum(chosen * (chosen - 1)) / chances), len(table))


def cohen_kappa(ratings: pd.DataFrame) -> Estimate:
    """Cohen's kappa of exactly two raters, in [-1, 1], from an items x raters table; missing ratings are NaN.

    `n` counts the items both rated. Undefined with other than two raters, no common item, or both raters giving one and
    the same category throughout. Source: Cohen (1960).

    >>> cohen_kappa(pd.DataFrame({"r": [1, 1, 0, 0], "s": [1, 0, 0, 0]})).value
    0.5
    """
    raters = ratings_table(ratings).dropna(axis="columns", how="all")
    if raters.shape[1] != 2:
        return Estimate.undefined(f"it compares exactly two raters, here are {raters.shape[1]}")
    both = raters.dropna()
    if both.empty:
        return Estimate.undefined("the two raters share no item")
    first, second = both.iloc[:, 0], both.iloc[:, 1]
    categories = pd.unique(pd.concat([first, second]))
    if len(categories) < 2:
        return Estimate.undefined(ONE_USED, n=len(both))
    chance = sum(float((first == c).mean() * (second == c).mean()) for c in categories)
    return _beyond_chance(Estimate(float((first == second).mean()), len(both)), chance)


def unanimity(ratings: pd.DataFrame) -> Estimate:
    """Share of items on which all raters agree, in [0, 1], from an items x raters table.

    `n` counts the items that every rater rated; the others are left out, and `reason` says how many. Undefined with
    fewer than two raters or no complete item. It falls as raters are added. Source: SenseJudge, table 6.

    >>> unanimity(pd.DataFrame({"r": [1, 1, 0], "s": [1, 0, None]}))
    Estimate(value=0.5, n=2, low=nan, high=nan, reason='1 of 3 items left out: not rated by every rater')
    """
    ratings = ratings_table(ratings)
    if ratings.shape[1] < 2:
        return Estimate.undefined(f"it needs two raters, here are {ratings.shape[1]}")
    complete = ratings.dropna()
    left_out = len(ratings) - len(complete)
    reason = f"{left_out} of {len(ratings)} items left out: not rated by every rater" if left_out else ""
    if complete.empty:
        return Estimate.undefined(reason or "there are no items")
    same = complete.eq(complete.iloc[:, 0], axis="index").all(axis="columns")
    return Estimate(float(same.mean()), len(complete), reason=reason)


def _table(counts: ArrayLike) -> FloatArray:
    return whole_counts(counts, what="The table of items x categories")


def _paired(counts: ArrayLike) -> FloatArray:
    table = _table(counts)
    paired: FloatArray = table[table.sum(axis=1) >= 2]
    return paired


def _agreeing(table: FloatArray) -> FloatArray:
    agreeing: FloatArray = np.sum(table * (table - 1), axis=1)
    return agreeing


def _pairs(table: FloatArray) -> FloatArray:
    ratings = table.sum(axis=1)
    pairs: FloatArray = ratings * (ratings - 1)
    return pairs


def _prevalence(counts: ArrayLike) -> FloatArray:
    table = _table(counts)
    rated = table[table.sum(axis=1) > 0]
    if not len(rated):
        return np.zeros(table.shape[1])
    prevalence: FloatArray = np.mean(rated / rated.sum(axis=1, keepdims=True), axis=0)
    return prevalence


def _used(table: FloatArray) -> int:
    return int(np.count_nonzero(table.sum(axis=0)))


def _one_category(counts: ArrayLike) -> Estimate:
    n = len(_paired(counts))
    return Estimate.undefined(ONE_USED if n else NO_PAIRS, n=n)


def _beyond_chance(observed: Estimate, chance: float) -> Estimate:
    if not observed.defined:
        return observed
    return Estimate((observed.value - chance) / (1 - chance), observed.n)
