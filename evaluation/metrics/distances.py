"""How far the answers of models are from those of people, for questions with any number of options.

All functions take two tables of counts, shape (items, options): how often people and models gave each option of an
item. Items that one side did not answer are left out, and `reason` says how many; `n` counts the others. With p the
shares of people's options in an item and q those of the model's, every number is a mean over items; undefined without.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from .checks import numbers, whole_counts
from .result import Estimate
from .sum_statistics import SumStatistic, with_intervals

FloatArray = NDArray[np.float64]

NO_ITEMS = "no item has answers from both people and models"


def total_variation_distance(human: ArrayLike, model: ArrayLike) -> Estimate:
    """Half the sum of abs(q - p), in [0, 1]; lower is better. For two options it is `alignment.rate_mae`.

    >>> total_variation_distance([[2, 1, 1]], [[0, 1, 0]]).value
    0.75
    """
    p, q, left_out = _shares(human, model)
    return _mean(_total_variation(p, q), left_out)


def jensen_shannon_divergence(human: ArrayLike, model: ArrayLike) -> Estimate:
    """Mean divergence, in bits, of p and q from their middle, in [0, 1]; lower is better. No square root is taken.

    Source: Lin (1991).

    >>> jensen_shannon_divergence([[1, 0, 0]], [[0, 1, 0]]).value
    1.0
    """
    p, q, left_out = _shares(human, model)
    return _mean(_jensen_shannon(p, q), left_out)


def wasserstein_distance(human: ArrayLike, model: ArrayLike, *, scores: Sequence[float]) -> Estimate:
    """How far answers must be moved to turn p into q, in the unit of `scores`, 0 or more; lower is better.

    The options stand in their order, and `scores` says where on a line each stands: one increasing number an option.

    >>> wasserstein_distance([[1, 1, 0]], [[0, 0, 1]], scores=[1, 2, 4]).value
    2.5
    """
    p, q, left_out = _shares(human, model)
    return _mean(_wasserstein(p, q, scores), left_out)


def answer_distances(
    human: ArrayLike, model: ArrayLike, *, scores: Sequence[float] | None, n_resamples: int = 2000, seed: int
) -> dict[str, Estimate]:
    """The distances by their functions' names, each with a 95 % percentile bootstrap interval over items.

    All intervals come from the same resamples; with fewer than two items there are none, and `reason` says so. Without
    `scores`, for options that have no order, there is no `wasserstein_distance`.

    >>> found = answer_distances([[2, 1, 1], [4, 0, 0]], [[0, 1, 0], [1, 0, 0]], scores=None, n_resamples=100, seed=1)
    >>> found["total_variation_distance"]
    Estimate(value=0.375, n=2, low=0.0, high=0.75, reason='')
    """
    p, q, left_out = _shares(human, model)
    distances = {
        "total_variation_distance": _total_variation(p, q),
        "jensen_shannon_divergence": _jensen_shannon(p, q),
    }
    if scores is not None:
        distances["wasserstein_distance"] = _wasserstein(p, q, scores)
    statistics = {
        name: SumStatistic(
            np.column_stack([values, np.ones_like(values)]),
            lambda sums: sums[..., 0] / sums[..., 1],
            len(values),
            undefined="" if len(values) else NO_ITEMS,
            note=left_out,
        )
        for name, values in distances.items()
    }
    return with_intervals(statistics, seed=seed, n_resamples=n_resamples)


def _total_variation(p: FloatArray, q: FloatArray) -> FloatArray:
    halves: FloatArray = np.abs(q - p).sum(axis=1) / 2
    return halves


def _jensen_shannon(p: FloatArray, q: FloatArray) -> FloatArray:
    middle = (p + q) / 2
    bits: FloatArray = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
    return bits


def _wasserstein(p: FloatArray, q: FloatArray, scores: Sequence[float]) -> FloatArray:
    steps = np.diff(numbers(scores, what="scores", ndim=1))
    if steps.size != p.shape[1] - 1 or not (steps > 0).all():
        raise ValueError(f"scores must be {p.shape[1]} increasing numbers, one an option; here is {scores!r}.")
    moved: FloatArray = np.abs(np.cumsum(q - p, axis=1)[:, :-1]) @ steps
    return moved


def _shares(human: ArrayLike, model: ArrayLike) -> tuple[FloatArray, FloatArray, str]:
    """Shares of the options in the items that both sides answered, and a sentence about the others."""
    people, models = whole_counts(human, what="The human counts"), whole_counts(model, what="The model counts")
    if people.shape != models.shape or not people.shape[1]:
        raise ValueError(
            "People and models must be counted for the same items and options; "
            f"the human counts have shape {people.shape}, the model counts {models.shape}."
        )
    usable = (people.sum(axis=1) > 0) & (models.sum(axis=1) > 0)
    p, q = (side[usable] / side[usable].sum(axis=1, keepdims=True) for side in (people, models))
    n_left_out = len(people) - len(p)
    return p, q, f"{n_left_out} of {len(people)} items left out: no answer on one side" if n_left_out else ""


def _mean(distances: FloatArray, left_out: str) -> Estimate:
    if not distances.size:
        return Estimate.undefined(NO_ITEMS)
    return Estimate(float(distances.mean()), distances.size, reason=left_out)
