from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation import (
    DISPUTE_LEVELS,
    FIXED,
    LEAST_LABELLED,
    MODEL_UNCERTAIN,
    PLACE_STEP,
    RANDOM,
    allocate,
    calibration_items,
    disagreement,
    disputed_rank,
    work_order,
)

ITEMS = st.lists(st.integers(1, 10_000), unique=True, max_size=60)


ORDERS = st.sampled_from([FIXED, RANDOM, LEAST_LABELLED, MODEL_UNCERTAIN])


@given(ITEMS, st.tuples(st.integers(1, 5), st.integers(0, 20), st.integers(1, 6)), st.integers(), ORDERS)
def test_every_item_gets_its_places(items, numbers, seed, order):
    overlap, size, calibration_overlap = numbers
    places = list(
        allocate(
            items,
            overlap=overlap,
            order=order,
            seed=seed,
            calibration_size=size,
            calibration_overlap=calibration_overlap,
        )
    )
    calibration = calibration_items(items, size=size, seed=seed)
    counts = Counter(place.item for place in places)
    assert set(counts) == set(items)
    assert all(counts[item] == (calibration_overlap if item in calibration else overlap) for item in items)
    assert len({(place.item, place.place) for place in places}) == len(places)
    ranks = {place.item: place.rank for place in places if place.place == 1}
    assert sorted(ranks.values()) == list(range(len(items)))
    assert all(ranks[a] < ranks[b] for a in calibration for b in set(items) - calibration)


@given(ITEMS, st.integers())
def test_the_same_seed_gives_the_same_order(items, seed):
    order = work_order(items, order=RANDOM, seed=seed)
    assert sorted(order) == sorted(items)
    assert order == work_order(items, order=RANDOM, seed=seed)
    shifted = [item + 10_000 for item in items]  # other primary keys, same data set
    assert work_order(shifted, order=RANDOM, seed=seed) == [item + 10_000 for item in order]


def test_seeds_and_order_matter():
    items = list(range(50))
    assert work_order(items, order=FIXED, seed=1) == items
    assert work_order(items, order=RANDOM, seed=1) != work_order(items, order=RANDOM, seed=2)
    assert calibration_items(items, size=10, seed=1) != calibration_items(items, size=10, seed=2)


def test_calibration_is_not_simply_the_head_of_the_order():
    first = work_order(range(100), order=RANDOM, seed=1)[:10]
    assert calibration_items(range(100), size=10, seed=1) != set(first)


@pytest.mark.parametrize("wrong", [{"overlap": 0}, {"overlap": 1, "calibration_size": 2}])
def test_places_below_one_are_refused(wrong):
    with pytest.raises(ValueError, match="at least one"):
        list(allocate([1, 2], order=RANDOM, seed=1, **wrong))


def test_least_labelled_gives_every_item_a_first_place_before_any_second_one():
    places = list(allocate(range(20), overlap=3, order=LEAST_LABELLED, seed=1))
    assert [place.place for place in sorted(places, key=lambda place: place.rank)] == [1] * 20 + [2] * 20 + [3] * 20
    later = list(allocate([99], overlap=2, order=LEAST_LABELLED, seed=1, start=20))
    assert [place.rank for place in later] == [20, PLACE_STEP + 20]  # before the second places of the others


def test_the_least_certain_items_come_first_and_unknown_ones_last():
    order = work_order([1, 2, 3, 4], order=MODEL_UNCERTAIN, seed=1, uncertainty={1: 0.0, 2: 0.9, 4: 0.3})
    assert order == [2, 4, 1, 3]


@given(st.integers(0, PLACE_STEP * 1000), st.lists(st.floats(0, 1), min_size=1))
def test_a_dispute_moves_an_item_ahead_and_its_end_moves_it_back(rank, disputes):
    moved = rank
    for share in disputes:
        moved = disputed_rank(moved, share)
        assert (moved < 0) == (round(share * DISPUTE_LEVELS) > 0)
    assert disputed_rank(moved, 0.0) == rank


def test_disagreement_is_the_share_of_pairs_that_differ():
    assert disagreement({"a": ["yes", "yes", "no"], "b": [["x"], ["x"], ["x"]]}) == pytest.approx((2 / 3 + 0) / 2)
    assert disagreement({"a": ["yes"]}) == disagreement({}) == 0.0
