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

FloatArray = NDArray[np.float64]


def total_variation_distance(human: ArrayLike, model: ArrayLike) -> Estimate:
    """Half the sum of abs(q - p), in [0, 1]; lower is better. For two options it is `alignment.rate_mae`.

    >>> total_variation_distance([[2, 1, 1]], [[0, 1, 0]]).value
    0.75
    """
    p, q, left_out = _shares(human, model)
    return _mean(np.abs(q - p).sum(axis=1) / 2, left_out)


def jensen_shannon_divergence(human: ArrayLike, model: ArrayLike) -> Estimate:
    """Mean divergence, in bits, of p and q from their middle, in [0, 1]; lower is better. No square root is taken.

    Source: Lin (1991).

    >>> jensen_shannon_divergence([[1, 0, 0]], [[0, 1, 0]]).value
    1.0
    """
    p, q, left_out = _shares(human, model)
    middle = (p + q) / 2
    bits = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
    return _mean(bits, left_out)


def wasserstein_distance(human: ArrayLike, model: ArrayLike, *, scores: Sequence[float]) -> Estimate:
    """How far answers must be moved to turn p into q, in the unit of `scores`, 0 or more; lower is better.

    The options stand in their order, and `scores` says where on a line each stands: one increasing number an option.

    >>> wasserstein_distance([[1, 1, 0]], [[0, 0, 1]], scores=[1, 2, 4]).value
    2.5
    """
    p, q, left_out = _shares(human, model)
    steps = np.diff(numbers(scores, what="scores", ndim=1))
    if steps.size != p.shape[1] - 1 or not (steps > 0).all():
        raise ValueError(f"scores must be {p.shape[1]} increasing numbers, one an option; here is {scores!r}.")
    return _mean(np.abs(np.cumsum(q - p, axis=1)[:, :-1]) @ steps, left_out)


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
        return Estimate.undefined("no item has answers from both people and models")
    return Estimate(float(distances.mean()), distances.size, reason=left_out)
