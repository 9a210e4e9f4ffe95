"""Who could label what, decided before anybody starts: the order of items and the places of each. Pure."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """One of the answers an item shall get. Lower ranks are handed out first; places of one item share a rank."""

    item: int
    place: int
    rank: int


def calibration_items(items: Sequence[int], *, size: int, seed: int) -> frozenset[int]:
    """`size` of the items, drawn without replacement; all of them when there are fewer."""
    drawn = random.Random(f"{seed}/calibration").sample(range(len(items)), min(size, len(items)))
    return frozenset(items[index] for index in drawn)


def work_order(items: Sequence[int], *, shuffle: bool, seed: int, first: frozenset[int] = frozenset()) -> list[int]:
    """The items in the order of work: as given or shuffled, with those of `first` before all others.

    A function of positions and seed alone: the same data set in another database gives the same order.
    """
    order = list(items)
    if shuffle:
        random.Random(f"{seed}/order").shuffle(order)
    return sorted(order, key=lambda item: item not in first)


def allocate(
    items: Sequence[int],
    *,
    overlap: int,
    shuffle: bool,
    seed: int,
    calibration_size: int = 0,
    calibration_overlap: int | None = None,
) -> Iterator[Place]:
    """Every place of every item: `overlap` each, `calibration_overlap` for the calibration subset.

    The calibration subset comes first, so that its agreement can be looked at before the rest is labelled.
    Raises ValueError for a number below one or a calibration subset without its overlap.
    """
    if overlap < 1 or (calibration_size and (calibration_overlap or 0) < 1):
        raise ValueError("Each item needs at least one answer.")
    calibration = calibration_items(items, size=calibration_size, seed=seed)
    for rank, item in enumerate(work_order(items, shuffle=shuffle, seed=seed, first=calibration)):
        places = (calibration_overlap or overlap) if item in calibration else overlap
        for place in range(1, places + 1):
            yield Place(item=item, place=place, rank=rank)
