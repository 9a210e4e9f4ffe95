"""Models that answer as somebody, compared with the people they answer as; models that do not, with each group.

People come counted by the columns of a `cell` and `item`, as from `items.count_answers`. The columns say how a persona
is matched with people: by country, by demographic group, or by both as in PACT, appendix F.1. A cell often holds one
person an item, so its rates are 0 or 1 and its errors large.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .alignment import ITEM_MEANS, item_means
from .ceiling import split_half_ceiling
from .checks import column_names, generator
from .items import counted_units, pair_counts
from .result import Estimate, mean_of_defined

Cell = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class SubgroupAlignment:
    """The `alignment.item_means` of each human cell, and the unweighted means over the cells that have a value."""

    cells: Mapping[Cell, Mapping[str, Estimate]]
    means: Mapping[str, Estimate]


def subgroup_alignment(human: pd.DataFrame, model: pd.DataFrame, *, cell: Sequence[str]) -> SubgroupAlignment:
    """Compare each persona with the people of the same cell; the model's answers are counted by the same columns.

    Every human cell is listed; one without model answers to its items is undefined and left out of the means. Personas
    without people vanish.

    >>> human = pd.DataFrame({"country": ["BR", "IN"], "item": ["x", "x"], "n": [2, 2], "n_culture": [1, 2]})
    >>> model = pd.DataFrame({"country": ["BR"], "item": ["x"], "n": [1], "n_culture": [1]})
    >>> result = subgroup_alignment(human, model, cell=["country"])
    >>> result.cells[("IN",)]["rate_mae"].defined, result.means["rate_mae"].value
    (False, 0.5)
    """
    return _over_cells(_matched(human, model, column_names(cell, what="cell")))


def closest_subgroups(human: pd.DataFrame, model: pd.DataFrame, *, cell: Sequence[str]) -> SubgroupAlignment:
    """Compare one model with the people of every cell; its answers are counted by `item` alone.

    The cells come closest first: by majority alignment, then by rate MAE, then as the people's table has them;
    undefined ones are last.

    >>> human = pd.DataFrame({"country": ["BR", "IN"], "item": ["x", "x"], "n": [2, 2], "n_culture": [1, 2]})
    >>> model = pd.DataFrame({"item": ["x"], "n": [1], "n_culture": [1]})
    >>> list(closest_subgroups(human, model, cell=["country"]).cells)
    [('IN',), ('BR',)]
    """
    keys = column_names(cell, what="cell")
    counted_units(human, [*keys, "item"], what="The human counts")
    found = _over_cells(
        {name: pair_counts(people, model, on=["item"]) for name, people in human.groupby(keys, sort=False)}
    )

    def distance(name: Cell) -> tuple[bool, float, float]:
        majority, error = (found.cells[name][metric] for metric in ("majority_alignment", "rate_mae"))
        return not majority.defined, -majority.value, error.value

    return SubgroupAlignment({name: found.cells[name] for name in sorted(found.cells, key=distance)}, found.means)


def subgroup_ceiling(
    human: pd.DataFrame,
    model: pd.DataFrame,
    *,
    cell: Sequence[str],
    n_splits: int = 200,
    seed: int | np.random.Generator,
) -> dict[str, Estimate]:
    """What one half of each cell's people reaches with the other: means over cells of `split_half_ceiling`.

    Tables as in `subgroup_alignment`; only items that the model answered for the cell enter. Cells in which no item has
    two human answers are left out, and `reason` says how many. There is no interval.

    >>> human = pd.DataFrame({"country": ["BR", "IN"], "item": ["x", "x"], "n": [2, 1], "n_culture": [1, 1]})
    >>> subgroup_ceiling(human, human, cell=["country"], seed=1)["rate_mae"]
    Estimate(value=1.0, n=1, low=nan, high=nan, reason='1 of 2 subgroups left out: undefined')
    """
    rng = generator(seed)
    ceilings = [
        split_half_ceiling(items, n_splits=n_splits, n_resamples=1, seed=rng)
        for items in _matched(human, model, column_names(cell, what="cell")).values()
    ]
    return _means(ceilings)


def _matched(human: pd.DataFrame, model: pd.DataFrame, keys: list[str]) -> dict[Cell, pd.DataFrame]:
    """The items frame of every human cell, empty where no persona answered as it."""
    joined = pair_counts(human, model, on=[*keys, "item"])
    pairs = dict(iter(joined.groupby(keys)))
    return {name: pairs.get(name, joined.iloc[:0]) for name, _ in human.groupby(keys, sort=False)}


def _over_cells(cells: Mapping[Cell, pd.DataFrame]) -> SubgroupAlignment:
    found = {name: item_means(items) for name, items in cells.items()}
    return SubgroupAlignment(found, _means(list(found.values())))


def _means(cells: Sequence[Mapping[str, Estimate]]) -> dict[str, Estimate]:
    return {name: mean_of_defined([found[name] for found in cells], what="subgroups") for name in ITEM_MEANS}
