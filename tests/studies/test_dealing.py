from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.dealing import SHORTEST_BLOCK, deal_cell, deal_checks, deal_items, deal_pages
from studies.design import DesignError

FEW = settings(deadline=None, max_examples=30)
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=4)


def hands(levels, items_each, n, seed="1", conditions=1):
    return [
        deal_items(levels, items_each=items_each, place=place, seed=seed, conditions=conditions)
        for place in range(1, n + 1)
    ]


def items_of(hand):
    return [item for item, _ in hand]


def spread(counts):
    return max(counts) - min(counts)


@FEW
@given(n_items=st.integers(1, 40), data=st.data(), seed=st.text(max_size=3))
def test_without_balance_every_item_is_used_equally_often_or_once_more_after_any_number_of_places(n_items, data, seed):
    items_each = data.draw(st.integers(1, n_items))
    counts = Counter(dict.fromkeys(range(n_items), 0))
    for hand in hands([()] * n_items, items_each, data.draw(st.integers(1, 90)), seed):
        assert len(set(items_of(hand))) == len(hand) == items_each
        counts.update(items_of(hand))
        assert spread(counts.values()) <= 1


@FEW
@given(sizes=SIZES, data=st.data())
def test_levels_are_even_within_a_person_as_far_as_there_are_items(sizes, data):
    levels = [(str(level),) for level, size in enumerate(sizes) for _ in range(size)]
    items_each = data.draw(st.integers(1, len(levels)))
    used = Counter(dict.fromkeys(range(len(levels)), 0))
    for hand in hands(levels, items_each, 20):
        got = Counter(int(levels[item][0]) for item in items_of(hand))
        not_exhausted = [got[level] for level, size in enumerate(sizes) if got[level] < size]
        assert not not_exhausted or max(got.values()) <= min(not_exhausted) + 1
        used.update(items_of(hand))
    for level in range(len(sizes)):
        assert spread([used[item] for item, own in enumerate(levels) if own == (str(level),)]) <= 1


@FEW
@given(data=st.data(), seed=st.text(max_size=3))
def test_two_and_three_things_are_even_at_once_where_there_are_items_of_every_combination(data, seed):
    shape = data.draw(st.lists(st.integers(2, 3), min_size=2, max_size=3))
    cells = [()]
    for n in shape:
        cells = [(*cell, str(level)) for cell in cells for level in range(n)]
    items_each = data.draw(st.integers(1, len(cells)))
    for hand in hands(cells * 3, items_each, 12, seed):
        own = [(cells * 3)[item] for item in items_of(hand)]
        for position, n in enumerate(shape[:2]):
            counts = Counter(levels[position] for levels in own)
            assert spread([counts[str(level)] for level in range(n)]) <= 1


def test_the_model_study_is_even_over_relation_and_receivers_and_uses_all_items():
    """7 of 63 items for 40 people of one country, to whom few items are same or close."""
    relations = ["same"] * 6 + ["close"] * 9 + ["far"] * 48
    levels = [(relation, ("ym", "yf", "om", "of")[index % 4]) for index, relation in enumerate(relations)]
    used = Counter()
    for hand in hands(levels, 7, 40):
        own = [levels[item] for item in items_of(hand)]
        assert spread(Counter(relation for relation, _ in own).values()) <= 1
        assert spread(Counter(group for _, group in own).values()) <= 1
        used.update(items_of(hand))
    assert set(used) == set(range(63))


@FEW
@given(n_items=st.integers(1, 12), conditions=st.integers(2, 5), seed=st.text(max_size=3))
def test_with_all_items_the_conditions_are_a_latin_square(n_items, conditions, seed):
    dealt = hands([()] * n_items, n_items, 2 * conditions, seed, conditions)
    for block in (dealt[:conditions], dealt[conditions:]):
        seen = Counter(pair for hand in block for pair in hand)
        assert seen == dict.fromkeys(((item, level) for item in range(n_items) for level in range(conditions)), 1)


@FEW
@given(n_items=st.integers(4, 20), conditions=st.integers(2, 4), data=st.data())
def test_with_some_items_conditions_are_even_within_each_person_and_nearly_for_each_item(n_items, conditions, data):
    items_each = data.draw(st.integers(conditions, n_items))
    dealt = hands([()] * n_items, items_each, SHORTEST_BLOCK, conditions=conditions)
    seen = Counter(pair for hand in dealt for pair in hand)
    for hand in dealt:
        counts = Counter(condition for _, condition in hand)
        assert spread([counts[level] for level in range(conditions)]) <= 1
    gaps = [spread([seen[item, level] for level in range(conditions)]) for item in range(n_items)]
    assert sum(gaps) / len(gaps) <= 2


def test_the_seed_decides_and_blocks_differ():
    levels = [()] * 12
    assert hands(levels, 4, 9) == hands(levels, 4, 9)
    assert hands(levels, 4, 9) != hands(levels, 4, 9, seed="2")
    together = [{frozenset(items_of(hand)) for hand in hands(levels, 4, 9)[start : start + 3]} for start in (0, 3, 6)]
    assert all(one != other for one, other in pairwise(together))


def test_too_few_items_is_a_sentence():
    with pytest.raises(DesignError, match="There are 3 items, and each person needs 4"):
        deal_items([()] * 3, items_each=4, place=1, seed="")


@FEW
@given(n_cells=st.integers(1, 12), n=st.integers(1, 60), seed=st.text(max_size=3))
def test_cells_are_even_after_any_number_of_places(n_cells, n, seed):
    counts = Counter(deal_cell(n_cells, place=place, seed=seed) for place in range(1, n + 1))
    assert spread([counts[cell] for cell in range(n_cells)]) <= 1


@FEW
@given(items_each=st.integers(2, 40), data=st.data(), place=st.integers(1, 500))
def test_attention_checks_are_neither_first_nor_last_nor_together(items_each, data, place):
    n_checks = data.draw(st.integers(0, items_each - 1))
    checks = deal_checks(n_checks, items_each=items_each, place=place, seed="3")
    assert sorted(checks.values()) == list(range(n_checks))
    assert all(1 <= after <= items_each - 1 for after in checks)


def test_an_attention_check_takes_every_place():
    places = {after for place in range(1, 200) for after in deal_checks(1, items_each=5, place=place, seed="3")}
    assert places == {1, 2, 3, 4}


@FEW
@given(items_each=st.integers(2, 20), data=st.data(), place=st.integers(1, 100))
def test_a_question_is_asked_on_so_many_items_and_everybody_has_equally_many_pages(items_each, data, place):
    on = {"why": data.draw(st.integers(1, items_each)), "how": data.draw(st.integers(1, items_each))}
    dealt = deal_pages([["a", "b"], ["why", "how"]], on, items_each=items_each, place=place, seed="1")
    assert len(dealt) == items_each
    assert all(pages[0] == ["a", "b"] for pages in dealt)
    for code, n in on.items():
        assert sum(code in pages[1] for pages in dealt) == n
    assert sum(bool(pages[1]) for pages in dealt) == max(on.values())


def test_which_items_a_question_is_asked_on_differs_between_places():
    asked = {
        tuple(bool(pages[0]) for pages in deal_pages([["why"]], {"why": 1}, items_each=4, place=place, seed="1"))
        for place in range(1, 60)
    }
    assert len(asked) == 4
