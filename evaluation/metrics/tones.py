"""How the tones of simulated reactions of communities compare with those of their real ones.

Both come as frames with one row per reaction, `post` and `tone` (a reaction with several tones has several rows): real
ones, and those of one model in one condition. Only posts with both sides enter; rows without a tone do not.
"""

from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from .checks import columns_present, known_option, unit_codes
from .result import Estimate

Weights = Literal["reactions", "posts"]

NO_POSTS = "no post has a real and a simulated reaction"


def tone_exact_match(real: pd.DataFrame, simulated: pd.DataFrame) -> Estimate:
    """Share of posts whose simulated tone is one of the post's real tones, in [0, 1]; `n` counts posts.

    Undefined without posts. Source: CARE, section 4.4 (TEM).

    >>> real = pd.DataFrame({"post": ["p", "p", "q"], "tone": ["fear", "hope", "hope"]})
    >>> tone_exact_match(real, pd.DataFrame({"post": ["p", "q"], "tone": ["hope", "fear"]})).value
    0.5
    """
    own, other = scored_tones(real, simulated)
    n = other["post"].nunique()
    if not n:
        return Estimate.undefined(NO_POSTS)
    matched = other.merge(own.drop_duplicates(), on=["post", "tone"])["post"].nunique()
    return Estimate(matched / n, n, reason=_left_out(simulated, n))


def tone_coverage(real: pd.DataFrame, simulated: pd.DataFrame) -> Estimate:
    """Share of the different real tones that were simulated at least once, in [0, 1]; `n` counts real tones.

    Simulated tones that no real reaction has do not count. It grows with the number of posts, so compare only splits of
    one size. Undefined without posts. Source: CARE, section 4.4 (TC).

    >>> real = pd.DataFrame({"post": ["p", "q"], "tone": ["fear", "hope"]})
    >>> tone_coverage(real, pd.DataFrame({"post": ["p", "q"], "tone": ["hope", "zeal"]})).value
    0.5
    """
    own, other = scored_tones(real, simulated)
    if own.empty:
        return Estimate.undefined(NO_POSTS)
    tones = set(own["tone"])
    n = other["post"].nunique()
    return Estimate(len(tones & set(other["tone"])) / len(tones), len(tones), reason=_left_out(simulated, n))


def tone_divergence(real: pd.DataFrame, simulated: pd.DataFrame, *, weights: Weights) -> Estimate:
    """Jensen-Shannon divergence of the real and the simulated distribution of tones, in [0, 1] (base 2, not its root).

    With the weights `reactions` every reaction counts alike, with `posts` every post. `n` counts posts. Undefined
    without posts. Source: CARE, section 4.4 (JSD); Lin (1991).

    >>> real = pd.DataFrame({"post": ["p", "q"], "tone": ["fear", "hope"]})
    >>> simulated = pd.DataFrame({"post": ["p", "q"], "tone": ["fear", "fear"]})
    >>> round(tone_divergence(real, simulated, weights="posts").value, 4)
    0.3113
    """
    known_option(weights, get_args(Weights), what="weights")
    own, other = scored_tones(real, simulated)
    n = other["post"].nunique()
    if not n:
        return Estimate.undefined(NO_POSTS)
    shares = pd.concat([_tone_shares(side, weights) for side in (own, other)], axis=1).fillna(0.0).to_numpy()
    middle = shares.mean(axis=1, keepdims=True)
    bits = float(rel_entr(shares, middle).sum() / 2 / np.log(2))
    return Estimate(min(max(bits, 0.0), 1.0), n, reason=_left_out(simulated, n))


def scored_tones(real: pd.DataFrame, simulated: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows with a tone of posts that have both real and simulated ones.

    >>> real = pd.DataFrame({"post": ["p", "q"], "tone": ["fear", "hope"]})
    >>> [len(side) for side in scored_tones(real, pd.DataFrame({"post": ["p", "r"], "tone": ["fear", None]}))]
    [1, 1]
    """
    sides = [_tones(real, "The real reactions"), _tones(simulated, "The simulated reactions")]
    return (
        sides[0][sides[0]["post"].isin(sides[1]["post"])],
        sides[1][sides[1]["post"].isin(sides[0]["post"])],
    )


def _tones(side: pd.DataFrame, what: str) -> pd.DataFrame:
    columns_present(side, ["post", "tone"], what=what)
    unit_codes(side["post"], what=f"The posts of {what[0].lower()}{what[1:]}")
    strange = np.flatnonzero(side["tone"].map(lambda tone: not isinstance(tone, str) and not _missing(tone)))
    if strange.size:
        raise ValueError(f"{what} must have a text or nothing as tone; row {strange[0]} has another kind of value.")
    return side[["post", "tone"]].dropna()


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _tone_shares(side: pd.DataFrame, weights: Weights) -> pd.Series:
    weight = 1 / side.groupby("post")["tone"].transform("size") if weights == "posts" else pd.Series(1.0, side.index)
    totals = weight.groupby(side["tone"]).sum()
    return totals / totals.sum()


def _left_out(simulated: pd.DataFrame, n: int) -> str:
    n_given = simulated["post"].nunique()
    return f"{n_given - n} of {n_given} simulated posts left out: no tone on one side" if n < n_given else ""
