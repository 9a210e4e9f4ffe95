"""From ratings as they were given to the tables that agreement is computed on."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def ratings_matrix(ratings: pd.DataFrame, *, item: str | Sequence[str], rater: str, value: str) -> pd.DataFrame:
    """One row per item, one column per rater, from one row per rating; missing ratings are NaN.

    `item` may name several columns: each combination is then one unit, which pools criteria. A rater who rated an item
    twice raises ValueError, since neither rating may be dropped silently.

    >>> long = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["r", "s", "r"], "value": [1, 0, 1]})
    >>> ratings_matrix(long, item="item", rater="rater", value="value").shape
    (2, 2)
    """
    keys = [item] if isinstance(item, str) else list(item)
    twice = ratings.duplicated([*keys, rater])
    if twice.any():
        first = ratings.loc[twice, [*keys, rater]].iloc[0].to_dict()
        raise ValueError(f"{int(twice.sum())} ratings repeat a rater and item, first {first}; keep one of each.")
    return ratings.set_index([*keys, rater])[value].astype(object).unstack(rater)


def category_counts(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> NDArray[np.int64]:
    """How many raters chose each declared category, shape (items, categories), from an items x raters table.

    Missing ratings count nowhere. A value that is not declared raises ValueError. The categories are those that could
    have been chosen, used or not: their number sets the chance level of Brennan-Prediger and AC1.

    >>> table = pd.DataFrame({"r": ["A", "B"], "s": ["A", None]})
    >>> category_counts(table, ["A", "B"]).tolist()
    [[2, 0], [0, 1]]
    """
    undeclared = (ratings.notna() & ~ratings.isin(list(categories))).to_numpy()
    if undeclared.any():
        first = ratings.to_numpy(dtype=object)[undeclared][0]
        raise ValueError(f"The rating {first!r} is not among the declared categories {list(categories)}.")
    columns = [(ratings == category).sum(axis=1).to_numpy(dtype=np.int64) for category in categories]
    return np.column_stack(columns)
