"""How much two different categories count as agreeing, or how far apart they are, on an ordered scale."""

from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .checks import known_option, numbers

FloatArray = NDArray[np.float64]

Weights = Literal["identity", "linear", "quadratic", "ordinal"]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]

# What weighs in agreement as its scale weighs in Krippendorff's alpha.
WEIGHTS_OF_SCALE: dict[Scale, Weights] = {"ordinal": "ordinal", "interval": "quadratic", "ratio": "quadratic"}


def agreement_weights(weights: Weights, *, n_categories: int, scores: Sequence[float] | None = None) -> FloatArray:
    """How much each pair of categories agrees, shape (q, q), in [0, 1] with 1 on the diagonal.

    `identity` counts the same category only. `linear` and `quadratic` fall with the distance of the `scores`, one
    number for each category in order; they raise ValueError without scores. `ordinal` knows only the order.
    Source: Gwet (2014), chapter 3.

    >>> agreement_weights("linear", n_categories=3, scores=[1, 2, 3]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    >>> agreement_weights("ordinal", n_categories=3)[0].round(4).tolist()
    [1.0, 0.6667, 0.0]
    """
    known_option(weights, get_args(Weights), what="weights")
    if weights == "identity" or n_categories < 2:
        return np.eye(n_categories)
    if weights == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(n_categories), np.arange(n_categories))).astype(np.float64)
        distance = steps * (steps + 1)
    else:
        values = checked_scores(scores, n_categories=n_categories, why=f"{weights} weights")
        distance = np.abs(np.subtract.outer(values, values)) ** (1 if weights == "linear" else 2)
    agreeing: FloatArray = 1 - distance / distance.max()
    return agreeing


def squared_distances(scale: Scale, *, n_categories: int, scores: Sequence[float] | None = None) -> FloatArray | None:
    """Krippendorff's squared differences between categories, shape (q, q), or None on the ordinal scale.

    There they depend on the ratings. `interval` and `ratio` raise ValueError without scores, `ratio` also for scores
    below 0.
    Source: Krippendorff (2011), part D.

    >>> squared_distances("ratio", n_categories=2, scores=[1, 3]).tolist()
    [[0.0, 0.25], [0.25, 0.0]]
    """
    known_option(scale, get_args(Scale), what="scale")
    if scale == "ordinal":
        return None
    if scale == "nominal":
        return 1 - np.eye(n_categories)
    values = checked_scores(scores, n_categories=n_categories, why=f"the {scale} scale")
    difference = np.subtract.outer(values, values)
    if scale == "ratio":
        if (values < 0).any():
            raise ValueError(f"Scores on the ratio scale must be 0 or more; the least here is {values.min():g}.")
        total = np.add.outer(values, values)
        difference = np.divide(difference, total, out=np.zeros_like(total), where=total > 0)
    squared: FloatArray = difference**2
    return squared


def checked_scores(scores: Sequence[float] | None, *, n_categories: int, why: str) -> FloatArray:
    """The scores as floats, shape (q,); raises ValueError unless there is a different finite number for each category.

    >>> checked_scores([1, 2], n_categories=2, why="linear weights").tolist()
    [1.0, 2.0]
    """
    if scores is None:
        raise ValueError(f"For {why}, give scores: one number for each category, in their order.")
    values = numbers(scores, what="The scores", ndim=1)
    if values.size != n_categories or not np.isfinite(values).all() or np.unique(values).size < values.size:
        raise ValueError(
            f"The scores must be {n_categories} different finite numbers, one a category; here is {scores}."
        )
    return values


def scores_of(categories: Sequence[Hashable], scale: Scale) -> Sequence[float] | None:
    """The categories themselves as scores on a scale that measures, None on one that does not.

    Raises ValueError when a category on the interval or ratio scale is not a number.

    >>> scores_of([1, 2, 5], "interval"), scores_of(["low", "high"], "ordinal")
    ([1.0, 2.0, 5.0], None)
    """
    known_option(scale, get_args(Scale), what="scale")
    if scale in ("nominal", "ordinal"):
        return None
    return [_score(category, scale) for category in categories]


def _score(category: Hashable, scale: Scale) -> float:
    if not isinstance(category, int | float | np.number):
        raise ValueError(f"Categories on the {scale} scale must be numbers, and {category!r} is none; try ordinal.")
    return float(category)
