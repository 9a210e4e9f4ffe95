"""Prompt cases: dyads crossed with configurations and prompt conditions."""

import os
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from protocols.pact.cases import (
    CONFIGS,
    DEMOGRAPHIC_CONDITIONS,
    PROMPT_CONDITIONS,
    Grid,
    count_cases,
    expand_cases,
    personas,
    sample_cases,
)
from protocols.pact.countries import all_countries
from protocols.pact.dyads import count_dyads, expand_dyads
from protocols.pact.scenarios import all_scenarios

POOL = all_countries()
SCENARIOS = all_scenarios()


def dyads(n: int = 10):
    return list(islice(expand_dyads(SCENARIOS, pool=POOL, seed=1), n))


def test_counts_of_the_published_scale():
    n = count_dyads(2_633 + 4_007)
    one_demo_one_prompt = Grid(demographic_conditions=("full_demo",), prompt_conditions=("balance",))
    assert count_cases(n, one_demo_one_prompt) == 956_160
    assert count_cases(n, Grid(demographic_conditions=("full_demo",))) == 1_912_320
    assert count_cases(n) == 7_649_280


def test_expansion_has_as_many_as_counted_and_crosses_everything():
    cases = list(expand_cases(dyads(), seed=1))
    assert len(cases) == count_cases(10) == 240
    assert len({case.key for case in cases}) == 240
    cells = Counter((case.config, case.demographic_condition, case.prompt_condition) for case in cases)
    assert len(cells) == len(CONFIGS) * len(DEMOGRAPHIC_CONDITIONS) * len(PROMPT_CONDITIONS) == 24
    assert set(cells.values()) == {10}


def test_configurations_are_those_of_the_paper():
    sides = {name: (config.actor, config.receiver) for name, config in CONFIGS.items()}
    assert sides == {
        "C1": ("preference", "culture"),
        "C2": ("culture", "preference"),
        "C3": ("preference", "preference"),
    }


def test_half_of_the_orders_are_either_way():
    orders = Counter(case.option_order for case in expand_cases(dyads(1_000), seed=5))
    assert sum(orders.values()) == 24_000
    # Binomial(24,000, 1/2) has a standard deviation of 77; five of them leave 1 false alarm in 1.7 million.
    assert abs(orders["culture", "preference"] - 12_000) < 5 * 77.5


def test_order_depends_on_seed_and_case_alone():
    first = {case.key: case.option_order for case in expand_cases(dyads(), seed=1)}
    backwards = {case.key: case.option_order for case in expand_cases(dyads()[::-1], seed=1)}
    other_seed = {case.key: case.option_order for case in expand_cases(dyads(), seed=2)}
    assert first == backwards
    assert 0.3 < sum(first[key] != other_seed[key] for key in first) / len(first) < 0.7


def test_order_and_sample_are_the_same_in_a_process_with_another_hash_seed():
    code = (
        "from protocols.pact.cases import sample_cases\n"
        "from protocols.pact.countries import all_countries\n"
        "from protocols.pact.scenarios import all_scenarios\n"
        "for case in sample_cases(all_scenarios(), 20, pool=all_countries(), seed=9):\n"
        "    print(case.key, case.dyad.actor_country, *case.option_order)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 20


def test_expansion_is_lazy():
    def endless():
        while True:
            yield from dyads(1)

    assert len(list(islice(expand_cases(endless(), seed=1), 50))) == 50


def test_sample_draws_different_cases_of_the_expansion_in_its_order():
    everything = list(expand_cases(expand_dyads(SCENARIOS[:2], pool=POOL, seed=4), seed=4))
    sample = list(sample_cases(SCENARIOS[:2], 100, pool=POOL, seed=4))
    positions = [everything.index(case) for case in sample]
    assert len(sample) == 100
    assert positions == sorted(set(positions))
    assert sample == list(sample_cases(SCENARIOS[:2], 100, pool=POOL, seed=4))
    assert sample != list(sample_cases(SCENARIOS[:2], 100, pool=POOL, seed=5))


def test_whole_sample_is_the_expansion():
    grid = Grid(configs=("C2",), prompt_conditions=("no_balance",))
    everything = list(expand_cases(expand_dyads(SCENARIOS[:1], pool=POOL, seed=4), seed=4, grid=grid))
    assert list(sample_cases(SCENARIOS[:1], len(everything), pool=POOL, seed=4, grid=grid)) == everything


@pytest.mark.parametrize("n", [-1, 48 * 24 + 1])
def test_sample_of_an_impossible_size_is_an_error(n):
    with pytest.raises(ValueError, match="ask for 0 to 1152"):
        sample_cases(SCENARIOS[:1], n, pool=POOL, seed=1)


@pytest.mark.parametrize("configs", [(), ("C4",), ("C1", "C1")])
def test_unknown_missing_or_repeated_levels_are_an_error(configs):
    with pytest.raises(ValueError, match="configs: give one or more of C1, C2, C3"):
        Grid(configs=configs)


def test_personas_are_crossed():
    five = ["Brazil", "India", "South Africa", "United Kingdom", "United States"]
    made = personas(five)
    assert len(made) == len({tuple(persona.values()) for persona in made}) == 20
    assert made[0] == {"country": "Brazil", "age_group": "younger", "gender": "female"}
    assert personas(["India"], ages=["older"], genders=["male"]) == [
        {"country": "India", "age_group": "older", "gender": "male"}
    ]
