"""The grid of conditions: its size, its cells, and the balance of a fraction of it."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.planning.budget import Budget, Room, Use, room
from llm.planning.grid import Factor, Grid, GridError
from llm.planning.job_text import factors_text, filter_text, persona_parts, read_factors, read_filter, read_personas
from llm.planning.orders import call_orders, count_orders
from llm.planning.personas import crossed
from materials.questions import parse_questions

CONFIG = Factor.from_json({"name": "config", "levels": ["C1", "C2", "C3"]})
BALANCE = Factor.from_json(
    {"name": "balance", "levels": [{"name": "no", "value": ""}, {"name": "yes", "value": "Be fair."}]}
)
PEOPLE = [{}, {"country": "Peru"}]
FULL = Grid(prompts=2, personas=PEOPLE, factors=(CONFIG, BALANCE), orders=2)


def test_every_combination_is_a_cell_once():
    cells = [FULL[number] for number in range(len(FULL))]
    seen = {(cell.prompt, cell.order, str(cell.persona), *cell.names.items()) for cell in cells}
    assert len(FULL) == len(seen) == 2 * 2 * 2 * 3 * 2
    assert cells[0].names == {"config": "C1", "balance": "no"}
    assert cells[-1].values == {"config": "C3", "balance": "Be fair."}
    assert [cell.number for cell in cells] == list(range(48))


def test_a_grid_of_millions_costs_nothing():
    grid = Grid(prompts=2, personas=[{"n": n} for n in range(1200)], factors=(CONFIG,), orders=2, per_item=3)
    assert len(grid) == 14_400
    assert grid[14_399].persona == {"n": 1199}


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 60), st.integers(0, 5), st.data())
def test_a_fraction_uses_every_cell_equally_often_and_never_twice_for_an_item(prompts, orders, people, seed, data):
    size = prompts * orders * people
    per_item = data.draw(st.integers(1, size))
    grid = Grid(prompts, [{"n": n} for n in range(people)], orders=orders, per_item=per_item, seed=seed)
    blocks = 2 if size < 100 else 1
    chosen = [list(grid.of_item(rank)) for rank in range(blocks * size)]
    assert all(len(set(cells)) == per_item for cells in chosen)
    assert all(first < second for cells in chosen for first, second in pairwise(cells))
    assert set(Counter(cell for cells in chosen for cell in cells).values()) == {blocks * per_item}


def test_another_seed_draws_another_fraction():
    def drawn(seed: int) -> list[list[int]]:
        grid = Grid(2, PEOPLE, (CONFIG,), per_item=2, seed=seed)
        return [list(grid.of_item(rank)) for rank in range(12)]

    assert drawn(1) == drawn(1) != drawn(2)


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 50))
def test_a_pilot_is_spread_over_items_and_cells(items, people, n):
    grid = Grid(1, [{"n": n} for n in range(people)])
    pairs = list(grid.spread(items, n))
    assert len(set(pairs)) == len(pairs) == min(n, items * people)
    per_item = Counter(rank for rank, _ in pairs)
    assert max(per_item.values()) - min(per_item.get(rank, 0) for rank in range(items)) <= 1
    assert all(0 <= rank < items and 0 <= cell < people for rank, cell in pairs)
    if n >= people:
        assert len({cell for _, cell in pairs}) == min(people, len(pairs)) or n < 2 * people


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"name": "a b", "levels": ["x"]}, "letters, digits"),
        ({"name": "prompt", "levels": ["x"]}, "Concord uses itself"),
        ({"name": "a", "levels": []}, "0 levels"),
        ({"name": "a", "levels": ["x", "x"]}, "a level twice"),
        ({"name": "a", "levels": [" "]}, "1 to 60 characters"),
        ({"name": "a", "levels": [{"value": 1}]}, "or has a name"),
        ({"levels": ["x"]}, "or has a name"),
        ("a", "or has a name"),
    ],
)
def test_a_factor_that_is_none_is_refused_with_a_sentence(data, what):
    with pytest.raises(GridError, match=what):
        Factor.from_json(data)


def test_a_grid_that_is_none_is_refused():
    with pytest.raises(GridError, match="named twice"):
        Grid(1, PEOPLE, (CONFIG, CONFIG))
    with pytest.raises(GridError, match="1 to 6 of them"):
        Grid(1, PEOPLE, (CONFIG,), per_item=7)
    with pytest.raises(GridError, match="at least one"):
        Grid(1, [])


def test_factors_and_filters_are_read_from_lines():
    (config, tone) = read_factors("config: C1 | C2\n\n tone: none = | kind = Be kind: always.")
    assert config["levels"] == [{"name": "C1", "value": "C1"}, {"name": "C2", "value": "C2"}]
    assert tone["levels"] == [{"name": "none", "value": ""}, {"name": "kind", "value": "Be kind: always."}]
    assert read_filter("relation: same | far\nsex:f") == {"relation": ["same", "far"], "sex": ["f"]}
    for text, what in {
        "config C1": "Line 1: write",
        "a: x\nb: x || y": "Line 2: write",
        "a: x\n1b: y": "Line 2: The",
    }.items():
        with pytest.raises(GridError, match=what):
            read_factors(text)
    with pytest.raises(GridError, match="Line 2: a is there twice"):
        read_filter("a: x\na: y")


def test_a_list_with_commas_is_no_single_level():
    for reader, what in ((read_factors, "level"), (read_personas, "value")):
        with pytest.raises(GridError) as caught:
            reader("tone: warm, cold")
        assert str(caught.value) == f'"warm, cold" is one {what}. Separate {what}s with |: tone: warm | cold'
    assert read_factors("place: Lima, Peru | Rome, Italy")[0]["levels"][1]["name"] == "Rome, Italy"
    assert read_factors("tone: both = warm, cold")[0]["levels"] == [{"name": "both", "value": "warm, cold"}]


@pytest.mark.parametrize(
    "text",
    [
        '[{"country": "Chile"',
        '["Chile"]',
        '[{"age": NaN}]',
        r'[{"a": "\u0000"}]',
        "[" * 100_000,
        '[{"model": "x"}]',
        "model: x",
    ],
)
def test_personas_that_cannot_be_are_refused_in_a_sentence(text):
    with pytest.raises(GridError, match=r"\.$"):
        read_personas(text)


@pytest.mark.parametrize(
    ("levels", "lines"),
    [
        (["warm", {"name": "cold", "value": ""}], "tone: warm | cold ="),
        (["warm, cold"], "tone: warm, cold = warm, cold"),
        ([{"name": "plain", "value": "In\ntwo lines"}], None),
        (["a|b", "c"], None),
        ([1, 2], None),
    ],
)
def test_factors_are_written_as_they_are_read(levels, lines):
    factors = [Factor.from_json({"name": "tone", "levels": levels}).to_json()]
    text = factors_text(factors)
    assert read_factors(text) == factors
    assert text == lines if lines else text.startswith("[")


@pytest.mark.parametrize("wanted", [{}, {"country": ["Brazil", "India"]}, {"a: b": ["x|y"], "c": [""]}])
def test_a_filter_is_written_as_it_is_read(wanted):
    assert read_filter(filter_text(wanted)) == wanted


BOXES = {"country": ["Chile", "Peru"], "gender": ["female", "male"]}


@pytest.mark.parametrize(
    ("people", "ticked", "text"),
    [
        ([], {}, ""),
        (
            crossed({"country": ["Chile", "Peru"], "religion": ["none", "any"]}),
            {"country": ["Chile", "Peru"]},
            "religion: none | any",
        ),
        (crossed({"country": ["Peru", "Chile"]}), {}, "country: Peru | Chile"),
        (crossed({"country": ["Peru", "Japan"], "gender": ["male"]}), {"gender": ["male"]}, "country: Peru | Japan"),
        ([{"country": "Chile"}, {"country": "Peru", "gender": "male"}], {}, None),
        ([{"age": 30}], {}, None),
    ],
)
def test_personas_are_ticked_or_written_as_they_were_planned(people, ticked, text):
    for alone in (True, False) if people else (True,):
        found = persona_parts([{}, *people] if alone else people, BOXES)
        assert found[0] == alone
        written = read_personas(found[2])
        assert (written if isinstance(written, list) else crossed(found[1] | written)) == people
        if text is not None:
            assert found[1:] == (ticked, text)


QUESTIONS = parse_questions(
    [
        {"kind": "pairwise", "code": "better", "text": "?", "first_field": "a", "second_field": "b", "allow_tie": True},
        {
            "kind": "choice",
            "code": "c",
            "text": "?",
            "randomise": True,
            "options": [{"code": x, "text": x} for x in "xyz"],
        },
        {"kind": "choice", "code": "d", "text": "?", "options": [{"code": x, "text": x} for x in "pq"]},
    ]
).questions


def test_orders_by_rule():
    def variant(rule: str, number: int) -> dict[str, list[str]]:
        return call_orders(QUESTIONS, rule, number, key="k")

    assert [count_orders(QUESTIONS, rule) for rule in ("drawn", "written", "both", "rotated")] == [1, 1, 2, 3]
    assert variant("written", 0) == {}
    assert variant("both", 0) == {"better": ["first", "second", "tie"], "c": ["x", "y", "z"]}
    assert variant("both", 1) == {"better": ["second", "first", "tie"], "c": ["z", "y", "x"]}
    assert [variant("rotated", number)["c"][0] for number in range(3)] == ["x", "y", "z"]
    assert variant("drawn", 0) == call_orders(QUESTIONS, "drawn", 0, key="k")
    assert count_orders(QUESTIONS[2:], "both") == 1  # its options keep their places


def price(prompt_tokens: int, completion_tokens: int) -> Decimal:
    return Decimal(prompt_tokens + 2 * completion_tokens) / 100


def use(**changes: int) -> Use:
    start = {
        "calls": 0,
        "in_flight": 0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "prompt_each": 80,
        "completion_each": 10,
    }
    return Use(**start | changes)


def test_a_budget_leaves_room_for_what_is_in_flight():
    assert room(Budget(), use(), price).calls == float("inf")
    assert room(Budget(calls=5), use(calls=5, in_flight=2), price) == Room(0, "5 calls")
    assert room(Budget(tokens=1000), use(prompt_tokens=500, completion_tokens=50, in_flight=2), price).calls == 3
    assert room(Budget(tokens=1000), use(prompt_tokens=990), price) == Room(0, "1,000 tokens")
    assert room(Budget(price=Decimal(10)), use(in_flight=1), price) == Room(9, "a price of 10")
    assert room(Budget(calls=3, price=Decimal(10)), use(), price).limit == "3 calls"
    assert room(Budget(price=Decimal(1)), use(), lambda a, b: None).calls == float("inf")
