"""Association in a table of counts, and the family of tests it belongs to.

Every function takes `counts` of shape (levels, outcomes). Rows and columns without any count are dropped first.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import gammaln

from .checks import numbers, whole_counts
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]

TABLE = "The table of levels x outcomes"
TOO_SMALL = "it needs two levels and two outcomes that occur"


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Pearson's chi-square test of independence; NaN, no degrees of freedom and a `reason` where undefined.

    `log10_p` stays finite where `p` is below the smallest float.
    """

    n: int
    chi2: float
    dof: int | None
    p: float
    log10_p: float
    reason: str = ""


def chi_square(counts: ArrayLike, *, yates: bool = False) -> ChiSquare:
    """Chi-square test, with Yates' correction on request (2 x 2 tables only).

    >>> result = chi_square([[12, 20], [14, 12]])
    >>> round(result.chi2, 4), result.dof, round(result.p, 4)
    (1.5497, 1, 0.2132)
    """
    table = _occurring(counts)
    if min(table.shape) < 2:
        return ChiSquare(int(table.sum()), NAN, None, NAN, NAN, TOO_SMALL)
    test = stats.chi2_contingency(table, correction=yates)
    chi2, dof = float(test.statistic), int(test.dof)
    return ChiSquare(int(table.sum()), chi2, dof, float(test.pvalue), _log_tail(chi2, dof) / math.log(10))


def cramers_v(counts: ArrayLike) -> Estimate:
    """Cramer's V, in [0, 1], without Yates' correction; `n` counts the observations.

    Undefined with fewer than two levels or outcomes. Source: Cramer (1946), section 21.9.

    >>> round(cramers_v([[12, 20], [14, 12]]).value, 4)
    0.1635
    """
    table = _occurring(counts)
    if min(table.shape) < 2:
        return Estimate.undefined(TOO_SMALL, n=int(table.sum()))
    return Estimate(float(stats.contingency.association(table, method="cramer")), int(table.sum()))


def cramers_v_corrected(counts: ArrayLike) -> Estimate:
    """Cramer's V with the bias of small tables taken out, in [0, 1]; undefined as `cramers_v`, or with one observation.

    Source: Bergsma (2013).

    >>> round(cramers_v_corrected([[12, 20], [14, 12]]).value, 4)
    0.0966
    """
    test, (rows, columns) = chi_square(counts), _occurring(counts).shape
    if test.dof is None:
        return Estimate.undefined(TOO_SMALL, n=test.n)
    excess = max(0.0, test.chi2 / test.n - test.dof / (test.n - 1))
    smaller = min(size - (size - 1) ** 2 / (test.n - 1) for size in (rows, columns))
    if smaller <= 1:
        return Estimate.undefined("there are too few observations to correct for", n=test.n)
    return Estimate(math.sqrt(excess / (smaller - 1)), test.n)


def phi_coefficient(counts: ArrayLike) -> Estimate:
    """Signed phi of a 2 x 2 table, in [-1, 1]: positive when the first level goes with the first outcome.

    Undefined for other shapes and when a row or column is empty.

    >>> phi_coefficient([[12, 20], [14, 12]]).value.__round__(4)
    -0.1635
    """
    table = whole_counts(counts, what=TABLE)
    margins = np.concatenate([table.sum(axis=0), table.sum(axis=1)])
    if table.shape != (2, 2) or not margins.all():
        return Estimate.undefined("it needs a 2 x 2 table without an empty row or column", n=int(table.sum()))
    return Estimate(float(np.linalg.det(table) / math.sqrt(margins.prod())), int(table.sum()))


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values (q) of a family of tests, shape (n,), controlling the false discovery rate.

    NaN stays NaN and does not count in the size of the family. Source: Benjamini and Hochberg (1995).

    >>> benjamini_hochberg([0.01, float("nan"), 0.04]).tolist()
    [0.02, nan, 0.04]
    """
    p = numbers(p_values, what="The p-values", ndim=1)
    if ((p < 0) | (p > 1)).any():
        raise ValueError("The p-values must lie between 0 and 1, NaN where a test is undefined.")
    q, known = np.full(p.shape, np.nan), ~np.isnan(p)
    if known.any():
        q[known] = stats.false_discovery_control(p[known], method="bh")
    return q


def _occurring(counts: ArrayLike) -> NDArray[np.int64]:
    table = whole_counts(counts, what=TABLE).astype(np.int64)
    occurring: NDArray[np.int64] = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return occurring


def _log_tail(chi2: float, dof: int) -> float:
    """Natural logarithm of the upper tail of chi-square, also where scipy underflows.

    There the expansion of the incomplete gamma function for large arguments takes over (Abramowitz and Stegun 6.5.32);
    it is exact for two degrees of freedom.
    """
    exact = float(stats.chi2.logsf(chi2, dof))
    if math.isfinite(exact):
        return exact
    shape, x = dof / 2, chi2 / 2
    terms = np.cumprod((shape - np.arange(1, 60)) / x)
    return float(-x + (shape - 1) * math.log(x) - gammaln(shape) + math.log1p(terms.sum()))
