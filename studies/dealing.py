"""Who gets what: everything of a place follows from the study's seed, the stratum and the place's number.

`seed` is a text that stands for the study and the stratum; `place` counts from 1 within the stratum. Places are dealt
in blocks, each with orders of its own.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import gcd, lcm

from studies.design import DesignError

SHORTEST_BLOCK = 60  # places over which items are used evenly; a new block starts anew
Levels = tuple[str, ...]  # of one item: its level of each thing that is balanced
Hand = tuple[tuple[int, int], ...]  # a person's items with the condition of each


def deal_cell(n_cells: int, *, place: int, seed: str) -> int:
    """The place's cell, 0 to n_cells - 1: of places 1 to n_cells each has another, and so on in blocks."""
    block, position = divmod(place - 1, n_cells)
    return random.Random(f"{seed}/cell/{block}").sample(range(n_cells), n_cells)[position]


def deal_items(levels: Sequence[Levels], *, items_each: int, place: int, seed: str, conditions: int = 1) -> Hand:
    """The place's items as (index into `levels`, condition from 0), in the order to show them.

    Nobody gets an item twice. Within a person each level is there equally often or once more, as far as there are
    items; where not all of it is possible, what is balanced first counts most. Of items with the same levels, whichever
    was used least comes first, so that within a block no two differ by more than one use.

    The conditions are a Latin square over items and places when everybody gets all items: of every `conditions` places
    in a row each item is seen once in each. When people get a part of them it is an incomplete one: within a person the
    conditions differ by at most one, and for each item they are kept as even as that allows.

    Raises DesignError when there are fewer than `items_each` items.
    """
    if not 1 <= items_each <= len(levels):
        raise DesignError(
            f"There are {len(levels)} items, and each person needs {items_each}; add items or ask for fewer."
        )
    # The shortest run of places in which every item can be used equally often, and be seen so in every condition.
    step = len(levels) // gcd(len(levels), items_each)
    if step < SHORTEST_BLOCK:
        step = lcm(step, conditions)
    length = step * -(-SHORTEST_BLOCK // step)
    block, position = divmod(place - 1, length)
    hand = list(_deal_block(tuple(levels), items_each, length, f"{seed}/{block}", conditions)[position])
    random.Random(f"{seed}/order/{place}").shuffle(hand)
    return tuple(hand)


@lru_cache(maxsize=256)
def _deal_block(levels: tuple[Levels, ...], items_each: int, n_places: int, seed: str, conditions: int) -> list[Hand]:
    rng = random.Random(seed)
    decks: dict[Levels, list[int]] = {}
    for index, own in enumerate(levels):
        decks.setdefault(own, []).append(index)
    for deck in decks.values():
        rng.shuffle(deck)
    used: Counter[Levels] = Counter()
    seen: Counter[tuple[int, int]] = Counter()
    hands = []
    for _ in range(n_places):
        items = sorted(_take(decks, used, items_each, rng))
        hands.append(tuple(zip(items, _conditions(items, conditions, seen, rng), strict=True)))
        seen.update(hands[-1])
    return hands


def _take(decks: Mapping[Levels, list[int]], used: Counter[Levels], n: int, rng: random.Random) -> list[int]:
    """The next n items off the decks, which come back below them; `used` counts what each deck gave."""
    taken: list[int] = []
    mine: Counter[tuple[int, str]] = Counter()
    from_deck: Counter[Levels] = Counter()
    while len(taken) < n:
        best = min(
            (levels for levels, deck in decks.items() if from_deck[levels] < len(deck)),
            key=lambda levels: (
                *(mine[level] for level in enumerate(levels)),
                from_deck[levels],
                used[levels] / len(decks[levels]),
            ),
        )
        deck = decks[best]
        taken.append(deck[used[best] % len(deck)])
        mine.update(enumerate(best))
        from_deck[best] += 1
        used[best] += 1
        if used[best] % len(deck) == 0:  # all of it was used once more: another order, what this person has at the end
            rng.shuffle(deck)
            deck.sort(key=lambda index: index in taken)
    return taken


def _conditions(items: Sequence[int], n: int, seen: Mapping[tuple[int, int], int], rng: random.Random) -> list[int]:
    """A row of the square: conditions in turn from the start at which the items were seen least; then any two items
    change theirs where both together were seen less often in the other's.
    """
    rows = [[(rank + start) % n for rank in range(len(items))] for start in rng.sample(range(n), n)]
    dealt = min(rows, key=lambda row: sum(seen[pair] for pair in zip(items, row, strict=True)))
    if n == 1:
        return dealt
    for one, other in combinations(range(len(items)), 2):
        as_dealt = seen[items[one], dealt[one]] + seen[items[other], dealt[other]]
        if seen[items[one], dealt[other]] + seen[items[other], dealt[one]] < as_dealt:
            dealt[one], dealt[other] = dealt[other], dealt[one]
    return dealt


def deal_checks(n_checks: int, *, items_each: int, place: int, seed: str) -> dict[int, int]:
    """By how many items come before it (1 to items_each - 1), which attention check stands there."""
    after = random.Random(f"{seed}/attention/{place}").sample(range(1, items_each), n_checks)
    return {items: check for check, items in enumerate(after)}


def deal_pages(
    pages: Sequence[Sequence[str]], asked_on: Mapping[str, int], *, items_each: int, place: int, seed: str
) -> list[list[list[str]]]:
    """For each item of the person, in the order they are shown, the codes that are asked on each of its pages.

    A question of `asked_on` is asked about so many items only, drawn among the person's; several such questions share
    the draw, so that everybody has equally many pages. A page on which nothing is asked is empty.
    """
    drawn = random.Random(f"{seed}/asked/{place}").sample(range(items_each), items_each)
    return [
        [[code for code in page if drawn[item] < asked_on.get(code, items_each)] for page in pages]
        for item in range(items_each)
    ]
