"""Majority votes of several judges, or of one judge under several preferences, on pairs whose right response is known.

`votes` has shape (rows, judges): 1 for the right response, 0 for the other (or a verdict that cannot be read), NaN for
no verdict. A row is a pair in one order; `right_first`, shape (rows,), says whether its right response was shown first.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .checks import FloatArray, coded_answers, numbers, same_length

BoolArray = NDArray[np.bool_]


def majority_votes(votes: ArrayLike, right_first: ArrayLike) -> pd.DataFrame:
    """For each row whether anybody `voted`, the vote is a `tie`, and it is `right`; and the `decision`, A or B.

    Verdicts that are missing do not vote. A tie is decided for A, the response shown first. Without a vote a row is not
    right and its decision is missing. Source: the `row_vote` function published with SenseJudge; section 3.2.5 of the
    paper says nothing on ties.

    >>> majority_votes([[1, 0], [1, 0], [float("nan")] * 2], [True, False, True])["decision"].tolist()
    ['A', 'A', nan]
    """
    table, first = checked_votes(votes, right_first)
    margin = np.nansum(2 * table - 1, axis=1)
    voted: BoolArray = np.any(~np.isnan(table), axis=1)
    right = is_right(margin, voted, first)
    decision = pd.Series(np.where(right == first, "A", "B")).where(voted)
    return pd.DataFrame({"voted": voted, "tie": voted & (margin == 0), "right": right, "decision": decision})


def is_right(margin: NDArray[np.floating], voted: BoolArray, right_first: BoolArray) -> BoolArray:
    """Whether votes with this margin (right less wrong) are right; a tie is where the right response was first.

    >>> is_right(np.array([1.0, 0.0, 0.0]), np.ones(3, bool), np.array([False, True, False])).tolist()
    [True, True, False]
    """
    right: BoolArray = voted & ((margin > 0) | ((margin == 0) & right_first))
    return right


def checked_votes(votes: ArrayLike, right_first: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Votes as floats and orders as booleans; raises ValueError for other codes or another number of rows.

    >>> checked_votes([[1, None]], [True])[1].tolist()
    [True]
    """
    table = numbers(votes, what="The votes", ndim=2)
    strange = (table != 0) & (table != 1)  # or missing, which is looked for only where there is any
    if strange.any() and (strange := strange & ~np.isnan(table)).any():
        row, judge = np.argwhere(strange)[0]
        raise ValueError(
            f"The votes must be coded 1, 0 or NaN; at row {row}, column {judge} it is {table[row, judge]:g}."
        )
    first = coded_answers(right_first, what="The orders")
    if np.isnan(first).any():
        raise ValueError(f"The orders must all be known; at position {np.flatnonzero(np.isnan(first))[0]} it is NaN.")
    same_length("A majority vote", votes=table, right_first=first)
    return table, first == 1
