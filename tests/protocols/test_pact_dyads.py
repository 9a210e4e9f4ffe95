"""Dyads: who meets whom in a scenario."""

from collections import Counter
from itertools import islice

import pytest

from protocols.pact.countries import UnknownCountryError, all_countries, distance_km, find, relation
from protocols.pact.dyads import (
    DYADS_PER_SCENARIO,
    actor_country,
    count_dyads,
    dyad_at,
    expand_dyads,
)
from protocols.pact.scenarios import all_scenarios

POOL = all_countries()
SCENARIOS = all_scenarios()
BRAZIL = {"external_id": "s1", "receiver_country": "Brazil"}


def test_published_counts():
    assert DYADS_PER_SCENARIO == 48
    assert count_dyads(2_633) == 126_384
    assert count_dyads(4_007) == 192_336
    assert count_dyads(2_633 + 4_007) == 318_720


def test_expansion_has_as_many_as_counted_and_no_two_alike():
    dyads = list(expand_dyads(SCENARIOS, pool=POOL, seed=1))
    assert len(dyads) == count_dyads(len(SCENARIOS)) == 2_304
    assert len({dyad.key for dyad in dyads}) == len(dyads)


def test_one_scenario_is_crossed_completely_with_one_actor_country_per_relation():
    dyads = list(expand_dyads([BRAZIL], pool=POOL, seed=1))
    people = Counter((d.actor_age, d.actor_gender, d.receiver_age, d.receiver_gender) for d in dyads)
    assert len(people) == 16
    assert set(people.values()) == {3}
    countries = {(dyad.relation, dyad.actor_country) for dyad in dyads}
    assert sorted(name for name, _ in countries) == ["close", "far", "same"]
    assert {dyad.receiver_country for dyad in dyads} == {"Brazil"}


def test_relation_of_every_dyad_is_the_relation_of_its_countries():
    for dyad in expand_dyads(SCENARIOS, pool=POOL, seed=7):
        assert dyad.relation == relation(dyad.actor_country, dyad.receiver_country)


@pytest.mark.parametrize(
    ("receiver", "nearest"), [("United Kingdom", "Ireland"), ("India", "Nepal"), ("South Africa", "Zimbabwe")]
)
def test_close_is_the_nearest_of_the_pool(receiver, nearest):
    close = actor_country(find(receiver), "close", pool=POOL, seed=1, scenario_id="s")
    assert close.name == nearest
    assert close == min((c for c in POOL if c.name != receiver), key=lambda c: distance_km(c, find(receiver)))


def test_far_is_drawn_from_all_far_countries_by_seed_and_scenario():
    brazil = find("Brazil")
    drawn = {actor_country(brazil, "far", pool=POOL, seed=1, scenario_id=str(n)).name for n in range(2_000)}
    assert drawn == {country.name for country in POOL if distance_km(country, brazil) > 4200}
    by_seed = {actor_country(brazil, "far", pool=POOL, seed=seed, scenario_id="s").name for seed in range(50)}
    assert len(by_seed) > 20


def test_far_is_the_farthest_where_the_whole_pool_is_close():
    pool = [find(code) for code in ("IE", "FR", "PL")]
    assert actor_country(find("GB"), "far", pool=pool, seed=1, scenario_id="s").name == "Poland"


def test_draw_is_the_same_in_every_process_and_for_every_order_of_the_pool():
    forwards = list(expand_dyads([BRAZIL], pool=POOL, seed=20))
    assert forwards == list(expand_dyads([BRAZIL], pool=POOL[::-1], seed=20))
    assert forwards[-1].actor_country == "United Kingdom"


def test_index_gives_the_dyad_of_the_expansion():
    dyads = list(expand_dyads(SCENARIOS[:3], pool=POOL, seed=3))
    assert [dyad_at(SCENARIOS[:3], index, pool=POOL, seed=3) for index in range(len(dyads))] == dyads


@pytest.mark.parametrize("index", [-1, 48])
def test_index_outside_is_an_error(index):
    with pytest.raises(IndexError, match="these scenarios give 48"):
        dyad_at([BRAZIL], index, pool=POOL, seed=1)


def test_expansion_is_lazy():
    def endless():
        while True:
            yield BRAZIL

    assert len(list(islice(expand_dyads(endless(), pool=POOL, seed=1), 100))) == 100


def test_pool_without_another_country_is_an_error():
    with pytest.raises(ValueError, match="no country besides Brazil; add at least one"):
        list(expand_dyads([BRAZIL], pool=[find("BR")], seed=1))


def test_unknown_receiver_country_is_an_error():
    with pytest.raises(UnknownCountryError, match="Atlantis"):
        list(expand_dyads([{"external_id": "s", "receiver_country": "Atlantis"}], pool=POOL, seed=1))
