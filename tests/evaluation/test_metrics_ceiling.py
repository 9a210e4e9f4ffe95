"""The human ceiling from random halves."""

import numpy as np
import pytest

from evaluation.metrics.ceiling import split_half_ceiling
from evaluation.metrics.items import items_frame


def test_two_people_who_differ_always_err_by_one():
    found = split_half_ceiling(items_frame([2, 2], [1, 1], [0, 0], [0, 0]), seed=1)
    assert found["rate_mae"].value == 1
    assert found["majority_alignment"].value == 0


def test_error_of_even_halves_is_the_hypergeometric_one():
    # Four people, two for culture: halves hold 1+1 in 4 of 6 deals, else 2+0, an error of 1.
    found = split_half_ceiling(items_frame([4], [2], [1], [1]), n_splits=4000, seed=2)
    assert found["rate_mae"].value == pytest.approx(2 / 6, abs=0.03)
    assert found["majority_alignment"].value == pytest.approx(4 / 6, abs=0.03)
    # With one item the difference of means is the error, and signed errors cancel over the splits.
    assert found["rate_abs_diff_of_means"] == found["rate_mae"]
    assert found["signed_culture_gap"].value == pytest.approx(0, abs=0.05)
    assert found["signed_preference_gap"].value == -found["signed_culture_gap"].value


def test_correlation_leaves_out_splits_without_spread():
    # All agree on the first item; on the second halves hold 1+1, a correlation of 1, or 2+0 and are both constant.
    found = split_half_ceiling(items_frame([4, 4], [4, 2], [1, 1], [1, 1]), seed=1)
    assert found["uncertainty_correlation"].value == pytest.approx(1)
    assert found["uncertainty_spearman"].value == pytest.approx(1)
    alike = split_half_ceiling(items_frame([4, 4], [4, 0], [1, 1], [1, 1]), seed=1)["uncertainty_correlation"]
    assert np.isnan(alike.value)
    assert alike.reason == "in every split a half agrees equally on all items"


def test_correlation_is_that_of_each_split_averaged():
    # With so many people halves hardly differ from the whole, and so correlate almost perfectly.
    items = items_frame([10**6] * 3, [10**6, 8 * 10**5, 5 * 10**5], [1] * 3, [1] * 3)
    found = split_half_ceiling(items, n_splits=250, seed=1)
    assert found["uncertainty_correlation"].value == pytest.approx(1, abs=1e-4)
    assert found["uncertainty_spearman"].value == pytest.approx(1)


def test_items_with_one_person_are_left_out_and_a_seed_fixes_the_rest():
    items = items_frame([1, 5, 6, 0], [1, 2, 3, 0], [1] * 4, [1] * 4)
    first, again = (split_half_ceiling(items, seed=seed) for seed in (3, np.random.default_rng(3)))
    assert first == again
    assert first["rate_mae"].n == 2
    assert first["rate_mae"].reason == "2 of 4 items left out: fewer than two human answers"


def test_intervals_are_drawn_over_items_and_do_not_shrink_with_splits():
    # Half of the items have people who all agree, half have two who differ: 1 and 0 in every split.
    items = items_frame([2] * 40, [2, 1] * 20, [1] * 40, [1] * 40)
    for n_splits in (20, 2000):
        found = split_half_ceiling(items, n_splits=n_splits, seed=4)
        alike, error = found["majority_alignment"], found["rate_mae"]
        assert (alike.value, error.value) == (0.5, 0.5)
        # The standard error of the mean of 40 such items is 0.079.
        assert alike.low == pytest.approx(0.5 - 1.96 * 0.079, abs=0.03)
        assert alike.high == pytest.approx(0.5 + 1.96 * 0.079, abs=0.03)
        assert (error.low, error.high) == pytest.approx((1 - alike.high, 1 - alike.low))
    single = split_half_ceiling(items_frame([2], [2], [1], [1]), seed=4)["majority_alignment"]
    assert np.isnan(single.low)
    assert single.reason == "an interval needs two items"


def test_nothing_to_split():
    assert not split_half_ceiling(items_frame([1], [1], [1], [1]), seed=1)["rate_mae"].defined
    with pytest.raises(ValueError, match="n_splits of at least 1"):
        split_half_ceiling(items_frame([4], [1], [1], [1]), n_splits=0, seed=1)
