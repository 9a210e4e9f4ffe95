"""What every metric asks of its input before it computes: a ValueError says what is wrong, where and what to do.

`what` names the input as the caller knows it ("the items frame") and begins every sentence.
"""

from collections.abc import Collection, Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Nobody collects as many answers, and NumPy's hypergeometric draws end there.
MOST = 10**9 - 1


def numbers(values: object, *, what: str, ndim: int) -> FloatArray:
    """Values as floats, missing ones NaN; text, ragged rows or another number of dimensions raise ValueError.

    >>> numbers([1, None], what="The answers", ndim=1).tolist()
    [1.0, nan]
    """
    try:
        given = np.asarray(values)
        if given.dtype.kind == "O":
            given = _floats(given)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{what} must be numbers in {_SHAPES[ndim]}; look for text or rows of unequal length."
        ) from None
    if given.ndim != ndim or given.dtype.kind not in "biuf":
        raise ValueError(f"{what} must be numbers in {_SHAPES[ndim]}; these are {given.dtype} of shape {given.shape}.")
    return given.astype(np.float64)


_SHAPES = {1: "one dimension", 2: "a table of rows and columns"}


def _floats(given: NDArray[Any]) -> FloatArray:
    if any(isinstance(value, str | bytes) for value in given.flat):
        raise ValueError
    floats: FloatArray = np.where(pd.isna(given), np.nan, given).astype(np.float64)
    return floats


def whole_counts(values: object, *, what: str, ndim: int = 2) -> FloatArray:
    """Counts as floats; raises ValueError unless all are whole and from 0 to `MOST`.

    >>> whole_counts([[2, 0]], what="The table").tolist()
    [[2.0, 0.0]]
    """
    counts = numbers(values, what=what, ndim=ndim)
    impossible = ~((counts >= 0) & (counts <= MOST) & (counts == np.floor(counts)))
    if impossible.any():
        place = tuple(int(index) for index in np.argwhere(impossible)[0])
        at = f"row {place[0]}, column {place[1]}" if ndim == 2 else f"position {place[0]}"
        raise ValueError(f"{what} must hold whole counts of 0 or more; at {at} it is {counts[place]:g}.")
    return counts


def coded_answers(values: object, *, what: str) -> FloatArray:
    """Answers coded 1, 0 or NaN (not valid), shape (n,); anything else raises ValueError.

    >>> coded_answers([1, 0, None], what="The answers").tolist()
    [1.0, 0.0, nan]
    """
    answers = numbers(values, what=what, ndim=1)
    strange = (answers != 0) & (answers != 1)  # or missing, which is looked for only where there is any
    if strange.any() and (strange := strange & ~np.isnan(answers)).any():
        place = int(np.flatnonzero(strange)[0])
        raise ValueError(f"{what} must be coded 1, 0 or NaN; at position {place} it is {answers[place]:g}.")
    return answers


def unit_codes(units: object, *, what: str) -> NDArray[np.intp]:
    """A number from 0 for each distinct label, shape (n,), in sorted order; a missing label raises ValueError.

    >>> unit_codes(["b", "a", "b"], what="The items").tolist()
    [1, 0, 1]
    """
    labels = np.asarray(units, dtype=object)
    if labels.ndim != 1:
        raise ValueError(f"{what} must be one label for each answer; these have shape {labels.shape}.")
    missing = np.flatnonzero(pd.isna(labels))
    if missing.size:
        raise ValueError(f"{what} must all be named; at position {missing[0]} the label is missing.")
    try:
        codes, _ = pd.factorize(labels, sort=True)
    except TypeError:
        raise ValueError(f"{what} must be labels of one kind; give all as text or all as numbers.") from None
    return codes


def same_length(what: str, **arrays: Sequence[Any] | NDArray[Any]) -> None:
    """Raise ValueError unless all arrays have one length.

    >>> same_length("Consistency", first=[1, 0], second=[1, 1])
    """
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"{what} needs one element of each per row: {found}.")


def columns_present(frame: object, columns: Collection[str], *, what: str) -> pd.DataFrame:
    """The frame itself; raises ValueError unless it is one and has each of the columns once.

    >>> columns_present(pd.DataFrame({"n": [1]}), ["n"], what="The cells frame").shape
    (1, 1)
    """
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"{what} must be a data frame with the columns {', '.join(columns)}; this is {kind(frame)}.")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ValueError(f"{what} lacks {', '.join(missing)}; it needs {', '.join(columns)}.")
    twice = [name for name in columns if (frame.columns == name).sum() > 1]
    if twice:
        raise ValueError(f"{what} has several columns named {', '.join(twice)}; keep one of each.")
    return frame


def column_names(names: Sequence[str], *, what: str) -> list[str]:
    """Names of columns as a list; raises ValueError when there are none, one is repeated or they are a bare string.

    >>> column_names(("country", "item"), what="The cell")
    ['country', 'item']
    """
    listed = isinstance(names, list | tuple)
    if not listed or not all(isinstance(name, str) for name in names) or not names or len(set(names)) < len(names):
        raise ValueError(f"{what} must be a list of different column names; this is {names!r}.")
    return list(names)


def unique_rows(frame: pd.DataFrame, keys: Sequence[str], *, what: str) -> None:
    """Raise ValueError when a row names no unit in the columns `keys`, or one that another row names.

    >>> unique_rows(pd.DataFrame({"item": ["x", "y"]}), ["item"], what="The items frame")
    """
    named, by = frame[list(keys)], " and ".join(keys)
    nameless = np.flatnonzero(named.isna().any(axis=1))
    if nameless.size:
        raise ValueError(f"{what} must name {by} in every row; in row {nameless[0]} it is missing.")
    try:
        codes = pd.DataFrame({key: pd.factorize(named[key])[0] for key in keys})
    except TypeError:
        raise ValueError(f"{what} must name {by} by text or numbers; lists and the like cannot be compared.") from None
    twice = np.flatnonzero(codes.duplicated())
    if twice.size:
        first = named.iloc[twice[0]].to_dict()
        raise ValueError(f"{what} must hold one row for each {by}; row {twice[0]} repeats {first}: join such rows.")


def joined(left: pd.DataFrame, right: pd.DataFrame, *, on: list[str], what: str) -> pd.DataFrame:
    """The inner join of two frames; columns that cannot be compared, as text with numbers, raise ValueError.

    >>> joined(pd.DataFrame({"item": [1]}), pd.DataFrame({"item": [1], "n": [2]}), on=["item"], what="Pairing").shape
    (1, 2)
    """
    try:
        return left.merge(right, on=on, how="inner")
    except (TypeError, ValueError):
        by = " and ".join(on)
        raise ValueError(f"{what} needs {by} of one kind on both sides; give all as text or all as numbers.") from None


def known_option(value: object, options: Collection[Hashable], *, what: str) -> None:
    """Raise ValueError unless the value is one of the options.

    >>> known_option("pearson", ("pearson", "spearman"), what="method")
    """
    if value not in options:
        raise ValueError(f"{what} is {value!r}; it must be one of {', '.join(map(repr, options)) or 'no options'}.")


def at_least_one(number: object, *, what: str) -> None:
    """Raise ValueError unless the number is whole and 1 or more.

    >>> at_least_one(2000, what="n_resamples")
    """
    if not isinstance(number, Integral) or number < 1:
        raise ValueError(f"It needs {what} of at least 1, a whole number; here is {number!r}.")


def generator(seed: object) -> np.random.Generator:
    """The generator itself, or one from a seed; without either the numbers could not be repeated, hence ValueError.

    >>> int(generator(1).integers(10))
    4
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number of 0 or more, or a Generator; it is {seed!r}.")
    return np.random.default_rng(int(seed))


def confidence_level(level: object, *, what: str) -> None:
    """Raise ValueError unless the level of an interval lies between 0 and 1.

    >>> confidence_level(0.95, what="level")
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ValueError(f"{what} must be a level between 0 and 1; it is {level!r}.")


def kind(value: object) -> str:
    """What to call a value of the wrong type.

    >>> kind([1]), kind(None)
    ('list', 'None')
    """
    return "None" if value is None else type(value).__name__
