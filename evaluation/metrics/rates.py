"""How often an answer is given, how often none is usable, and whether repeats of one question disagree.

Answers come coded as 1 (chosen), 0 (the other option) or NaN (no valid answer), as from `items.follows_culture`; only
`pooled_culture_rate` takes them counted.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr
from statsmodels.stats.proportion import proportion_confint

from .checks import at_least_one, coded_answers, generator, same_length, unit_codes
from .items import cell_counts
from .resampling import bootstrap_interval, draw_alike, percentile_interval
from .result import Estimate

FloatArray = NDArray[np.float64]

# To draw how many cells there are of a sort takes as long as to draw so many cells.
_CELLS_A_SORT = 10

NO_VALID = "there is no valid answer"


def choice_rate(chosen: ArrayLike) -> Estimate:
    """Share of 1 among the valid answers, in [0, 1], with its 95 % Wilson interval; `n` counts valid answers.

    `reason` says how many answers were left out. Undefined without a valid answer. Source: Wilson (1927).

    >>> choice_rate([1.0, 0.0, 1.0, float("nan")]).reason
    '1 of 4 answers left out: invalid'
    """
    answers = coded_answers(chosen, what="The answers")
    valid = answers[~np.isnan(answers)]
    if not valid.size:
        return Estimate.undefined(NO_VALID)
    left_out = answers.size - valid.size
    low, high = proportion_confint(int(valid.sum()), valid.size, method="wilson")
    reason = f"{left_out} of {answers.size} answers left out: invalid" if left_out else ""
    return Estimate(float(valid.mean()), valid.size, float(low), float(high), reason)


def pooled_culture_rate(cells: pd.DataFrame, *, n_resamples: int, seed: int) -> Estimate:
    """Culture answers over all answers of a cells frame (see `consensus`), in [0, 1]; `n` counts answers.

    The interval is a 95 % bootstrap over cells, usually items: answers of one cell are not independent. With fewer than
    two cells there is none, and `reason` says so. Undefined without an answer.

    >>> pooled_culture_rate(pd.DataFrame({"n": [4, 1], "n_culture": [1, 1]}), n_resamples=100, seed=1).value
    0.4
    """
    at_least_one(n_resamples, what="n_resamples")
    rng, counts = generator(seed), cell_counts(cells, what="The cells frame")
    answers, culture = counts[counts[:, 0] > 0].T
    if not answers.size:
        return Estimate.undefined("there is no answer")
    value, n = float(culture.sum() / answers.sum()), int(answers.sum())
    if answers.size < 2:
        return Estimate(value, n, reason="an interval needs two cells")

    def rates(weights: FloatArray, cells: NDArray[np.intp]) -> FloatArray:
        drawn: FloatArray = (weights @ culture[cells]) / (weights @ answers[cells])
        return drawn

    _, first, alike = np.unique(answers * (answers.max() + 1) + culture, return_index=True, return_counts=True)
    if _CELLS_A_SORT * first.size < answers.size:
        interval = percentile_interval(rates(draw_alike(alike, n_resamples, rng), first), level=0.95)
    else:
        every = np.arange(answers.size)
        interval = bootstrap_interval(lambda weights: rates(weights, every), every, n_resamples=n_resamples, seed=rng)
    return Estimate(value, n, interval.low, interval.high)


def unknown_rate(chosen: ArrayLike) -> Estimate:
    """Share of answers that are not valid, in [0, 1]; `n` counts all answers. Undefined without any.

    >>> unknown_rate([1.0, float("nan")]).value
    0.5
    """
    answers = coded_answers(chosen, what="The answers")
    if not answers.size:
        return Estimate.undefined("there is no answer")
    return Estimate(float(np.isnan(answers).mean()), answers.size)


def decision_entropy(chosen: ArrayLike, sources: ArrayLike) -> Estimate:
    """Mean entropy, in bits, of the answers to one source; in [0, 1].

    `sources` names for each answer the item it repeats. `n` counts the sources with a valid answer; undefined without
    any. A source with a single answer has entropy 0. Source: PACT, section 4.

    >>> decision_entropy([1, 0, 1, 1], ["a", "a", "b", "b"]).value
    0.5
    """
    shares = _shares(chosen, sources)
    if not shares.size:
        return Estimate.undefined(NO_VALID)
    bits = (entr(shares) + entr(1 - shares)) / np.log(2)
    return Estimate(float(bits.mean()), shares.size)


def decision_conflict(chosen: ArrayLike, sources: ArrayLike) -> Estimate:
    """Share of sources whose valid answers are not all the same, in [0, 1]; otherwise as `decision_entropy`.

    >>> decision_conflict([1, 0, 1, 1], ["a", "a", "b", "b"]).value
    0.5
    """
    shares = _shares(chosen, sources)
    if not shares.size:
        return Estimate.undefined(NO_VALID)
    return Estimate(float(((shares > 0) & (shares < 1)).mean()), shares.size)


def _shares(chosen: ArrayLike, sources: ArrayLike) -> FloatArray:
    answers = coded_answers(chosen, what="The answers")
    units, valid = unit_codes(sources, what="The sources"), ~np.isnan(answers)
    same_length("Repeats of one source", chosen=answers, sources=units)
    _, codes = np.unique(units[valid], return_inverse=True)
    shares: FloatArray = np.bincount(codes, weights=answers[valid]) / np.bincount(codes)
    return shares
