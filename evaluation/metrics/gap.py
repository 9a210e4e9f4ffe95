"""What people would do themselves against what they hold to be the norm."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .checks import coded_answers, confidence_level, same_length, unit_codes, whole_counts
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NormPersonalGap:
    """Allow rates for both questions and their difference, over all answers and over pairs.

    `gap` uses every available answer; `paired` only pairs, with `n` the number of pairs and its interval from
    `cluster_se`, the standard error that lets answers of one respondent depend on each other. `wald_se` and
    `mcnemar_p`, the exact two-sided p-value for pairs that differ, treat all pairs as independent, so both can be too
    small where respondents gave several. Undefined numbers are NaN; `reason` says why for those over all answers,
    `paired.reason` for the others.
    """

    n_personal: int
    n_norm: int
    personal_allow_rate: float
    norm_allow_rate: float
    gap: float
    paired: Estimate
    n_personal_only: int
    n_norm_only: int
    wald_se: float
    cluster_se: float
    mcnemar_p: float
    reason: str


def norm_personal_gap(
    personal: ArrayLike, norm: ArrayLike, *, respondents: ArrayLike, level: float = 0.95
) -> NormPersonalGap:
    """Allow rate of the personal question minus that of the norm question, in [-1, 1].

    The three arrays have one element per respondent and item, shape (n,): 1 for allowing the preference, 0 for
    following culture, NaN for no valid answer. Positive means that people allow more for themselves than they see as
    the norm; it equals the culture rate of the norm question minus that of the personal one. The interval is normal
    with the CR1 cluster-robust error; it is NaN with fewer than two respondents, and everything paired is NaN without
    pairs.
    Source: PACT, section 5.2; Cameron and Miller (2015), section II, for CR1.

    >>> result = norm_personal_gap([1, 1, 0, 1], [0, 1, 0, 0], respondents=["a", "a", "b", "b"])
    >>> result.gap, result.n_personal_only, result.mcnemar_p
    (0.5, 2, 0.5)
    """
    confidence_level(level, what="level")
    own = coded_answers(personal, what="The personal answers")
    others = coded_answers(norm, what="The norm answers")
    clusters = unit_codes(respondents, what="The respondents")
    same_length("The gap", personal=own, norm=others, respondents=clusters)
    own_rate, others_rate = _rate(own), _rate(others)
    both = ~(np.isnan(own) | np.isnan(others))
    difference = own[both] - others[both]
    personal_only, norm_only = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    cluster_se = _cluster_se(difference, clusters[both])
    return NormPersonalGap(
        n_personal=int(np.sum(~np.isnan(own))),
        n_norm=int(np.sum(~np.isnan(others))),
        personal_allow_rate=own_rate,
        norm_allow_rate=others_rate,
        gap=own_rate - others_rate,
        paired=_paired(difference, cluster_se, level),
        n_personal_only=personal_only,
        n_norm_only=norm_only,
        wald_se=float(difference.std() / math.sqrt(difference.size)) if difference.size else NAN,
        cluster_se=cluster_se,
        mcnemar_p=mcnemar_exact(personal_only, norm_only) if difference.size else NAN,
        reason=_why_no_gap(own_rate, others_rate),
    )


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Exact two-sided p-value that both kinds of differing pairs are equally likely; 1.0 when no pair differs.

    >>> mcnemar_exact(8, 3)
    0.2265625
    """
    counts = whole_counts([first_only, second_only], what="The pairs that differ", ndim=1)
    first, second = (int(count) for count in counts)
    if first + second == 0:
        return 1.0
    return float(stats.binomtest(first, first + second, 0.5).pvalue)


def _why_no_gap(personal: float, norm: float) -> str:
    without = [name for name, rate in (("personal", personal), ("norm", norm)) if math.isnan(rate)]
    return f"no valid answer to the {' and the '.join(without)} question" if without else ""


def _rate(answers: FloatArray) -> float:
    valid = answers[~np.isnan(answers)]
    return float(valid.mean()) if valid.size else NAN


def _cluster_se(difference: FloatArray, clusters: NDArray[np.generic]) -> float:
    labels, codes = np.unique(clusters, return_inverse=True)
    if labels.size < 2:
        return NAN
    sums = np.bincount(codes, weights=difference - difference.mean())
    correction = labels.size / (labels.size - 1)
    return float(math.sqrt(correction * np.sum(sums**2)) / difference.size)


def _paired(difference: FloatArray, cluster_se: float, level: float) -> Estimate:
    if not difference.size:
        return Estimate.undefined("no respondent answered both questions about one item")
    value = float(difference.mean())
    if math.isnan(cluster_se):
        return Estimate(value, difference.size, reason="an interval needs two respondents")
    margin = float(stats.norm.ppf((1 + level) / 2)) * cluster_se
    return Estimate(value, difference.size, value - margin, value + margin)
