"""Whether two correlations with one and the same variable differ, on the same observations."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from .result import NAN


@dataclass(frozen=True, slots=True)
class TwoSidedTest:
    """A statistic and its two-sided p-value; NaN where undefined."""

    statistic: float
    p: float


def williams_test(r_first: float, r_second: float, r_between: float, n: int) -> TwoSidedTest:
    """Student's t with n - 3 degrees of freedom for `r_first` less `r_second`, given the correlation between the two.

    Undefined with fewer than four observations or where the three correlations cannot go together. Source: Williams
    (1959), as recommended by Steiger (1980), equation 7.

    >>> found = williams_test(0.3, 0.4, 0.5, 100)
    >>> round(found.statistic, 4), round(found.p, 4)
    (-1.0767, 0.2843)
    """
    mean = (r_first + r_second) / 2
    determinant = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    if n < 4 or not determinant >= 0:
        return TwoSidedTest(NAN, NAN)
    scale = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_between) ** 3
    if scale <= 0:
        return TwoSidedTest(NAN, NAN)
    t = (r_first - r_second) * np.sqrt((n - 1) * (1 + r_between) / scale)
    return TwoSidedTest(float(t), float(2 * stats.t.sf(abs(t), n - 3)))


def steiger_test(r_first: float, r_second: float, r_between: float, n: int) -> TwoSidedTest:
    """As `williams_test`, by Fisher's z with the covariance at the mean of the two correlations.

    Undefined with fewer than four observations or with a correlation of 1 or -1. Source: Steiger (1980), equation 14.

    >>> found = steiger_test(0.3, 0.4, 0.5, 100)
    >>> round(found.statistic, 4), round(found.p, 4)
    (-1.0718, 0.2838)
    """
    if n < 4 or not max(abs(r_first), abs(r_second), abs(r_between)) < 1:
        return TwoSidedTest(NAN, NAN)
    mean = (r_first + r_second) / 2
    psi = r_between * (1 - 2 * mean**2) - mean**2 / 2 * (1 - 2 * mean**2 - r_between**2)
    covariance = psi / (1 - mean**2) ** 2
    z = (np.arctanh(r_first) - np.arctanh(r_second)) * np.sqrt((n - 3) / (2 - 2 * covariance))
    return TwoSidedTest(float(z), float(2 * stats.norm.sf(abs(z))))
