"""Cases as a model job asks them: a dyad's two countries are fields of an item, everything else is a factor of the job.

The job makes a case from its number, so any number of them costs nothing before it is asked. Pure code.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from protocols.pact.cases import CONFIGS, DEMOGRAPHIC_CONDITIONS, Grid
from protocols.pact.countries import RELATIONS, Country, find
from protocols.pact.draws import draw_index
from protocols.pact.dyads import AGES, GENDERS, actor_country

PEOPLE = {"actor_age": AGES, "actor_gender": GENDERS, "receiver_age": AGES, "receiver_gender": GENDERS}
DEMOGRAPHICS = len(AGES) ** 2 * len(GENDERS) ** 2


def pairs_of(
    scenario: Mapping[str, Any], scenario_id: str, *, pool: Sequence[Country], seed: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The scenario with an actor's country for each relation, and an id for each; as `dyads.actor_country`."""
    receiver = find(scenario["receiver_country"])
    for relation in RELATIONS:
        actor = actor_country(receiver, relation, pool=pool, seed=seed, scenario_id=scenario_id)
        yield (
            f"{scenario_id}/{relation}",
            {
                **scenario,
                "scenario": scenario_id,
                "relation": relation,
                "actor_country": actor.name,
                "actor_region": actor.region,
                "receiver_region": receiver.region,
            },
        )


def factors(grid: Grid, prompts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The grid's factors and the two people's ages and genders, for a job. `prompts`: a system prompt by condition."""
    return [
        *({"name": name, "levels": list(levels)} for name, levels in PEOPLE.items()),
        {
            "name": "config",
            "levels": [
                {"name": name, "value": {"actor": CONFIGS[name].actor, "receiver": CONFIGS[name].receiver}}
                for name in grid.configs
            ],
        },
        {
            "name": "demographic_condition",
            "levels": [
                {"name": name, "value": list(DEMOGRAPHIC_CONDITIONS[name])} for name in grid.demographic_conditions
            ],
        },
        {
            "name": "prompt_condition",
            "levels": [{"name": name, "value": prompts[name]} for name in grid.prompt_conditions],
        },
    ]


def study_items(
    scenarios: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    own: Sequence[str],
    close: Sequence[str],
    most: int,
    seed: int,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """At most so many scenarios for the study of people, each with a receiver's age and gender, and their ids.

    Countries of participants, countries close to these and all others get a third each as far as they have scenarios;
    within each third the countries take turns. Receivers' ages and genders are balanced within each third.
    """

    def rank(entry: tuple[str, Mapping[str, Any]]) -> int:
        return draw_index(2**62, seed=seed, key=f"study/{entry[0]}")

    groups = [set(own), set(close) - set(own)]
    thirds: list[list[tuple[str, Mapping[str, Any]]]] = [[], [], []]
    for entry in sorted(scenarios, key=rank):
        place = next((n for n, group in enumerate(groups) if entry[1]["receiver_country"] in group), 2)
        thirds[place].append(entry)
    chosen = _balanced([_by_turns(third) for third in thirds], most)
    receivers = list(product(AGES, GENDERS))
    for third in chosen:
        for n, (scenario_id, content) in enumerate(third):
            age, gender = receivers[n % len(receivers)]
            yield scenario_id, {**content, "receiver_age": age, "receiver_gender": gender}


def _by_turns(entries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
    """In an order in which the countries take turns."""
    seen: dict[str, int] = {}
    turns = []
    for n, entry in enumerate(entries):
        country = entry[1]["receiver_country"]
        turns.append((seen.get(country, 0), n, entry))
        seen[country] = seen.get(country, 0) + 1
    return [entry for _, _, entry in sorted(turns, key=lambda turn: turn[:2])]


def _balanced(groups: Sequence[list[Any]], most: int) -> list[list[Any]]:
    """The first of each group, equally many where there are enough, `most` in all."""
    counts = [0] * len(groups)
    for _ in range(min(most, sum(map(len, groups)))):
        room = [n for n, group in enumerate(groups) if counts[n] < len(group)]
        counts[min(room, key=lambda n: counts[n])] += 1
    return [group[:count] for group, count in zip(groups, counts, strict=True)]
