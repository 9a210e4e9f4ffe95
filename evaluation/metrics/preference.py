"""A judge's choices between two responses, each pair shown in both orders.

A *choices frame* has one row per pair and order: `item`, `right_first` (1 where the right response was shown first, 0
where second) and `choice`: A for the response shown first, B for the other, missing where the output could not be read.
An order without an output has no row.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy import stats

from .checks import coded_answers, columns_present, known_option, unique_rows
from .gap import mcnemar_exact
from .rates import choice_rate
from .result import NAN, Estimate

Invalid = Literal["left_out", "inconsistent"]

NO_CHOICES = "there are no choices"


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How often the response shown first (A) and second (B) was chosen, and what follows where it was the same in both.

    `right_behind` counts right choices where the right response was second. `always_first` and `always_second` count
    pairs that were answered A, or B, in both orders, of `n_pairs` with a choice in both. `binomial_p` (exact,
    two-sided) asks whether A and B are equally likely over all choices, `mcnemar_p` (exact) over those pairs; the first
    takes the two choices of a pair as independent. Both are NaN without choices.
    """

    n_first: int
    n_second: int
    n_invalid: int
    right_ahead: int
    right_behind: int
    n_pairs: int
    always_first: int
    always_second: int
    binomial_p: float
    mcnemar_p: float


def position_bias(choices: pd.DataFrame) -> PositionBias:
    """Counts of positions over both orders.

    With every output read, abs(n_first - n_second) is twice abs(right_ahead - right_behind). Source: SenseJudge,
    section 4.2.1.

    >>> choices = pd.DataFrame({"item": ["x", "x"], "right_first": [1, 0], "choice": ["A", "A"]})
    >>> found = position_bias(choices)
    >>> found.n_first, found.always_first, found.binomial_p
    (2, 1, 0.5)
    """
    table = _choices(choices)
    pairs = _pairs(table)
    n_first, n_second = (int((table["choice"] == letter).sum()) for letter in "AB")
    both = [int((pairs == letter).all(axis=1).sum()) for letter in "AB"]
    n_pairs = int(pairs.notna().all(axis=1).sum())
    return PositionBias(
        n_first=n_first,
        n_second=n_second,
        n_invalid=len(table) - n_first - n_second,
        right_ahead=int((table["right"] & table["right_first"]).sum()),
        right_behind=int((table["right"] & ~table["right_first"]).sum()),
        n_pairs=n_pairs,
        always_first=both[0],
        always_second=both[1],
        binomial_p=float(stats.binomtest(n_first, n_first + n_second).pvalue) if n_first + n_second else NAN,
        mcnemar_p=mcnemar_exact(*both) if n_pairs else NAN,
    )


def first_position_rate(choices: pd.DataFrame) -> Estimate:
    """Share of choices for the response shown first, in [0, 1], with Wilson's interval; 0.5 without position bias.

    Choices that could not be read are left out; undefined without any. Source: SenseJudge, section 4.2.1.

    >>> first_position_rate(pd.DataFrame({"item": ["x", "y"], "right_first": [1, 1], "choice": ["A", "B"]})).value
    0.5
    """
    return choice_rate(_choices(choices)["choice"].map({"A": 1.0, "B": 0.0}).astype(float))


def two_order_accuracy(choices: pd.DataFrame) -> Estimate:
    """Right choices of both orders together over all rows, in [0, 1]; a choice that could not be read is wrong.

    `n` counts rows; undefined without any. Source: SenseJudge, section 4.1.2.

    >>> choices = pd.DataFrame({"item": ["x", "x"], "right_first": [1, 0], "choice": ["A", None]})
    >>> two_order_accuracy(choices).value
    0.5
    """
    right = _choices(choices)["right"]
    return Estimate(float(right.mean()), len(right)) if len(right) else Estimate.undefined(NO_CHOICES)


def right_in_both(choices: pd.DataFrame) -> Estimate:
    """Share of pairs that are right in both orders, in [0, 1]; a missing order or unread choice is not right.

    `n` counts pairs with at least one row; undefined without any.

    >>> choices = pd.DataFrame({"item": ["x", "x"], "right_first": [1, 0], "choice": ["A", "A"]})
    >>> right_in_both(choices).value
    0.0
    """
    table = _choices(choices)
    if table.empty:
        return Estimate.undefined(NO_CHOICES)
    n_right = table.groupby("item")["right"].sum()
    return Estimate(float((n_right == 2).mean()), len(n_right))


def swap_consistency(choices: pd.DataFrame, *, invalid: Invalid) -> Estimate:
    """Share of pairs for which the same response was chosen in both orders, in [0, 1].

    Pairs without a choice in both orders are left out, or counted as inconsistent: then `n` counts every pair with at
    least one row. Undefined without pairs. Source: SenseJudge, section 4.2.1.

    >>> choices = pd.DataFrame({"item": ["x", "x", "y"], "right_first": [1, 0, 1], "choice": ["A", "B", "A"]})
    >>> [swap_consistency(choices, invalid=invalid).value for invalid in ("left_out", "inconsistent")]
    [1.0, 0.5]
    """
    known_option(invalid, get_args(Invalid), what="invalid")
    pairs = _pairs(_choices(choices))
    valid = pairs.notna().all(axis=1)
    n = len(pairs) if invalid == "inconsistent" else int(valid.sum())
    if not n:
        return Estimate.undefined("no pair has a choice in both orders" if len(pairs) else NO_CHOICES)
    consistent = int((valid & (pairs[True] != pairs[False])).sum())
    left_out = len(pairs) - n
    reason = f"{left_out} of {len(pairs)} pairs left out: no choice in one of the orders" if left_out else ""
    return Estimate(consistent / n, n, reason=reason)


def _choices(choices: pd.DataFrame) -> pd.DataFrame:
    """The frame with booleans `right_first` and `right`; what is not a choices frame raises ValueError."""
    what = "The choices frame"
    columns_present(choices, ["item", "right_first", "choice"], what=what)
    order = coded_answers(choices["right_first"], what=f"The column right_first of {what[0].lower()}{what[1:]}")
    if np.isnan(order).any():
        row = int(np.flatnonzero(np.isnan(order))[0])
        raise ValueError(f"{what} must say in every row whether the right response came first; row {row} does not.")
    unique_rows(choices, ["item", "right_first"], what=what)
    chosen = choices["choice"].astype(object)
    strange = np.flatnonzero(chosen.notna() & ~chosen.isin(["A", "B"]))
    if strange.size:
        raise ValueError(
            f"{what} must have A, B or nothing as choice; row {strange[0]} has {chosen.iloc[strange[0]]!r}."
        )
    first = order == 1
    right = (chosen == np.where(first, "A", "B")).to_numpy(dtype=bool)
    return pd.DataFrame({"item": choices["item"], "right_first": first, "choice": chosen, "right": right})


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    """The choices of each pair in a column for each order, missing where there is none."""
    return table.pivot(index="item", columns="right_first", values="choice").reindex(columns=[True, False])
