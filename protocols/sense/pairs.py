"""Pairs of models whose responses to a query are compared."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, lcm

PER_TOPIC = 125


@dataclass(frozen=True, slots=True)
class Pair:
    query: str
    first: str
    second: str

    @property
    def id(self) -> str:
        return f"{self.query}/{self.first}/{self.second}"


def n_pairs(n_queries: int, n_models: int) -> int:
    """How many pairs there are.

    >>> n_pairs(400, 12)
    26400
    """
    return n_queries * comb(n_models, 2)


def all_pairs(queries: Sequence[str], models: Sequence[str]) -> Iterator[Pair]:
    """Every two models on every query."""
    return (Pair(query, *two) for query in queries for two in combinations(models, 2))


def drawn_pairs(
    by_topic: Mapping[str, Sequence[str]], models: Sequence[str], *, per_topic: int, seed: int
) -> list[Pair]:
    """So many different pairs of each topic, or all there are, drawn by the seed.

    In a topic every query and every two models are used equally often, but for one.

    >>> drawn = drawn_pairs({"math": ["q1", "q2", "q3"]}, ["a", "b", "c", "d"], per_topic=9, seed=1)
    >>> [[pair.query for pair in drawn].count(query) for query in ("q1", "q2", "q3")]
    [3, 3, 3]
    """
    found = []
    for topic, queries in sorted(by_topic.items()):
        rng = random.Random(f"{seed}/{topic}")
        shuffled = rng.sample(queries, len(queries))
        twos = rng.sample(list(combinations(models, 2)), comb(len(models), 2))
        if not shuffled or not twos:
            continue
        # After a whole round of both the same pairs would come again, so one of them moves on by a place.
        round_length = lcm(len(shuffled), len(twos))
        for number in range(min(per_topic, len(shuffled) * len(twos))):
            query = shuffled[(number + number // round_length) % len(shuffled)]
            found.append(Pair(query, *twos[number % len(twos)]))
    return found
