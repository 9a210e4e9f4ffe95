"""Rates of people over all items from few labelled ones: a model's answers, corrected by what people say."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .checks import confidence_level
from .items import check_counts
from .result import NAN, Estimate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The people's mean culture rate over all items, estimated in three ways.

    `corrected` uses both, `people` the labelled items alone, `model` the model's answers as if they were people's; `n`
    of the first two counts labelled items, that of the third all items with an answer of the model. `power` in [0, 1]
    is how much of the model is used: 0 gives `people`. `n_alone` are the items with an answer of the model only.
    `worth` is how many labelled items would give the interval of `corrected` without the model. `reason` says why the
    corrected rate is undefined, or what was left out.
    """

    corrected: Estimate
    people: Estimate
    model: Estimate
    power: float
    n_alone: int
    worth: float
    reason: str


def prediction_powered_rate(
    items: pd.DataFrame, *, power: float | None = None, level: float = 0.95
) -> PredictionPowered:
    """The people's mean culture rate over all items of an items frame, in [-1, 2], where only some have their answers.

    With Y the people's and f the model's rates on the n labelled items, and f' the model's on the N others:
    power mean(f') + mean(Y - power f), with the normal interval of the variance
    var(Y - power f) / n + power^2 var(f') / N. Valid however wrong the model is, if the labelled items are a random
    sample of all; a good model makes the interval shorter. Without `power` it is
    cov(Y, f) / ((1 + n / N) var(f over all)), cut to [0, 1], which minimises the variance. Without a model that tells
    items apart it is 0, and the result the plain mean.

    Undefined without a labelled item; no interval with one. Items without an answer of the model are left out.
    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++, examples 1 and 6.1.

    >>> frame = pd.DataFrame({"item": range(4), "n_human": [2, 2, 0, 0], "n_human_culture": [2, 1, 0, 0],
    ...                       "n_model": [1] * 4, "n_model_culture": [1, 0, 1, 1]})
    >>> prediction_powered_rate(frame, power=1).corrected.value
    1.25
    >>> prediction_powered_rate(frame, power=0).corrected.value
    0.75
    """
    confidence_level(level, what="level")
    if power is not None and not 0 <= power <= 1:
        raise ValueError(f"power must be from 0 to 1; here it is {power:g}.")
    counts = check_counts(items)
    answered = counts[counts[:, 2] > 0]
    labelled, alone = answered[answered[:, 0] > 0], answered[answered[:, 0] == 0]
    people, model, others = labelled[:, 1] / labelled[:, 0], labelled[:, 3] / labelled[:, 2], alone[:, 3] / alone[:, 2]
    used = _power(people, model, others) if power is None else power * (len(others) > 0)
    left_out = len(counts) - len(answered)
    reason = f"{left_out} of {len(counts)} items left out: no answer of the model" if left_out else ""
    if not people.size:
        reason = "no item has answers of people and of the model"
    corrected = _mean(people - used * model, used * others, level, reason)
    alike = _mean(people, others[:0], level, "" if people.size else reason)
    return PredictionPowered(
        corrected=corrected,
        people=alike,
        model=_mean(
            answered[:, 3] / answered[:, 2], others[:0], level, "" if len(answered) else "no answer of the model"
        ),
        power=used,
        n_alone=len(alone),
        worth=_worth(corrected, alike),
        reason=corrected.reason,
    )


def _power(people: FloatArray, model: FloatArray, others: FloatArray) -> float:
    if people.size < 2 or others.size < 2:
        return 0.0
    spread = float(np.concatenate([model, others]).var(ddof=1))
    if spread == 0:
        return 0.0
    shared = float(np.cov(people, model, ddof=1)[0, 1])
    return min(max(shared / ((1 + people.size / others.size) * spread), 0.0), 1.0)


def _mean(labelled: FloatArray, others: FloatArray, level: float, reason: str) -> Estimate:
    """Mean of the first and of the second together, and its normal interval; each may be empty, not the first."""
    if not labelled.size:
        return Estimate.undefined(reason)
    value = float(labelled.mean()) + (float(others.mean()) if others.size else 0.0)
    if labelled.size < 2 or others.size == 1:
        why_not = "; ".join(filter(None, [reason, "an interval needs two items of each kind"]))
        return Estimate(value, labelled.size, reason=why_not)
    variance = labelled.var(ddof=1) / labelled.size + (others.var(ddof=1) / others.size if others.size else 0.0)
    half = float(stats.norm.ppf((1 + level) / 2) * math.sqrt(variance))
    return Estimate(value, labelled.size, value - half, value + half, reason)


def _worth(corrected: Estimate, people: Estimate) -> float:
    width, plain = corrected.high - corrected.low, people.high - people.low
    return people.n * (plain / width) ** 2 if width > 0 else NAN
