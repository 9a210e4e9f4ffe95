"""Agreement with intervals, on one question and on several criteria of the same items: each alone, pooled, averaged."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .agreement import agreement_statistics, specific_statistic
from .raters import rater_statistics
from .ratings import category_counts, ratings_matrix
from .result import Estimate, mean_of_defined
from .sum_statistics import with_intervals
from .weights import Scale, scores_of


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """`pooled` takes each (item, criterion) as one unit; `macro` is the unweighted mean over criteria.

    The two differ when the criteria were rated by different numbers of people. The keys are those of
    `agreement_summary`. Intervals let the criteria of one item depend on each other; `macro` has none.
    """

    pooled: Mapping[str, Estimate]
    per_criterion: Mapping[Hashable, Mapping[str, Estimate]]
    macro: Mapping[str, Estimate]


def agreement_summary(
    ratings: pd.DataFrame,
    categories: Sequence[Hashable],
    *,
    scale: Scale = "nominal",
    clusters: ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Every overall coefficient with its interval, by name, from an items x raters table and the declared categories.

    The keys are `observed_agreement`, `pooled_pair_agreement`, `brennan_prediger`, `gwet_ac1`, `fleiss_kappa`,
    `krippendorff_alpha` (of the `scale`), `cohen_kappa` and `unanimity`; on other scales than nominal, where the
    categories stand in their order, also `gwet_ac2` and `weighted_kappa`, with ordinal weights on the ordinal scale and
    quadratic ones on the interval and ratio scales, whose categories must be numbers.

    `clusters` names for each row of `ratings` what it belongs to, and `seed`, `n_resamples` and `level` are as in
    `with_intervals`: analytic intervals without a seed, bootstrap intervals with one.

    >>> table = pd.DataFrame({"r": [1, 1, 0, 1], "s": [1, 0, 0, 1]})
    >>> found = agreement_summary(table, [0, 1])["brennan_prediger"]
    >>> found.value, round(found.low, 2), found.high
    (0.5, -1.0, 1.0)
    """
    counts = category_counts(ratings, categories)
    statistics = agreement_statistics(counts, scale=scale, scores=scores_of(categories, scale))
    statistics |= rater_statistics(ratings, categories, scale=scale)
    return with_intervals(statistics, clusters=clusters, seed=seed, n_resamples=n_resamples, level=level)


def category_agreement(
    ratings: pd.DataFrame,
    categories: Sequence[Hashable],
    *,
    clusters: ArrayLike | None = None,
    seed: int | np.random.Generator | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> dict[Hashable, Estimate]:
    """The specific agreement on each declared category with its interval; options as in `agreement_summary`.

    >>> table = pd.DataFrame({"r": ["A", "A", "B"], "s": ["A", "B", "B"]})
    >>> {category: round(found.value, 2) for category, found in category_agreement(table, ["A", "B"]).items()}
    {'A': 0.67, 'B': 0.67}
    """
    counts = category_counts(ratings, categories)
    statistics = {category: specific_statistic(counts, category=code) for code, category in enumerate(categories)}
    return with_intervals(statistics, clusters=clusters, seed=seed, n_resamples=n_resamples, level=level)


def criterion_agreement(
    ratings: pd.DataFrame,
    *,
    item: str,
    criterion: str,
    rater: str,
    value: str,
    categories: Sequence[Hashable],
    scale: Scale = "nominal",
    seed: int | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> CriterionAgreement:
    """Agreement from one row per rating, with the named columns; options as in `agreement_summary`.

    Source: PACT, appendix A.4.

    >>> long = pd.DataFrame({"item": [1, 1, 1, 1], "question": ["p", "p", "q", "q"], "who": ["r", "s", "r", "s"],
    ...                      "answer": [1, 1, 1, 0]})
    >>> result = criterion_agreement(
    ...     long, item="item", criterion="question", rater="who", value="answer", categories=[0, 1])
    >>> result.pooled["observed_agreement"].value, result.per_criterion["q"]["observed_agreement"].value
    (0.5, 0.0)
    """
    units = ratings_matrix(ratings, item=[item, criterion], rater=rater, value=value)
    items, criteria = (units.index.get_level_values(name) for name in (item, criterion))

    def summary(table: pd.DataFrame, clusters: pd.Index) -> dict[str, Estimate]:
        return agreement_summary(
            table, categories, scale=scale, clusters=clusters, seed=seed, n_resamples=n_resamples, level=level
        )

    pooled = summary(units, items)
    per_criterion: dict[Hashable, Mapping[str, Estimate]] = {
        name: summary(units[criteria == name], items[criteria == name]) for name in criteria.unique()
    }
    macro = {
        name: mean_of_defined([found[name] for found in per_criterion.values()], what="criteria") for name in pooled
    }
    return CriterionAgreement(pooled, per_criterion, macro)
