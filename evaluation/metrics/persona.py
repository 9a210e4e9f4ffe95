"""Models that answer as somebody, compared with the people they answer as."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from .alignment import majority_alignment, rate_mae, signed_culture_gap
from .checks import column_names
from .items import pair_counts
from .result import Estimate, mean_of_defined


@dataclass(frozen=True, slots=True)
class SubgroupAlignment:
    """Alignment with each human cell, and the unweighted means over the cells that have a value."""

    cells: Mapping[tuple[Hashable, ...], Mapping[str, Estimate]]
    means: Mapping[str, Estimate]


def subgroup_alignment(human: pd.DataFrame, model: pd.DataFrame, *, cell: Sequence[str]) -> SubgroupAlignment:
    """Compare each persona with the people of the same cell, usually country x demographic group.

    Both tables come from `count_answers` by the columns of `cell` and `item`. Every human cell is listed; one without
    model answers to its items is undefined and left out of the means. Personas without people vanish. A cell often
    holds one person an item, so its rates are 0 or 1 and its errors large. Source: PACT, appendix F.1.

    >>> human = pd.DataFrame({"country": ["BR", "IN"], "item": ["x", "x"], "n": [2, 2], "n_culture": [1, 2]})
    >>> model = pd.DataFrame({"country": ["BR"], "item": ["x"], "n": [1], "n_culture": [1]})
    >>> result = subgroup_alignment(human, model, cell=["country"])
    >>> result.cells[("IN",)]["rate_mae"].defined, result.means["rate_mae"].value
    (False, 0.5)
    """
    keys = column_names(cell, what="cell")
    joined = pair_counts(human, model, on=[*keys, "item"])
    pairs = dict(iter(joined.groupby(keys)))
    nobody = joined.iloc[:0]
    cells: dict[tuple[Hashable, ...], Mapping[str, Estimate]] = {
        name: _cell_alignment(pairs.get(name, nobody)) for name, _ in human.groupby(keys, sort=False)
    }
    names = _cell_alignment(nobody)
    means = {name: mean_of_defined([found[name] for found in cells.values()], what="subgroups") for name in names}
    return SubgroupAlignment(cells, means)


def _cell_alignment(items: pd.DataFrame) -> dict[str, Estimate]:
    return {
        "majority_alignment": majority_alignment(items),
        "rate_mae": rate_mae(items),
        "signed_culture_gap": signed_culture_gap(items),
    }
