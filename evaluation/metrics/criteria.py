"""Agreement on several criteria of the same items: each alone, pooled, and their mean."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from . import agreement
from .ratings import category_counts, ratings_matrix
from .result import Estimate, mean_of_defined

_ON_COUNTS = {
    "observed_agreement": agreement.observed_agreement,
    "pooled_pair_agreement": agreement.pooled_pair_agreement,
    "brennan_prediger": agreement.brennan_prediger,
    "gwet_ac1": agreement.gwet_ac1,
    "fleiss_kappa": agreement.fleiss_kappa,
    "krippendorff_alpha": agreement.krippendorff_alpha,
}


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """`pooled` takes each (item, criterion) as one unit; `macro` is the unweighted mean over criteria.

    The two differ when the criteria were rated by different numbers of people. The keys are those of
    `agreement_summary`.
    """

    pooled: Mapping[str, Estimate]
    per_criterion: Mapping[Hashable, Mapping[str, Estimate]]
    macro: Mapping[str, Estimate]


def agreement_summary(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> dict[str, Estimate]:
    """Every overall coefficient, by name, from an items x raters table and the declared categories.

    >>> table = pd.DataFrame({"r": [1, 1, 0, 1], "s": [1, 0, 0, 1]})
    >>> agreement_summary(table, [0, 1])["brennan_prediger"].value
    0.5
    """
    counts = category_counts(ratings, categories)
    summary = {name: function(counts) for name, function in _ON_COUNTS.items()}
    return summary | {"cohen_kappa": agreement.cohen_kappa(ratings)}


def criterion_agreement(
    ratings: pd.DataFrame, *, item: str, criterion: str, rater: str, value: str, categories: Sequence[Hashable]
) -> CriterionAgreement:
    """Agreement from one row per rating, with the named columns. Source: PACT, appendix A.4.

    >>> long = pd.DataFrame({"item": [1, 1, 1, 1], "question": ["p", "p", "q", "q"], "who": ["r", "s", "r", "s"],
    ...                      "answer": [1, 1, 1, 0]})
    >>> result = criterion_agreement(
    ...     long, item="item", criterion="question", rater="who", value="answer", categories=[0, 1])
    >>> result.pooled["observed_agreement"].value, result.per_criterion["q"]["observed_agreement"].value
    (0.5, 0.0)
    """
    units = ratings_matrix(ratings, item=[item, criterion], rater=rater, value=value)
    level = units.index.get_level_values(criterion)
    per_criterion: dict[Hashable, Mapping[str, Estimate]] = {
        name: agreement_summary(units[level == name], categories) for name in level.unique()
    }
    macro = {
        name: mean_of_defined([summary[name] for summary in per_criterion.values()], what="criteria")
        for name in (*_ON_COUNTS, "cohen_kappa")
    }
    return CriterionAgreement(agreement_summary(units, categories), per_criterion, macro)
