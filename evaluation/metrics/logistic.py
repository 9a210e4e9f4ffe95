"""Logistic regression by maximum likelihood where columns are redundant and levels are separated.

The data are grouped: one row per distinct row of the design, with the number of `trials` and of `successes` there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import expit

FloatArray = NDArray[np.float64]

# Diagonal entries of R this small, relative to the first, belong to columns that the others give.
_RANK_TOLERANCE = 1e-10
# A fitted variance below this is that of an answer taken to be certain.
_CERTAIN = 1e-7
_MAX_STEPS, _MIN_SIZE = 200, 1e-12
# No step moves log odds farther: rows that are equal but for rounding would come apart.
_FARTHEST = 1e4


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """`basis` spans the columns of the design, shape (rows, rank), and is orthonormal; `probabilities` are fitted.

    `deviance` is -2 log L. Where answers are separated it is the limit that the likelihood approaches.
    """

    basis: FloatArray
    probabilities: FloatArray
    deviance: float

    @property
    def rank(self) -> int:
        """How many columns of the design are independent."""
        return int(self.basis.shape[1])

    @property
    def separated(self) -> NDArray[np.bool_]:
        """Rows whose fitted probability is 0 or 1 because some coefficients have no finite estimate, shape (rows,)."""
        certain: NDArray[np.bool_] = self.probabilities * (1 - self.probabilities) < _CERTAIN
        if certain.any() and column_basis(self.basis[~certain]).shape[1] == self.rank:
            return np.zeros_like(certain)
        return certain


def column_basis(design: FloatArray) -> FloatArray:
    """Orthonormal columns that span those of the design, shape (rows, rank), by QR with column pivoting.

    >>> column_basis(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])).shape
    (2, 2)
    """
    if not design.size:
        return np.zeros((len(design), 0))
    q, r, _ = linalg.qr(design, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.asarray(q[:, size > _RANK_TOLERANCE * size[0]], dtype=np.float64)


def fit_logistic(basis: FloatArray, *, trials: FloatArray, successes: FloatArray) -> LogisticFit:
    """Maximum likelihood by Newton's method; a step is halved until the deviance falls and doubled while it goes on.

    `basis` is that of the design, shape (rows, rank), and the counts have shape (rows,) with at least one trial a row.
    Outcomes of one kind have deviance 0. Source: McCullagh and Nelder (1989), sections 2.5 and 4.4.

    >>> fit = fit_logistic(column_basis(np.ones((1, 2))), trials=np.array([4.0]), successes=np.array([1.0]))
    >>> fit.probabilities.round(6).tolist(), round(fit.deviance, 4)
    ([0.25], 4.4987)
    """
    failures, predictor = trials - successes, np.zeros(len(basis))
    if not successes.any() or not failures.any():
        return LogisticFit(basis, (successes > 0).astype(np.float64), 0.0)

    def deviance_at(odds: FloatArray) -> float:
        """-2 log L for log odds; accurate where a probability is next to 0 or 1."""
        surprise = successes * np.logaddexp(0, -odds) + failures * np.logaddexp(0, odds)
        return 2 * float(surprise.sum())

    deviance = deviance_at(predictor)
    for _ in range(_MAX_STEPS):
        before = deviance
        direction = basis @ _newton_step(basis, expit(predictor), trials, successes)
        predictor, deviance = _searched(deviance_at, predictor, direction)
        if min(deviance, before - deviance) <= 1e-10 + 1e-13 * deviance:
            break
    return LogisticFit(basis, expit(predictor), deviance)


def _searched(
    deviance_at: Callable[[FloatArray], float], start: FloatArray, direction: FloatArray
) -> tuple[FloatArray, float]:
    """The point on the line from `start` where the deviance ends to fall, and the deviance there."""
    before, farthest = deviance_at(start), _FARTHEST / max(np.abs(direction).max(), 1e-300)
    size = min(1.0, farthest)
    while (reached := deviance_at(start + size * direction)) >= before:
        size /= 2
        if size < _MIN_SIZE:
            return start, before
    # Towards a separated answer a step of Newton's gains one in the log odds, however far there is to go.
    while 2 * size < farthest and (further := deviance_at(start + 2 * size * direction)) < reached:
        size, reached = 2 * size, further
    return start + size * direction, reached


def _newton_step(basis: FloatArray, probabilities: FloatArray, trials: FloatArray, successes: FloatArray) -> FloatArray:
    information = (basis.T * (trials * probabilities * (1 - probabilities))) @ basis
    # Separated answers take all information from a direction; this keeps the system solvable.
    information[np.diag_indices_from(information)] += 1e-12 * information.diagonal().max()
    gradient = basis.T @ (successes - trials * probabilities)
    return np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
