"""Who could label what: the order of items and the places of each, and what comes first as answers come in. Pure."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIXED, RANDOM = "fixed", "random"
LEAST_LABELLED, MOST_DISPUTED, MODEL_UNCERTAIN = "least_labelled", "most_disputed", "model_uncertain"
PLACE_BY_PLACE = frozenset({LEAST_LABELLED, MOST_DISPUTED})  # every item's first place before any second one
# A rank is made of the item's position in the order of work, the place where places come one by one, and the dispute.
PLACE_STEP = 2**32
DISPUTE_STEP = 2**45
DISPUTE_LEVELS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One of the answers an item shall get. Lower ranks are handed out first."""

    item: int
    place: int
    rank: int


def calibration_items(items: Sequence[int], *, size: int, seed: int) -> frozenset[int]:
    """`size` of the items, drawn without replacement; all of them when there are fewer."""
    drawn = random.Random(f"{seed}/calibration").sample(range(len(items)), min(size, len(items)))
    return frozenset(items[index] for index in drawn)


def work_order(
    items: Sequence[int],
    *,
    order: str,
    seed: int,
    first: frozenset[int] = frozenset(),
    uncertainty: Mapping[int, float] | None = None,
) -> list[int]:
    """The items in the order of work, with those of `first` before all others.

    As given when fixed, else shuffled; by falling `uncertainty` where that is asked for, equal ones shuffled and items
    without one last. A function of positions, seed and uncertainty: the same dataset elsewhere gives the same order.
    """
    ordered = list(items)
    if order != FIXED:
        random.Random(f"{seed}/order").shuffle(ordered)
    if order == MODEL_UNCERTAIN:
        known = uncertainty or {}
        ordered.sort(key=lambda item: -known.get(item, -1.0))
    return sorted(ordered, key=lambda item: item not in first)


def allocate(
    items: Sequence[int],
    *,
    overlap: int,
    order: str,
    seed: int,
    calibration_size: int = 0,
    calibration_overlap: int | None = None,
    uncertainty: Mapping[int, float] | None = None,
    start: int = 0,
) -> Iterator[Place]:
    """Every place of every item: `overlap` each, `calibration_overlap` for the calibration subset.

    The calibration subset comes first, so that its agreement can be looked at before the rest is labelled. `start` is
    the position of the first item, for items that come to others. Raises ValueError for a number below one or a
    calibration subset without its overlap.
    """
    if overlap < 1 or (calibration_size and (calibration_overlap or 0) < 1):
        raise ValueError("Each item needs at least one answer.")
    calibration = calibration_items(items, size=calibration_size, seed=seed)
    ordered = work_order(items, order=order, seed=seed, first=calibration, uncertainty=uncertainty)
    for position, item in enumerate(ordered, start=start):
        places = (calibration_overlap or overlap) if item in calibration else overlap
        step = PLACE_STEP if order in PLACE_BY_PLACE and item not in calibration else 0
        for place in range(1, places + 1):
            yield Place(item=item, place=place, rank=position + (place - 1) * step)


def disagreement(values: Mapping[str, Sequence[Any]]) -> float:
    """The share of disagreeing pairs of answers to an item, averaged over questions with two or more; 0 without any.

    >>> disagreement({"plausible": ["yes", "no"], "clear": ["yes", "yes"], "note": ["hm"]})
    0.5
    """
    shares = []
    for answers in values.values():
        pairs = len(answers) * (len(answers) - 1)
        if pairs:
            counts = Counter(repr(answer) for answer in answers)
            shares.append(1 - sum(n * (n - 1) for n in counts.values()) / pairs)
    return sum(shares) / len(shares) if shares else 0.0


def disputed_rank(rank: int, disagreement: float) -> int:
    """The rank of a free place when the answers to its item disagree so much (0 to 1), whatever it was before.

    Disputed items come before all others, the most disputed first; without dispute the first rank comes back.

    >>> disputed_rank(7, 0.5) < disputed_rank(3, 0.25) < 0 == disputed_rank(disputed_rank(0, 0.5), 0.0)
    True
    """
    return rank % DISPUTE_STEP - round(disagreement * DISPUTE_LEVELS) * DISPUTE_STEP
