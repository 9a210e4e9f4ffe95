"""Who meets whom: a scenario expanded into 3 country relations x 16 demographic combinations (PACT, section 3).

The receiver's country is the scenario's. The actor comes from the same country, from the nearest other country of the
pool (close), or from one drawn by seed among those more than 4,200 km away (far; the farthest where none is). The paper
gives no rule for these two; its counts force one country each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal

from protocols.pact.countries import CLOSE_KM, RELATIONS, Country, Relation, distance_km, find
from protocols.pact.draws import draw_index

Age = Literal["younger", "older"]
Gender = Literal["female", "male"]
AGES: tuple[Age, ...] = ("younger", "older")
GENDERS: tuple[Gender, ...] = ("female", "male")

_DEMOGRAPHICS = tuple(product(AGES, GENDERS, AGES, GENDERS))
DYADS_PER_SCENARIO = len(RELATIONS) * len(_DEMOGRAPHICS)


@dataclass(frozen=True)
class Dyad:
    """One scenario with the countries, age groups and genders of its two people filled in."""

    scenario_id: str
    relation: Relation
    actor_country: str
    receiver_country: str
    actor_age: Age
    actor_gender: Gender
    receiver_age: Age
    receiver_gender: Gender

    @property
    def key(self) -> str:
        """Unique among the dyads of one set of scenarios."""
        actor, receiver = f"{self.actor_age}-{self.actor_gender}", f"{self.receiver_age}-{self.receiver_gender}"
        return f"{self.scenario_id}/{self.relation}/{actor}/{receiver}"


def count_dyads(n_scenarios: int) -> int:
    """How many dyads this many usable scenarios give, without making them."""
    return n_scenarios * DYADS_PER_SCENARIO


def dyad_at(scenarios: Sequence[Mapping[str, Any]], index: int, *, pool: Sequence[Country], seed: int) -> Dyad:
    """The dyad with this index, 0 to count_dyads(len(scenarios)) - 1; all dyads of a scenario follow each other.

    A scenario needs the keys `external_id` and `receiver_country`. The pool holds the countries an actor may come from.
    Raises IndexError, UnknownCountryError, or ValueError when the pool has no other country.
    """
    if not 0 <= index < count_dyads(len(scenarios)):
        raise IndexError(f"There is no dyad {index}: these scenarios give {count_dyads(len(scenarios))}.")
    position, cell = divmod(index, DYADS_PER_SCENARIO)
    return next(islice(_dyads_of(scenarios[position], tuple(pool), seed), cell, None))


def expand_dyads(scenarios: Iterable[Mapping[str, Any]], *, pool: Sequence[Country], seed: int) -> Iterator[Dyad]:
    """Every dyad, one at a time, in the order of :func:`dyad_at`."""
    countries = tuple(pool)
    for scenario in scenarios:
        yield from _dyads_of(scenario, countries, seed)


def actor_country(
    receiver: Country, relation: Relation, *, pool: Sequence[Country], seed: int, scenario_id: str
) -> Country:
    """The actor's country for one relation. Close is the nearest even where that is more than 4,200 km away.

    Raises ValueError when the pool has no country besides the receiver's.
    """
    if relation == "same":
        return receiver
    others = _by_distance(receiver, tuple(pool))
    if not others:
        raise ValueError(f"The pool has no country besides {receiver.name}; add at least one for close and far actors.")
    if relation == "close":
        return others[0][1]
    far = [country for km, country in others if km > CLOSE_KM] or [others[-1][1]]
    return far[draw_index(len(far), seed=seed, key=f"far/{scenario_id}")]


def _dyads_of(scenario: Mapping[str, Any], pool: tuple[Country, ...], seed: int) -> Iterator[Dyad]:
    scenario_id, receiver = str(scenario["external_id"]), find(scenario["receiver_country"])
    for relation in RELATIONS:
        actor = actor_country(receiver, relation, pool=pool, seed=seed, scenario_id=scenario_id)
        for actor_age, actor_gender, receiver_age, receiver_gender in _DEMOGRAPHICS:
            yield Dyad(
                scenario_id=scenario_id,
                relation=relation,
                actor_country=actor.name,
                receiver_country=receiver.name,
                actor_age=actor_age,
                actor_gender=actor_gender,
                receiver_age=receiver_age,
                receiver_gender=receiver_gender,
            )


@lru_cache(maxsize=1024)
def _by_distance(receiver: Country, pool: tuple[Country, ...]) -> tuple[tuple[float, Country], ...]:
    """The pool without the receiver, nearest first; the order of the pool does not matter."""
    distances = ((distance_km(receiver, other), other) for other in set(pool) if other != receiver)
    return tuple(sorted(distances, key=lambda pair: (pair[0], pair[1].name)))
