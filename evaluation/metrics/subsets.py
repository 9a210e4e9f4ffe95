"""The subsets of preferences whose majority vote agrees best with the labels, by looking at all of them.

Votes and orders are as in `votes`, with a column for each preference.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import known_option
from .result import Estimate
from .votes import BoolArray, checked_votes, is_right

Rule = Literal["paper", "released"]
Strategy = Literal["forward_best", "inverted_worst"]
Counts = NDArray[np.unsignedinteger]

# 2 ** 24 subsets take some seconds and a hundred megabytes.
MOST_PREFERENCES = 24
# So many subsets and rows are compared at once: a megabyte, which stays in the processor's cache.
_TILE, _ROWS, _MOST_ROWS = 2**15, 32, 255
_MOST_BEHIND = 13


@dataclass(frozen=True, slots=True)
class Selection:
    """`subsets`, shape (selected, preferences), says which preferences are in; fewest first, then lexicographically.

    `best_metric` is what the best subset reaches, less the difference penalty where that was asked for.
    `inverted_worst_metric` is what the worst subset (without penalty) would reach with every vote turned round. With
    the strategy `inverted_worst` the subsets are the worst ones.
    """

    strategy: Strategy
    best_metric: int
    inverted_worst_metric: int
    max_denominator: int
    subsets: BoolArray


@dataclass(frozen=True, slots=True)
class SubsetScore:
    """Means over the subsets of right rows and of rows with a vote; `accuracy`, in [0, 1], is their ratio.

    `accuracy.n` counts subsets.
    """

    mean_right: float
    mean_denominator: float
    accuracy: Estimate


def select_subsets(
    votes: ArrayLike, right_first: ArrayLike, *, rule: Rule, difference_penalty: bool = False
) -> Selection:
    """All non-empty subsets whose majority vote is right in most rows; ties as in `majority_votes`.

    The penalty takes off how far right rows of the two orders differ, so the metric is twice the smaller number. The
    rule `released` also turns the worst subsets round: where the most rows that any subset votes on, less the right
    rows of the worst, is more than the best metric, it selects all of the worst. Raises ValueError without preferences
    or with more than `MOST_PREFERENCES`. Sources: SenseJudge, section 3.2.4; `select_combinations_by_dev_strategy`
    published with it.

    >>> found = select_subsets([[1, 1, 0], [0, 1, 0]], [True, False], rule="paper")
    >>> found.best_metric, found.subsets.astype(int).tolist()
    (2, [[0, 1, 0]])
    """
    known_option(rule, ("paper", "released"), what="rule")
    table, first = checked_votes(votes, right_first)
    n_preferences = table.shape[1]
    if not 1 <= n_preferences <= MOST_PREFERENCES:
        raise ValueError(f"A search needs 1 to {MOST_PREFERENCES} preferences; here are {n_preferences}.")
    signs = (table == 1).astype(np.int8) - (table == 0)
    if difference_penalty:
        by_order = [_right_rows(signs[rows], first[rows]) for rows in (first, ~first)]
        right, metric = np.add(*by_order), 2 * np.minimum(*by_order)
    else:
        right = metric = _right_rows(signs, first)
    best, worst = int(metric.max()), int(right.min())
    most = int(np.count_nonzero(signs.any(axis=1)))
    inverted = rule == "released" and most - worst > best
    selected = np.flatnonzero(right == worst if inverted else metric == best) + 1
    return Selection(
        strategy="inverted_worst" if inverted else "forward_best",
        best_metric=best,
        inverted_worst_metric=most - worst,
        max_denominator=most,
        subsets=_members(selected, n_preferences),
    )


def score_subsets(
    votes: ArrayLike, right_first: ArrayLike, subsets: ArrayLike, *, inverted: bool = False
) -> SubsetScore:
    """How right the majority votes of these subsets are, shape (subsets, preferences), on average over the subsets.

    `inverted` turns every vote round, ties included. A row on which nobody in a subset voted does not enter its
    denominator; undefined where no row does.

    >>> score_subsets([[1, 0], [1, 1]], [True, False], [[True, False], [False, True]]).accuracy.value
    0.75
    """
    table, first = checked_votes(votes, right_first)
    members = np.asarray(subsets, dtype=bool)
    if members.ndim != 2 or not len(members) or members.shape[1] != table.shape[1]:
        raise ValueError(f"The subsets must be rows of {table.shape[1]} preferences; their shape is {members.shape}.")
    signs = np.nan_to_num(2 * table - 1).astype(np.float32)
    n_right, n_voted = 0, 0
    for part in np.array_split(members.astype(np.float32), -(-members.size // _TILE)):
        voted = np.abs(signs) @ part.T > 0
        right = is_right(signs @ part.T, voted, first[:, None])
        n_right += int((voted & ~right).sum() if inverted else right.sum())
        n_voted += int(voted.sum())
    k = len(members)
    accuracy = Estimate(n_right / n_voted, k) if n_voted else Estimate.undefined("no row has a vote", n=k)
    return SubsetScore(n_right / k, n_voted / k, accuracy)


def _right_rows(signs: NDArray[np.int8], right_first: BoolArray) -> Counts:
    """How many rows each subset gets right, shape (2 ** preferences - 1,): subset 1 holds the last preference only.

    Every subset is one of the first preferences with one of the others, and a row's margin is the sum of what the two
    give, so a row costs one comparison and one addition of bytes for each subset.
    """
    n_ahead = max(signs.shape[1] // 4, signs.shape[1] - _MOST_BEHIND)
    ahead, behind = _sums(signs[:, :n_ahead]), _sums(signs[:, n_ahead:])
    least = -ahead - right_first[:, None]
    right = np.zeros((ahead.shape[1], behind.shape[1]), dtype=np.uint32)
    height = max(1, _TILE // behind.shape[1])
    depth = min(_MOST_ROWS, max(_ROWS, _TILE * _ROWS // right.size))
    for top in range(0, len(right), height):
        for row in range(0, len(signs), depth):
            beyond = behind[row : row + depth, None, :] > least[row : row + depth, top : top + height, None]
            right[top : top + height] += beyond.view(np.uint8).sum(axis=0, dtype=np.uint8)
    with_gaps = () if signs.all() else signs[right_first & ~signs.all(axis=1)]
    for row in with_gaps:
        silent_ahead, silent_behind = (_sums(abs(part)[None])[0] == 0 for part in (row[:n_ahead], row[n_ahead:]))
        right[np.ix_(silent_ahead, silent_behind)] -= 1
    return right.ravel()[1:]


def _sums(signs: NDArray[np.int8]) -> NDArray[np.int8]:
    """The sum of every subset of the columns, shape (rows, 2 ** columns); bit 0 of the index is the last column."""
    return (signs.astype(np.float32) @ _every_subset(signs.shape[1])).astype(np.int8)


@cache
def _every_subset(n_columns: int) -> NDArray[np.float32]:
    """1 where the column is in the subset, shape (columns, 2 ** columns); floats, because their products are fast."""
    bits = np.arange(n_columns - 1, -1, -1)
    return (np.arange(2**n_columns) >> bits[:, None] & 1).astype(np.float32)


def _members(numbers: NDArray[np.intp], n_preferences: int) -> BoolArray:
    """Which preferences each numbered subset holds; among subsets of one size the larger number comes first."""
    falling = numbers[::-1].astype(np.uint32)
    ordered = falling[np.argsort(np.bitwise_count(falling), kind="stable")]
    return (ordered[:, None] >> np.arange(n_preferences - 1, -1, -1, dtype=np.uint32) & 1).astype(np.bool_)
