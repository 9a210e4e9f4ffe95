"""How the attitudes of simulated reactions compare with the mean attitudes of the real ones, by post.

A *posts frame*, as from `post_attitudes`, has one row per `post` with the mean attitude of its `real` reactions and the
`simulated` one of a model in one condition, all from -1 (negative) to 1 (positive).
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .checks import columns_present, joined, numbers, unique_rows, unit_codes
from .result import Estimate
from .tones import NO_POSTS

FloatArray = NDArray[np.float64]


def post_attitudes(real: pd.DataFrame, simulated: pd.DataFrame) -> pd.DataFrame:
    """The posts frame of two frames with one row per reaction, `post` and `attitude`: means over the post's reactions.

    Posts without an attitude on both sides are left out.

    >>> real = pd.DataFrame({"post": ["p", "p", "q"], "attitude": [-1, 0, 1]})
    >>> post_attitudes(real, pd.DataFrame({"post": ["p"], "attitude": [0]})).values.tolist()
    [['p', -0.5, 0.0]]
    """
    means = []
    for name, side in (("real", real), ("simulated", simulated)):
        what = f"The {name} reactions"
        columns_present(side, ["post", "attitude"], what=what)
        unit_codes(side["post"], what=f"The posts of {what[0].lower()}{what[1:]}")
        attitudes = _attitudes(side["attitude"], what=what, missing=True)
        given = pd.DataFrame({"post": side["post"].to_numpy(), name: attitudes})
        means.append(given.dropna().groupby("post", sort=False)[name].mean().reset_index())
    return joined(means[0], means[1], on=["post"], what="Comparing attitudes")


def attitude_rmse(posts: pd.DataFrame) -> Estimate:
    """Root mean squared difference of simulated and real attitudes, in [0, 2]; `n` counts posts, undefined without any.

    Source: CARE, section 4.4.

    >>> attitude_rmse(pd.DataFrame({"post": ["p", "q"], "real": [-1.0, 0.5], "simulated": [0, 0.5]})).value.__round__(4)
    0.7071
    """
    errors = _errors(posts)
    return Estimate(float(np.sqrt(np.mean(errors**2))), errors.size) if errors.size else Estimate.undefined(NO_POSTS)


def attitude_mae(posts: pd.DataFrame) -> Estimate:
    """Mean absolute difference of simulated and real attitudes, in [0, 2]; `n` counts posts, undefined without any.

    >>> attitude_mae(pd.DataFrame({"post": ["p", "q"], "real": [-1.0, 0.5], "simulated": [0, 0.5]})).value
    0.5
    """
    errors = _errors(posts)
    return Estimate(float(np.abs(errors).mean()), errors.size) if errors.size else Estimate.undefined(NO_POSTS)


def attitude_mean_error(posts: pd.DataFrame) -> Estimate:
    """Mean of simulated less real attitude, in [-2, 2]: above 0 the model is more positive than people.

    `n` counts posts; undefined without any. Source: CARE, section 4.4 and the signs of table 2.

    >>> attitude_mean_error(pd.DataFrame({"post": ["p", "q"], "real": [-1.0, 0.5], "simulated": [0, 0.5]})).value
    0.5
    """
    errors = _errors(posts)
    return Estimate(float(errors.mean()), errors.size) if errors.size else Estimate.undefined(NO_POSTS)


def attitude_correlation(posts: pd.DataFrame) -> Estimate:
    """Spearman's correlation of simulated and real attitudes, in [-1, 1], ties with average ranks; `n` counts posts.

    Undefined with fewer than two posts or where one side is constant. Source: CARE, section 4.4.

    >>> posts = pd.DataFrame({"post": ["p", "q"], "real": [-1.0, 0.5], "simulated": [-1, 1]})
    >>> round(attitude_correlation(posts).value, 4)
    1.0
    """
    real, simulated = _side(posts, "real"), _side(posts, "simulated")
    n = real.size
    if n < 2:
        return Estimate.undefined("a correlation needs two posts", n=n)
    if any((side == side[0]).all() for side in (real, simulated)):
        return Estimate.undefined("all real or all simulated attitudes are the same", n=n)
    return Estimate(float(np.clip(stats.spearmanr(real, simulated).statistic, -1, 1)), n)


def attitude_shares(attitudes: pd.Series) -> dict[int, float]:
    """Shares of negative (-1), neutral or mixed (0) and positive (1) reactions; NaN without any.

    Reactions without an attitude are left out.

    >>> attitude_shares(pd.Series([-1, -1, 0, None]))
    {-1: 0.6666666666666666, 0: 0.3333333333333333, 1: 0.0}
    """
    values = _attitudes(attitudes, what="The attitudes", missing=True)
    valid = values[~np.isnan(values)]
    return {label: float((valid == label).mean()) if valid.size else float("nan") for label in (-1, 0, 1)}


def _errors(posts: pd.DataFrame) -> FloatArray:
    errors: FloatArray = _side(posts, "simulated") - _side(posts, "real")
    return errors


def _side(posts: pd.DataFrame, name: str) -> FloatArray:
    what = "The posts frame"
    columns_present(posts, ["post", "real", "simulated"], what=what)
    unique_rows(posts, ["post"], what=what)
    return _attitudes(posts[name], what=f"The {name} attitudes", missing=False)


def _attitudes(values: pd.Series, *, what: str, missing: bool) -> FloatArray:
    attitudes = numbers(values, what=what, ndim=1)
    outside = ~((attitudes >= -1) & (attitudes <= 1)) & ~(missing & np.isnan(attitudes))
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        raise ValueError(f"{what} must lie between -1 and 1; at position {place} it is {attitudes[place]:g}.")
    return attitudes
