"""Rates, consensus and consistency by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from evaluation.metrics.consensus import (
    answer_consistency,
    majority_consistency,
    modal_share,
    pairwise_agreement,
    pooled_modal_share,
)
from evaluation.metrics.rates import choice_rate, decision_conflict, decision_entropy, pooled_culture_rate, unknown_rate

NAN = math.nan


def test_wilson_interval_of_a_small_sample():
    found = choice_rate([1] * 7 + [0] * 4 + [NAN])
    assert (found.n, found.value) == (11, pytest.approx(7 / 11))
    assert (found.low, found.high) == pytest.approx((0.35380117, 0.84833529))


def test_no_valid_answer_is_undefined_but_unknown_is_known():
    assert not choice_rate([NAN, NAN]).defined
    assert not decision_entropy([NAN], ["x"]).defined
    assert not decision_conflict([NAN], ["x"]).defined
    assert unknown_rate([NAN, NAN]).value == 1
    assert not unknown_rate([]).defined


def test_entropy_is_in_bits_over_sources_with_valid_answers():
    chosen, sources = [1, 1, 1, 0, 1, NAN, NAN], ["a", "a", "a", "a", "b", "b", "c"]
    assert decision_entropy(chosen, sources).value == pytest.approx((0.8112781245 + 0) / 2)
    assert decision_conflict(chosen, sources).n == 2


def test_pooling_can_order_groups_the_other_way():
    split = pd.DataFrame({"n": [4, 4], "n_culture": [4, 0]})
    even = pd.DataFrame({"n": [4, 4], "n_culture": [3, 3]})
    assert modal_share(split).value > modal_share(even).value
    assert pooled_modal_share(split).value < pooled_modal_share(even).value


def test_single_answers_agree_by_construction_and_have_no_pairs():
    singles = pd.DataFrame({"n": [1, 1, 0], "n_culture": [1, 0, 0]})
    assert modal_share(singles).value == 1
    assert modal_share(singles).n == 2
    assert not modal_share(singles, min_n=2).defined
    assert not pairwise_agreement(singles).defined


def test_consistency_by_row_drops_rows_and_by_item_only_answers():
    first, second, items = [1, NAN, 0, 1], [1, 0, 0, 0], ["x", "x", "x", "y"]
    assert answer_consistency(first, second).value == pytest.approx(2 / 3)
    assert answer_consistency(first, second).reason == "1 of 4 rows left out: an answer is invalid"
    # Item x: first 1 of 2, a tie and so culture; second 1 of 3.
    assert majority_consistency(first, second, items).value == 0
    assert not majority_consistency([1, NAN], [NAN, 1], ["x", "y"]).defined
    assert not answer_consistency([1, NAN], [NAN, 1]).defined


def test_cells_that_are_alike_are_drawn_together_with_the_same_spread():
    cells = pd.DataFrame({"n": 1, "n_culture": np.arange(4000) % 4 == 0}).astype(int)
    found = pooled_culture_rate(cells, n_resamples=4000, seed=1)
    half = 1.96 * math.sqrt(0.25 * 0.75 / 4000)
    assert (found.low, found.high) == pytest.approx((0.25 - half, 0.25 + half), abs=0.001)
