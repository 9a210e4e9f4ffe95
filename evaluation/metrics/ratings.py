"""From ratings as they were given to the tables that agreement is computed on."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import column_names, columns_present, kind, unique_rows


def ratings_matrix(ratings: pd.DataFrame, *, item: str | Sequence[str], rater: str, value: str) -> pd.DataFrame:
    """One row per item, one column per rater, from one row per rating; missing ratings are NaN.

    `item` may name several columns: each combination is then one unit, which pools criteria. A rater who rated an item
    twice raises ValueError, since neither rating may be dropped silently.

    >>> long = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["r", "s", "r"], "value": [1, 0, 1]})
    >>> ratings_matrix(long, item="item", rater="rater", value="value").shape
    (2, 2)
    """
    keys = column_names([item] if isinstance(item, str) else item, what="item")
    unit = column_names([*keys, rater], what="item and rater")
    columns_present(ratings, column_names([*unit, value], what="item, rater and value"), what="The ratings frame")
    unique_rows(ratings, unit, what="The ratings frame")
    return ratings.set_index([*keys, rater])[value].astype(object).unstack(rater)


def category_counts(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> NDArray[np.int64]:
    """How many raters chose each declared category, shape (items, categories), from an items x raters table.

    Missing ratings count nowhere. A value that is not declared raises ValueError. The categories are those that could
    have been chosen, used or not: their number sets the chance level of Brennan-Prediger and AC1. None, a repeated or a
    missing one raises ValueError.

    >>> table = pd.DataFrame({"r": ["A", "B"], "s": ["A", None]})
    >>> category_counts(table, ["A", "B"]).tolist()
    [[2, 0], [0, 1]]
    """
    codes = category_codes(ratings, categories)
    return np.column_stack([(codes == code).sum(axis=1) for code in range(len(categories))])


def category_codes(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> NDArray[np.int64]:
    """The position of each rating among the declared categories, -1 where it is missing, shape (items, raters).

    Raises ValueError as `category_counts` does.

    >>> category_codes(pd.DataFrame({"r": ["A", "B"], "s": ["A", None]}), ["A", "B"]).tolist()
    [[0, 0], [1, -1]]
    """
    ratings = ratings_table(ratings)
    declared = _declared(categories)
    codes = np.full(ratings.shape, -1, dtype=np.int64)
    for code, category in enumerate(declared):
        codes[(ratings == category).to_numpy(dtype=bool, na_value=False)] = code
    undeclared = ratings.notna().to_numpy(dtype=bool) & (codes < 0)
    if undeclared.any():
        first = ratings.to_numpy(dtype=object)[undeclared][0]
        raise ValueError(f"The rating {first!r} is not among the declared categories {declared}.")
    return codes


def ratings_table(ratings: object) -> pd.DataFrame:
    """An items x raters table itself; raises ValueError when items or raters repeat or ratings cannot be compared.

    >>> ratings_table(pd.DataFrame({"r": [1, 0], "s": [1, None]})).shape
    (2, 2)
    """
    if not isinstance(ratings, pd.DataFrame):
        raise ValueError(f"Ratings must be a table with items in rows and raters in columns; this is {kind(ratings)}.")
    for labels, unit in ((ratings.index, "item"), (ratings.columns, "rater")):
        if not labels.is_unique:
            first = labels[labels.duplicated()][0]
            raise ValueError(f"The ratings table must name every {unit} once; {first!r} is there twice.")
    values = ratings.to_numpy(dtype=object)
    given = values[ratings.notna().to_numpy(dtype=bool)].tolist()
    if not all(isinstance(value, Hashable) and value not in (np.inf, -np.inf) for value in given):
        raise ValueError("Ratings must be categories, text or finite numbers; look for lists and infinite values.")
    if len({isinstance(value, str) for value in given}) > 1:
        raise ValueError("Ratings mix text and numbers, which never agree; give all as text or all as numbers.")
    return ratings


def _declared(categories: Sequence[Hashable]) -> list[Hashable]:
    declared = list(categories) if isinstance(categories, Sequence | np.ndarray | pd.Index) else []
    if isinstance(categories, str) or not declared:
        raise ValueError(f"The declared categories must be a list of at least one; here is {categories!r}.")
    if (
        not all(isinstance(category, Hashable) for category in declared)
        or pd.Series(declared, dtype=object).isna().any()
    ):
        raise ValueError(f"The declared categories must be text or numbers, none missing; here is {declared}.")
    if len(set(declared)) < len(declared):
        raise ValueError(f"The declared categories must differ; {declared} names one twice.")
    return declared
