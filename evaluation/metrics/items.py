"""Answers to a question with two options, counted by item.

Everything in `alignment` and `uncertainty` works on an *items frame*: one row per item with the columns `item`,
`n_human`, `n_human_culture`, `n_model`, `n_model_culture`. Counts are of valid answers only. Of the two
options, culture is to follow the culture; the other is to allow the preference. Where the probability of culture is
known for each answer of a model, their sum may stand for `n_model_culture`: its rate is then the mean probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import column_names, columns_present, joined, kind, numbers, same_length, unique_rows, whole_counts

FloatArray = NDArray[np.float64]

_COUNTS = ("n_human", "n_human_culture", "n_model", "n_model_culture")


def follows_culture(answers: pd.Series, *, culture: str, preference: str) -> pd.Series:
    """1.0 for the culture label, 0.0 for the preference label, NaN for anything else, compared stripped and upper-case.

    >>> follows_culture(pd.Series([" a", "B", "C", None]), culture="A", preference="B").tolist()
    [1.0, 0.0, nan, nan]
    """
    if not isinstance(answers, pd.Series):
        raise ValueError(f"Answers must be one column, a pandas Series; this is {kind(answers)}.")
    check_labels(culture, preference)
    normal = answers.astype("string").str.strip().str.upper()
    codes = {culture.strip().upper(): 1.0, preference.strip().upper(): 0.0}
    return normal.map(codes).astype(np.float64)


def count_answers(
    answers: pd.DataFrame, *, by: Sequence[str], answer: str, culture: str, preference: str
) -> pd.DataFrame:
    """Valid answers `n` and culture answers `n_culture` for each combination of the columns `by`.

    A combination that occurs with no valid answer is kept with n = 0; rows with a missing value in `by` are left out.

    >>> frame = pd.DataFrame({"item": ["x", "x", "y"], "answer": ["A", "b", "?"]})
    >>> count_answers(frame, by=["item"], answer="answer", culture="A", preference="B").values.tolist()
    [['x', 2, 1], ['y', 0, 0]]
    """
    keys = column_names(by, what="by")
    if taken := {"n", "n_culture"} & set(keys):
        raise ValueError(f"by cannot name {', '.join(sorted(taken))}: the counts are called so; rename the column.")
    columns_present(answers, list(dict.fromkeys([*keys, answer])), what="The answers frame")
    coded = answers[keys].assign(n=follows_culture(answers[answer], culture=culture, preference=preference))
    counted = coded.groupby(keys, sort=False)["n"].agg(n="count", n_culture="sum").reset_index()
    return counted.astype({"n": np.int64, "n_culture": np.int64})


def pair_counts(human: pd.DataFrame, model: pd.DataFrame, *, on: Sequence[str]) -> pd.DataFrame:
    """The items frame from two tables of `count_answers`, joined on the columns `on`.

    What only one side has is left out.

    >>> human = pd.DataFrame({"item": ["x", "y"], "n": [4, 2], "n_culture": [1, 2]})
    >>> model = pd.DataFrame({"item": ["x"], "n": [1], "n_culture": [1]})
    >>> pair_counts(human, model, on=["item"]).values.tolist()
    [['x', 4, 1, 1, 1]]
    """
    keys = column_names(on, what="on")
    for side, what in ((human, "The human counts"), (model, "The model counts")):
        counted_units(side, keys, what=what)
    names = {"n": "n_human", "n_culture": "n_human_culture"}
    other = {"n": "n_model", "n_culture": "n_model_culture"}
    return joined(human.rename(columns=names), model.rename(columns=other), on=keys, what="Pairing people and models")


def items_frame(
    n_human: Sequence[int], n_human_culture: Sequence[int], n_model: Sequence[int], n_model_culture: Sequence[int]
) -> pd.DataFrame:
    """An items frame from its four columns of counts; the items are numbered from 0.

    >>> items_frame([4], [3], [2], [1]).values.tolist()
    [[0, 4, 3, 2, 1]]
    """
    given = zip(_COUNTS, (n_human, n_human_culture, n_model, n_model_culture), strict=True)
    columns = {name: whole_counts(counts, what=name, ndim=1).astype(np.int64) for name, counts in given}
    same_length("An items frame", **columns)
    return pd.DataFrame({"item": range(len(columns["n_human"])), **columns})


@dataclass(frozen=True, slots=True)
class ItemRates:
    """The items that have valid answers on both sides, as vectors of one value per item, and how many had not.

    `human` and `model` are culture rates in [0, 1]; `*_majority` is 1.0 where at least half chose culture;
    `*_agreement` is the share of the more frequent answer, in [0.5, 1].
    """

    human: FloatArray
    model: FloatArray
    human_majority: FloatArray
    model_majority: FloatArray
    human_agreement: FloatArray
    model_agreement: FloatArray
    n_left_out: int

    @property
    def n(self) -> int:
        """How many items enter."""
        return int(self.human.size)

    @property
    def left_out(self) -> str:
        """A sentence about the items left out, empty when there are none."""
        if not self.n_left_out:
            return ""
        return f"{self.n_left_out} of {self.n + self.n_left_out} items left out: no valid answer on one side"


def item_rates(items: pd.DataFrame) -> ItemRates:
    """Rates from an items frame. Missing columns, repeated items or impossible counts raise ValueError.

    >>> rates = item_rates(items_frame([4, 3], [2, 1], [2, 0], [2, 0]))
    >>> rates.human.tolist(), rates.model.tolist(), rates.human_majority.tolist(), rates.left_out
    ([0.5], [1.0], [1.0], '1 of 2 items left out: no valid answer on one side')
    """
    table = check_counts(items)
    usable = table[(table[:, 0] > 0) & (table[:, 2] > 0)]
    n_human, human, n_model, model = usable.T
    # Integers decide majorities and agreement, so that 2 of 6 and 4 of 6 give the very same float.
    return ItemRates(
        human=human / n_human,
        model=model / n_model,
        human_majority=(2 * human >= n_human).astype(np.float64),
        model_majority=(2 * model >= n_model).astype(np.float64),
        human_agreement=np.maximum(human, n_human - human) / n_human,
        model_agreement=np.maximum(model, n_model - model) / n_model,
        n_left_out=len(table) - len(usable),
    )


def check_counts(items: pd.DataFrame) -> FloatArray:
    """The four columns of counts, shape (items, 4); missing columns, repeated items or impossible counts raise
    ValueError.

    >>> check_counts(items_frame([4], [3], [2], [1])).tolist()
    [[4.0, 3.0, 2.0, 1.0]]
    """
    what = "The items frame"
    columns_present(items, ["item", *_COUNTS], what=what)
    unique_rows(items, ["item"], what=what)
    return np.column_stack([cell_counts(items, what=what, of=side) for side in ("_human", "_model")])


def counted_units(counts: pd.DataFrame, keys: Sequence[str], *, what: str) -> None:
    """Raise ValueError unless a table of `count_answers` has one row for each combination of the columns `keys`.

    >>> counted_units(pd.DataFrame({"item": ["x"], "n": [2], "n_culture": [1]}), ["item"], what="The human counts")
    """
    columns_present(counts, [*keys, "n", "n_culture"], what=what)
    unique_rows(counts, keys, what=what)
    cell_counts(counts, what=what)


def cell_counts(cells: pd.DataFrame, *, what: str, of: str = "") -> FloatArray:
    """The columns `n` and `n_culture`, shape (rows, 2), or those of one side; impossible counts raise ValueError.

    `n_culture` may be an expected number, a sum of probabilities, but not of people.

    >>> cell_counts(pd.DataFrame({"n": [4, 2], "n_culture": [3, 1.5]}), what="The cells frame").tolist()
    [[4.0, 3.0], [2.0, 1.5]]
    """
    columns = [f"n{of}", f"n{of}_culture"]
    counts = numbers(columns_present(cells, columns, what=what)[columns], what=what, ndim=2)
    expected = np.column_stack([counts[:, 0], np.floor(counts[:, 1])])
    whole_counts(counts if of == "_human" else expected, what=what)
    above = np.flatnonzero(counts[:, 1] > counts[:, 0])
    if above.size:
        raise ValueError(
            f"Row {above[0]} of {what[0].lower()}{what[1:]} has more in {columns[1]} than in {columns[0]}."
        )
    return counts


def check_labels(culture: str, preference: str) -> None:
    """Raise ValueError unless the labels of the two options are text that differs, however it is written.

    >>> check_labels("A", "B")
    """
    labels = [label.strip().upper() if isinstance(label, str) else "" for label in (culture, preference)]
    if not all(labels) or labels[0] == labels[1]:
        raise ValueError(
            f"The labels of culture and preference must be two different texts; here are {culture!r}, {preference!r}."
        )
