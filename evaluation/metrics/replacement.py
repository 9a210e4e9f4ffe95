"""May a model stand in for an annotator? The alternative annotator test."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from .checks import at_least_one
from .ratings import ratings_table
from .result import NAN, Estimate


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """One annotator against the model, judged by the other annotators, on `n` items.

    `advantage` is the share of items on which at least as many others agree with the model as with the annotator,
    `own_advantage` the other way round; ties count for both. `p_value` is that of the annotator being better by epsilon
    or more, `q_value` the same adjusted for the number of annotators, and `won` whether the model may replace them.
    """

    annotator: Hashable
    n: int
    advantage: float
    own_advantage: float
    p_value: float
    q_value: float
    won: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """`advantage` is the mean over annotators, `winning_rate` the share of them against whom the model won.

    Their 95 % intervals (t, and Wilson's) are over annotators, as if these were not judged by each other.
    """

    advantage: Estimate
    winning_rate: Estimate
    annotators: tuple[AnnotatorComparison, ...]
    reason: str


def alternative_annotator_test(
    ratings: pd.DataFrame, *, model: Hashable, epsilon: float, q: float = 0.05, min_items: int = 30
) -> AlternativeAnnotator:
    """Whether a model represents annotators as well as they represent each other, from an items x raters table.

    `model` names the model's column. Each annotator is left out in turn: on every item with their label, the model's
    and another annotator's, the model or the annotator wins with whom more of the others agree, or both. A one-sided
    t-test asks whether the annotator's share of wins minus the model's is below `epsilon`, what is given for a model
    being cheaper (the paper takes 0.2 for experts, 0.15 for trained people, 0.1 for a crowd); the p-values are adjusted
    after Benjamini and Yekutieli and compared with `q`. A winning rate of at least 0.5 passes. Both are in [0, 1].

    Annotators with fewer than `min_items` such items are left out; undefined without one who has them.
    Source: Calderon, Reichart and Dror (2025), section 3.

    >>> table = pd.DataFrame({"r": [1, 1, 0, 0], "s": [1, 1, 0, 1], "t": [1, 0, 0, 1], "model": [1, 1, 0, 1]})
    >>> found = alternative_annotator_test(table, model="model", epsilon=0.2, min_items=4)
    >>> [one.advantage for one in found.annotators], found.winning_rate.value
    ([1.0, 1.0, 1.0], 0.3333333333333333)
    """
    table = ratings_table(ratings)
    at_least_one(min_items, what="min_items")
    if model not in table.columns:
        raise ValueError(f"The ratings table has no column {model!r} with the model's labels; name the one it has.")
    if not (0 <= epsilon <= 1 and 0 < q < 1):
        raise ValueError(f"epsilon must be from 0 to 1 and q between them; here they are {epsilon:g} and {q:g}.")
    people, labels = table.drop(columns=model), table[model]
    wins = {name: _wins(people.drop(columns=name), people[name], labels) for name in people}
    enough = {name: found for name, found in wins.items() if len(found) >= min_items}
    left_out = len(wins) - len(enough)
    reason = f"{left_out} of {len(wins)} annotators left out: fewer than {min_items} items" if left_out else ""
    if not enough:
        undefined = Estimate.undefined(f"no annotator shares {min_items} items with the model and another annotator")
        return AlternativeAnnotator(undefined, undefined, (), undefined.reason)
    p_values = [_p_value(found, epsilon) for found in enough.values()]
    q_values = stats.false_discovery_control(p_values, method="by")
    compared = tuple(
        AnnotatorComparison(
            annotator=name,
            n=len(found),
            advantage=float(found[:, 0].mean()),
            own_advantage=float(found[:, 1].mean()),
            p_value=p_value,
            q_value=float(q_value),
            won=bool(q_value <= q),
        )
        for (name, found), p_value, q_value in zip(enough.items(), p_values, q_values, strict=True)
    )
    return AlternativeAnnotator(
        advantage=_over_annotators([one.advantage for one in compared], reason),
        winning_rate=_share([one.won for one in compared], reason),
        annotators=compared,
        reason=reason,
    )


def _over_annotators(values: list[float], reason: str) -> Estimate:
    mean, n = float(np.mean(values)), len(values)
    half = float(stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / n**0.5) if n > 1 else NAN
    return Estimate(mean, n, mean - half, mean + half, reason)


def _share(won: list[bool], reason: str) -> Estimate:
    low, high = proportion_confint(sum(won), len(won), method="wilson") if len(won) > 1 else (NAN, NAN)
    return Estimate(float(np.mean(won)), len(won), float(low), float(high), reason)


def _wins(others: pd.DataFrame, own: "pd.Series[Any]", model: "pd.Series[Any]") -> np.ndarray:
    """Whether the model, and whether the annotator, wins on each item that can be compared, shape (items, 2)."""
    usable = own.notna() & model.notna() & others.notna().any(axis=1)
    agree = [others[usable].eq(labels[usable], axis=0).sum(axis=1).to_numpy() for labels in (model, own)]
    return np.column_stack([agree[0] >= agree[1], agree[1] >= agree[0]]).astype(np.float64)


def _p_value(wins: np.ndarray, epsilon: float) -> float:
    difference = wins[:, 1] - wins[:, 0]
    if np.ptp(difference) == 0:  # no spread, no t
        return 0.0 if difference[0] < epsilon else 1.0
    return float(stats.ttest_1samp(difference, epsilon, alternative="less").pvalue)
