"""Whether the decision about the same case is another one under another condition, and with the options swapped.

Answers come coded as 1 (culture), 0 (preference) or NaN (no valid answer), as from `items.follows_culture`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .checks import coded_answers, column_names, columns_present, joined, same_length, unique_rows, unit_codes
from .gap import mcnemar_exact
from .result import NAN

NO_PAIR = "no case has a valid answer on both sides"


@dataclass(frozen=True, slots=True)
class DecisionFlips:
    """`n` pairs of valid answers, and how many of the others were left out.

    `delta` is the allow rate on the right minus that on the left, in [-1, 1]. Of the pairs that differ,
    `n_culture_to_preference` follow culture on the left. `mcnemar_p` is exact and two-sided. NaN without a pair, and
    `reason` says so.
    """

    n: int
    n_left_out: int
    left_allow_rate: float
    right_allow_rate: float
    delta: float
    n_culture_to_preference: int
    n_preference_to_culture: int
    mcnemar_p: float
    reason: str = ""

    @property
    def to_preference_rate(self) -> float:
        """Share of pairs that go from culture to the preference, in [0, 1]."""
        return self.n_culture_to_preference / self.n if self.n else NAN

    @property
    def to_culture_rate(self) -> float:
        """Share of pairs that go from the preference to culture, in [0, 1]."""
        return self.n_preference_to_culture / self.n if self.n else NAN

    @property
    def same_rate(self) -> float:
        """Share of pairs with the same decision, in [0, 1]."""
        return (self.n - self.n_culture_to_preference - self.n_preference_to_culture) / self.n if self.n else NAN


@dataclass(frozen=True, slots=True)
class OptionPosition:
    """Whether culture is chosen more often where it is shown first.

    Rates are over valid answers, `delta_pp` is the culture rate with culture first minus that with culture second, in
    percentage points. `n_pairs` items have a valid answer in both orders: `swap_consistency` is the share of them with
    the same decision, `n_always_first` chose what was first both times, `n_always_second` what was second, and
    `mcnemar_p` compares these two. `first_position_rate` is how often the first option is chosen at all. What is
    undefined is NaN; `reason` says why, or how many answers were left out.
    """

    n: int
    n_left_out: int
    culture_rate_first: float
    culture_rate_second: float
    delta_pp: float
    n_pairs: int
    swap_consistency: float
    n_always_first: int
    n_always_second: int
    mcnemar_p: float
    first_position_rate: float
    reason: str = ""


def paired_answers(left: pd.DataFrame, right: pd.DataFrame, *, keys: Sequence[str], answer: str) -> pd.DataFrame:
    """The cases that both sides have, with the columns `keys`, `left` and `right` (the answer on each side).

    A side that names a case twice, or no case, raises ValueError: each answer would enter several times.

    >>> left, right = pd.DataFrame({"case": [1, 2], "y": [1.0, 0.0]}), pd.DataFrame({"case": [2], "y": [1.0]})
    >>> paired_answers(left, right, keys=["case"], answer="y").values.tolist()
    [[2.0, 0.0, 1.0]]
    """
    names = column_names(keys, what="keys")
    sides = []
    for side, frame in (("left", left), ("right", right)):
        what = f"The {side} frame"
        columns_present(frame, [*names, answer], what=what)
        unique_rows(frame, names, what=what)
        sides.append(frame[[*names, answer]].rename(columns={answer: side}))
    return joined(*sides, on=names, what="Pairing answers")


def decision_flips(left: ArrayLike, right: ArrayLike) -> DecisionFlips:
    """Decisions about the same cases under two conditions, both of shape (n,), one element a case.

    Source: PACT, section 4.3; McNemar (1947).

    >>> found = decision_flips([1, 1, 0, 1], [0, 1, 0, float("nan")])
    >>> found.n, found.n_culture_to_preference, round(found.delta, 3), found.mcnemar_p
    (3, 1, 0.333, 1.0)
    """
    before, after = coded_answers(left, what="The left answers"), coded_answers(right, what="The right answers")
    same_length("Flips of decisions", left=before, right=after)
    both = ~(np.isnan(before) | np.isnan(after))
    n, n_left_out = int(both.sum()), int((~both).sum())
    if not n:
        return DecisionFlips(0, n_left_out, NAN, NAN, NAN, 0, 0, NAN, NO_PAIR)
    change = before[both] - after[both]
    to_preference, to_culture = int(np.sum(change > 0)), int(np.sum(change < 0))
    return DecisionFlips(
        n=n,
        n_left_out=n_left_out,
        left_allow_rate=1 - float(before[both].mean()),
        right_allow_rate=1 - float(after[both].mean()),
        delta=float(change.mean()),
        n_culture_to_preference=to_preference,
        n_preference_to_culture=to_culture,
        mcnemar_p=mcnemar_exact(to_preference, to_culture),
    )


def option_position_audit(chosen: ArrayLike, culture_first: ArrayLike, items: ArrayLike) -> OptionPosition:
    """The effect of the order in which options are shown; arrays of shape (n,), one element an answer.

    `culture_first` is 1 where culture was shown first and 0 where it was shown second; `items` names what was asked. An
    item that is answered twice in the same order raises ValueError. Source: PACT, appendix F.6.

    >>> found = option_position_audit([1, 0, 1, 1], [1, 0, 1, 0], ["x", "x", "y", "y"])
    >>> found.delta_pp, found.swap_consistency, found.n_always_first, found.first_position_rate
    (50.0, 0.5, 1, 0.75)
    """
    answers = coded_answers(chosen, what="The answers")
    first = coded_answers(culture_first, what="Whether culture is first")
    units = unit_codes(items, what="The items")
    same_length("An audit of positions", chosen=answers, culture_first=first, items=units)
    if np.isnan(first).any():
        raise ValueError(
            "Whether culture is first must be known for every answer; give 1 or 0, or leave the answer out."
        )
    table = pd.DataFrame({"item": units, "first": first, "culture": answers})
    if table.duplicated(["item", "first"]).any():
        raise ValueError("An item may be answered once in each order; name repeated questions as different items.")
    orders = table.pivot(index="item", columns="first", values="culture").reindex(columns=[1.0, 0.0])
    pairs = decision_flips(orders[1.0], orders[0.0])
    valid = table.dropna()
    means = valid.groupby("first")["culture"].mean()
    rate_first, rate_second = (float(means.get(order, NAN)) for order in (1.0, 0.0))
    return OptionPosition(
        n=len(valid),
        n_left_out=len(table) - len(valid),
        culture_rate_first=rate_first,
        culture_rate_second=rate_second,
        delta_pp=100 * (rate_first - rate_second),
        n_pairs=pairs.n,
        swap_consistency=pairs.same_rate,
        n_always_first=pairs.n_culture_to_preference,
        n_always_second=pairs.n_preference_to_culture,
        mcnemar_p=pairs.mcnemar_p,
        first_position_rate=float((valid["culture"] == valid["first"]).mean()) if len(valid) else NAN,
        reason=_why(len(table), len(valid), means.size, pairs.n),
    )


def _why(n: int, n_valid: int, n_orders: int, n_pairs: int) -> str:
    if n_orders < 2:
        return "no valid answer in one of the two orders"
    left_out = f"{n - n_valid} of {n} answers left out: invalid" if n_valid < n else ""
    return "; ".join(filter(None, [left_out, "" if n_pairs else "no item has a valid answer in both orders"]))
