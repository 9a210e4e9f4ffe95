"""How short intervals would be, and what would be found, with more people, items and calls: simulated from a pilot."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from .checks import at_least_one, generator
from .items import check_counts
from .result import Estimate

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Planned:
    """`gap_width` and `majority_width` are the mean widths of the 95 % intervals of the signed culture gap, in [0, 2],
    and of majority alignment, in [0, 1]; `power` is how often a gap of the effect's size would be told from 0. `n` of
    each counts the simulations; undefined, with the reason, from fewer than two items of the pilot.
    """

    gap_width: Estimate
    majority_width: Estimate
    power: Estimate


def simulate_plan(
    pilot: pd.DataFrame,
    *,
    n_items: int,
    answers_per_item: int,
    calls_per_item: int,
    effect: float,
    n_simulations: int,
    seed: int | np.random.Generator,
) -> Planned:
    """What a study of `n_items` items would show, with so many answers of people and calls of the model about each.

    `pilot` is an items frame; items without answers of people and of the model have no part. Each simulated item is one
    of the pilot, drawn with replacement. Its people answer with a rate that is drawn from what the pilot's answers
    leave open, Beta(culture + 1/2, others + 1/2); its model with the rate of the pilot. Intervals are over items:
    normal for the gap, Wilson's for majority alignment. For the power the gaps of all items are moved alike, until
    their mean is `effect`, and the interval has to leave out 0.

    >>> pilot = pd.DataFrame({"item": [0, 1], "n_human": [40, 40], "n_human_culture": [20, 20],
    ...                       "n_model": [9, 9], "n_model_culture": [9, 0]})
    >>> few, many = (simulate_plan(pilot, n_items=n, answers_per_item=9, calls_per_item=1, effect=0.2,
    ...                            n_simulations=200, seed=1) for n in (25, 100))
    >>> round(few.gap_width.value / many.gap_width.value, 1), few.power.value < many.power.value
    (2.0, True)
    """
    for what, number in (("n_items", n_items), ("answers_per_item", answers_per_item)):
        at_least_one(number, what=what)
    at_least_one(calls_per_item, what="calls_per_item")
    at_least_one(n_simulations, what="n_simulations")
    counts = check_counts(pilot)
    usable = counts[(counts[:, 0] > 0) & (counts[:, 2] > 0)]
    if len(usable) < 2 or n_items < 2:
        undefined = Estimate.undefined("a plan needs a pilot of two items with answers of people and of the model")
        return Planned(undefined, undefined, undefined)
    rng = generator(seed)
    n_human, culture, n_model, model_culture = usable.T
    drawn = rng.integers(len(usable), size=(n_simulations, n_items))
    rates = rng.beta((culture + 0.5)[drawn], (n_human - culture + 0.5)[drawn])
    people = rng.binomial(answers_per_item, rates) / answers_per_item
    model = rng.binomial(calls_per_item, (model_culture / n_model)[drawn]) / calls_per_item
    expected = float(np.mean(model_culture / n_model - (culture + 0.5) / (n_human + 1)))
    gaps = model - people
    half = stats.norm.ppf(0.975) * gaps.std(axis=1, ddof=1) / np.sqrt(n_items)
    found = np.abs(gaps.mean(axis=1) - expected + effect) > half
    same = ((people >= 0.5) == (model >= 0.5)).sum(axis=1)
    low, high = proportion_confint(same, n_items, method="wilson")
    return Planned(
        gap_width=Estimate(float(2 * half.mean()), n_simulations),
        majority_width=Estimate(float(np.mean(high - low)), n_simulations),
        power=Estimate(float(found.mean()), n_simulations),
    )
