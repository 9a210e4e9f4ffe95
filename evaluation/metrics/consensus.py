"""How much the answers within a cell agree, for people or for one model asked repeatedly.

A *cells frame* has one row per cell (an item, an item x group, a model x item...) with the valid answers `n` and the
culture answers `n_culture`, as from `items.count_answers`. Cells without a valid answer do not enter.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from . import agreement
from .checks import at_least_one, coded_answers, same_length, unit_codes
from .items import cell_counts
from .result import Estimate
from .sum_statistics import SumStatistic

FloatArray = NDArray[np.float64]

_FRAME = "The cells frame"
NO_CELLS = "no cell has enough valid answers"
NO_PAIRS = "no row has two valid answers"


def modal_share(cells: pd.DataFrame, *, min_n: int = 1) -> Estimate:
    """Mean over cells of the share of the more frequent answer, in [0.5, 1]; one minus the variation ratio.

    Cells with fewer than `min_n` answers are left out; `n` counts the others. A cell of one answer is 1 by construction
    and small cells are biased upwards, so look at `min_n=2` and `pairwise_agreement` too. Over the cells of
    model x item it is a model's self-consistency. Undefined without cells. Source: PACT, section 5.2 and table 20.

    >>> cells = pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]})
    >>> modal_share(cells).value, modal_share(cells, min_n=2).value
    (0.875, 0.75)
    """
    return modal_statistic(cells, min_n=min_n).estimate()


def modal_statistic(cells: pd.DataFrame, *, min_n: int) -> SumStatistic:
    """`modal_share` as a statistic with a row for each cell, for `with_intervals`.

    >>> modal_statistic(pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]}), min_n=2).rows.tolist()
    [[0.75, 1.0], [0.0, 0.0]]
    """
    at_least_one(min_n, what="min_n")
    n, culture = cell_counts(cells, what=_FRAME).T
    large = n >= min_n
    shares = np.divide(np.maximum(culture, n - culture), n, out=np.zeros_like(n), where=large)
    return _statistic(np.column_stack([shares, large]), lambda sums: sums[..., 0] / sums[..., 1], int(large.sum()))


def weighted_modal_share(cells: pd.DataFrame) -> Estimate:
    """As `modal_share`, each cell weighted with its number of answers, in [0.5, 1].

    >>> weighted_modal_share(pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]})).value
    0.8
    """
    n, culture = _counts(cells, 1)
    if not n.size:
        return Estimate.undefined(NO_CELLS)
    return Estimate(float(np.maximum(culture, n - culture).sum() / n.sum()), n.size)


def pooled_modal_share(cells: pd.DataFrame) -> Estimate:
    """max(r, 1-r) of the one culture rate r over all answers, in [0.5, 1]; never above `weighted_modal_share`.

    PACT's figure 6B shows it. Cells that disagree with each other lower it, so it can order groups differently.

    >>> pooled_modal_share(pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]})).value
    0.6
    """
    return pooled_modal_statistic(cells).estimate()


def pooled_modal_statistic(cells: pd.DataFrame) -> SumStatistic:
    """`pooled_modal_share` as a statistic with a row for each cell, for a bootstrap of `with_intervals`.

    >>> pooled_modal_statistic(pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]})).rows.tolist()
    [[3.0, 1.0], [0.0, 1.0]]
    """
    n, culture = cell_counts(cells, what=_FRAME).T
    rows = np.column_stack([culture, n - culture])
    return _statistic(rows, lambda sums: sums.max(axis=-1) / sums.sum(axis=-1), int((n > 0).sum()))


def pairwise_agreement(cells: pd.DataFrame) -> Estimate:
    """Mean over cells with two answers of the share of agreeing pairs, in [0, 1]: unbiased in the size of the cells.

    >>> pairwise_agreement(pd.DataFrame({"n": [4, 1], "n_culture": [3, 0]})).value
    0.5
    """
    n, culture = _counts(cells, 2)
    if not n.size:
        return Estimate.undefined(NO_CELLS)
    return agreement.observed_agreement(np.column_stack([culture, n - culture]))


def answer_consistency(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Share of rows with the same answer to two questions, in [0, 1]; answers are 1, 0 or NaN where invalid.

    Rows with an invalid answer are left out, `n` counts the others; undefined without any. Source: PACT, appendix E.2.

    >>> answer_consistency([1, 0, 1, float("nan")], [1, 1, 1, 0]).n
    3
    """
    one, other = coded_answers(first, what="The first answers"), coded_answers(second, what="The second answers")
    same_length("Consistency of answers", first=one, second=other)
    both = ~(np.isnan(one) | np.isnan(other))
    if not both.any():
        return Estimate.undefined(NO_PAIRS)
    left_out = both.size - int(both.sum())
    reason = f"{left_out} of {both.size} rows left out: an answer is invalid" if left_out else ""
    return Estimate(float((one[both] == other[both]).mean()), int(both.sum()), reason=reason)


def majority_consistency(first: ArrayLike, second: ArrayLike, items: ArrayLike) -> Estimate:
    """Share of items whose majority answer to two questions is the same, in [0, 1]; a tie counts as 1, culture.

    Arrays as in `answer_consistency`; `items` names the item of each row. Unlike there, every valid answer enters, also
    from rows where the other is invalid. `n` counts the items with a valid answer to both; undefined without any.

    >>> majority_consistency([1, 0, 1], [1, 1, 0], ["x", "x", "y"]).value
    0.5
    """
    one, other = coded_answers(first, what="The first answers"), coded_answers(second, what="The second answers")
    codes = unit_codes(items, what="The items")
    same_length("Consistency of majorities", first=one, second=other, items=codes)
    answers = pd.DataFrame({"first": one, "second": other, "item": codes})
    shares = answers.groupby("item")[["first", "second"]].mean().dropna()
    if shares.empty:
        return Estimate.undefined("no item has a valid answer to both questions")
    majority = shares >= 0.5
    return Estimate(float((majority["first"] == majority["second"]).mean()), len(majority))


def _statistic(rows: FloatArray, of_sums: Callable[[NDArray[Any]], NDArray[Any]], n_cells: int) -> SumStatistic:
    return SumStatistic(rows, of_sums, n_cells, "" if n_cells else NO_CELLS, lowest=0.5)


def _counts(cells: pd.DataFrame, min_n: int) -> tuple[FloatArray, FloatArray]:
    counts = cell_counts(cells, what=_FRAME)
    n, culture = counts[counts[:, 0] >= min_n].T
    return n, culture
