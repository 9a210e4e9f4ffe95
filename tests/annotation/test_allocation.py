from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.allocation import allocate, calibration_items, work_order

ITEMS = st.lists(st.integers(1, 10_000), unique=True, max_size=60)


@given(ITEMS, st.tuples(st.integers(1, 5), st.integers(0, 20), st.integers(1, 6)), st.integers(), st.booleans())
def test_every_item_gets_its_places(items, numbers, seed, shuffle):
    overlap, size, calibration_overlap = numbers
    places = list(
        allocate(
            items,
            overlap=overlap,
            shuffle=shuffle,
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
    ranks = {place.item: place.rank for place in places}
    assert sorted(ranks.values()) == list(range(len(items)))
    assert all(ranks[a] < ranks[b] for a in calibration for b in set(items) - calibration)


@given(ITEMS, st.integers())
def test_the_same_seed_gives_the_same_order(items, seed):
    order = work_order(items, shuffle=True, seed=seed)
    assert sorted(order) == sorted(items)
    assert order == work_order(items, shuffle=True, seed=seed)
    shifted = [item + 10_000 for item in items]  # other primary keys, same data set
    assert work_order(shifted, shuffle=True, seed=seed) == [item + 10_000 for item in order]


def test_seeds_and_order_matter():
    items = list(range(50))
    assert work_order(items, shuffle=False, seed=1) == items
    assert work_order(items, shuffle=True, seed=1) != work_order(items, shuffle=True, seed=2)
    assert calibration_items(items, size=10, seed=1) != calibration_items(items, size=10, seed=2)


def test_calibration_is_not_simply_the_head_of_the_order():
    first = work_order(range(100), shuffle=True, seed=1)[:10]
    assert calibration_items(range(100), size=10, seed=1) != set(first)


@pytest.mark.parametrize("wrong", [{"overlap": 0}, {"overlap": 1, "calibration_size": 2}])
def test_places_below_one_are_refused(wrong):
    with pytest.raises(ValueError, match="at least one"):
        list(allocate([1, 2], shuffle=True, seed=1, **wrong))
