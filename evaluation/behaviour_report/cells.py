"""Answers counted by question, respondent, condition and item, as arrays, and what is counted from them.

A cell holds all answers that one respondent gave to one question about one item under one condition, so there are as
many cells for one sample as for a hundred. Pure code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluation.parameters import ReportError

Codes = NDArray[np.int32]

COUNTS = ("n_rows", "n", "n_culture")
FIRST = "culture_first"  # a column: whether culture was shown before the preference
_ABSENT, _UNDECIDED, _PREFERENCE, _CULTURE = range(4)  # what a case may be
_OF_SIGN = np.array([_UNDECIDED, _CULTURE, _PREFERENCE], dtype=np.int8)  # 0, 1 and -1, the last place
_MOST_KEYS, _FEW = 2**62, 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """A level for each element of its owner, as places in `labels`."""

    owner: str  # "question", "respondent", "condition", "item" or "cell"
    codes: Codes
    labels: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Cells:
    """`owners` has for each cell the place of its question, respondent, condition and item; `counts` how many answers
    it holds (`n_rows`), how many are a decision (`n`), and how many of these follow culture (`n_culture`).
    """

    owners: Mapping[str, Codes]
    counts: Mapping[str, Codes]
    columns: Mapping[str, Column]

    def codes(self, name: str) -> Codes:
        """The level of each cell, as places in the column's labels."""
        column = self.columns[name]
        return column.codes if column.owner == "cell" else column.codes[self.owners[column.owner]]

    def levels(self, name: str) -> list[Any]:
        """The column's labels that any cell has, in order."""
        labels = self.columns[name].labels
        return [labels[code] for code in np.flatnonzero(np.bincount(self.codes(name))).tolist()]


def counted(cells: Cells, by: Sequence[str]) -> pd.DataFrame:
    """The counts frame of `evaluation.metrics.behaviour`: a row for each combination of levels there is, in order."""
    keys, sums = _tallied(cells, by)
    return _levels(cells, by, keys).assign(**sums)


def counted_units(cells: Cells, by: Sequence[str], *, unit: str) -> pd.DataFrame:
    """How many units (`units`) of each combination of levels have the same counts, in order.

    The counts are those of one unit, so a row speaks of `units` times as many answers.
    """
    keys, sums = _tallied(cells, [*by, unit])
    return _by_sort(cells, by, keys // _size(cells, [unit]), sums)


def sided_units(cells: Cells, by: Sequence[str], *, across: str, left: str, right: str, unit: str) -> pd.DataFrame:
    """The sides frame of `evaluation.metrics.sides`, of decisions at two levels of the column `across`.

    A row for each combination of the levels of `by` and the counts that units have there, in order.
    """
    group, keys = _numbered(cells, [*by, unit])
    counts = {}
    for side, chosen in (("left", _at(cells, across, left)), ("right", _at(cells, across, right))):
        for name, own in (("", "n"), ("_culture", "n_culture")):
            counts[f"n_{side}{name}"] = np.bincount(group, cells.counts[own] * chosen, minlength=len(keys))
    return _by_sort(cells, by, keys // _size(cells, [unit]), counts)


def paired_decisions(
    cells: Cells,
    by: Sequence[str],
    *,
    case: Sequence[str],
    across: str,
    left: str,
    right: str,
    unit: str,
    counts: Sequence[str],
) -> pd.DataFrame:
    """Those `counts` of the frames of `evaluation.metrics.sides` that are named, of cases at two levels of `across`.

    Rows are as in `sided_units`; the fewer counts, the fewer rows. A case is an item at one combination of the levels
    of `by` and `case`. Its decision is that of most of its answers; it is undecided when they are split in half or none
    is a decision, and not asked when there are none. `unit` is the item, or a column of items.
    """
    group, keys = _numbered(cells, [*by, *case, "item"])
    lean = 2 * cells.counts["n_culture"] - cells.counts["n"]
    on_left, on_right = (
        _decided(group[chosen], lean[chosen], len(keys))
        for chosen in (_at(cells, across, level) for level in (left, right))
    )
    decided = [side >= _PREFERENCE for side in (on_left, on_right)]
    cases = {
        "n_left": decided[0],
        "n_left_culture": on_left == _CULTURE,
        "n_right": decided[1],
        "n_right_culture": on_right == _CULTURE,
        "n_asked": (on_left != _ABSENT) & (on_right != _ABSENT),
        "n_pairs": decided[0] & decided[1],
        "n_to_preference": (on_left == _CULTURE) & (on_right == _PREFERENCE),
        "n_to_culture": (on_left == _PREFERENCE) & (on_right == _CULTURE),
    }
    pattern, item = keys // _size(cells, [*case, "item"]), keys % _size(cells, ["item"])
    n_units = _size(cells, [unit])
    key = pattern * n_units + cells.columns[unit].codes[item]
    of_units = {name: np.bincount(key, cases[name], minlength=n_units) for name in counts}
    return _by_sort(cells, by, np.arange(len(of_units[counts[0]])) // n_units, of_units)


def _at(cells: Cells, name: str, level: str) -> NDArray[np.bool_]:
    """Whether each cell has this level of the column."""
    labels, codes = list(cells.columns[name].labels), cells.codes(name)
    return codes == labels.index(level) if level in labels else np.zeros(len(codes), dtype=bool)


def _decided(case: NDArray[np.int64], lean: Codes, n_cases: int) -> NDArray[np.int8]:
    """Of each case its decision, from how many more answers of each cell follow culture than do not."""
    asked = np.bincount(case, minlength=n_cases) > 0
    sign = np.sign(np.bincount(case, weights=lean, minlength=n_cases)).astype(np.int8)
    return np.where(asked, _OF_SIGN[sign], np.int8(_ABSENT))


def _by_sort(
    cells: Cells, by: Sequence[str], groups: NDArray[np.int64], counts: Mapping[str, NDArray[Any]]
) -> pd.DataFrame:
    """How many units (`units`) of each group, a combination of the levels of `by`, have the same counts, in order.

    Units that have nothing to count are left out.
    """
    of_units = pd.DataFrame({name: own.astype(np.int64) for name, own in counts.items()})
    something = of_units.to_numpy().any(axis=1)
    of_units = of_units[something].assign(group=groups[something])
    found = of_units.groupby(["group", *counts]).size().reset_index(name="units")
    return pd.concat([_levels(cells, by, found.pop("group").to_numpy()), found], axis=1)


def _tallied(cells: Cells, by: Sequence[str]) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int64]]]:
    """The keys of the combinations of levels that occur, in order, and the counts of each."""
    group, keys = _numbered(cells, by)
    sums = _sums(cells, group, len(keys))
    occurs = np.flatnonzero(sums["n_rows"])
    occurs = occurs[np.argsort(keys[occurs], kind="stable")]
    return keys[occurs], {name: own[occurs] for name, own in sums.items()}


def _numbered(cells: Cells, by: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each cell the number of its combination of levels, and the key of each number.

    Where there are not many more combinations than cells, all have a number, also those that do not occur: to look for
    those that do would take longer.
    """
    size, key = _size(cells, by), np.zeros(len(cells.owners["item"]), dtype=np.int64)
    for name in by:
        key = key * _size(cells, [name]) + cells.codes(name)
    if size <= len(key) + _FEW:
        return key, np.arange(size)
    return pd.factorize(key)


def _sums(cells: Cells, group: NDArray[np.int64], n_groups: int) -> dict[str, NDArray[np.int64]]:
    return {
        name: np.bincount(group, weights=counts, minlength=n_groups).astype(np.int64)
        for name, counts in cells.counts.items()
    }


def _size(cells: Cells, by: Sequence[str]) -> int:
    """How many combinations of levels there could be; raises ReportError when they cannot be numbered."""
    size = prod(max(1, len(cells.columns[name].labels)) for name in by)
    if size >= _MOST_KEYS:
        raise ReportError(f"There are too many combinations of {', '.join(by)}; compare fewer columns at once.")
    return size


def _levels(cells: Cells, by: Sequence[str], keys: NDArray[np.int64]) -> pd.DataFrame:
    """The labels behind the keys, a column for each of `by`."""
    columns: dict[str, NDArray[np.object_]] = {}
    for name in reversed(by):
        keys, codes = np.divmod(keys, _size(cells, [name]))
        columns[name] = np.array(cells.columns[name].labels, dtype=object)[codes]
    return pd.DataFrame({name: columns[name] for name in by}, index=pd.RangeIndex(len(keys)))
