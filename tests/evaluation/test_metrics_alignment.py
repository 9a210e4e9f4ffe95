"""Alignment of models with people: hand counts, ties, invalid answers, intervals."""

import math
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.metrics.alignment import (
    alignment_changes,
    alignment_summary,
    majority_alignment,
    rate_abs_diff_of_means,
    rate_mae,
    rate_mae_floor,
)
from evaluation.metrics.items import count_answers, item_rates, items_frame, pair_counts
from evaluation.metrics.persona import closest_subgroups, subgroup_alignment, subgroup_ceiling
from evaluation.metrics.row_level import row_level_alignment
from evaluation.metrics.uncertainty import contested_model_agreement, uncertainty_correlation

KEYS = {
    "majority_alignment",
    "rate_mae",
    "rate_abs_diff_of_means",
    "signed_culture_gap",
    "signed_preference_gap",
    "uncertainty_correlation",
}


@pytest.fixture
def many():
    rng = np.random.default_rng(11)
    n_human, n_model = rng.integers(4, 12, 500), rng.integers(2, 9, 500)
    return items_frame(n_human, rng.binomial(n_human, 0.6), n_model, rng.binomial(n_model, 0.75))


def test_summary_has_the_six_numbers_each_inside_its_interval(many):
    summary = alignment_summary(many, seed=3)
    assert set(summary) == KEYS
    for estimate in summary.values():
        assert estimate.n == 500
        assert estimate.low < estimate.value < estimate.high
        assert estimate.reason == ""


def test_intervals_agree_with_the_normal_ones_of_a_mean(many):
    gap = alignment_summary(many, seed=3)["signed_culture_gap"]
    rates = item_rates(many)
    margin = 1.96 * stats.sem(rates.model - rates.human)
    assert gap.low == pytest.approx(gap.value - margin, abs=0.1 * margin)
    assert gap.high == pytest.approx(gap.value + margin, abs=0.1 * margin)


def test_same_seed_same_intervals_other_seed_other_intervals(many):
    first, again, other = (alignment_summary(many, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["rate_mae"].low != other["rate_mae"].low


def test_two_thousand_resamples_of_500_items_take_under_a_second_of_processor(many):
    start = time.process_time()
    alignment_summary(many, n_resamples=2000, seed=1)
    assert time.process_time() - start < 1


def test_both_signs_are_mirror_images(many):
    summary = alignment_summary(many, seed=4)
    culture, preference = summary["signed_culture_gap"], summary["signed_preference_gap"]
    mirrored = (-preference.value, -preference.high, -preference.low)
    assert mirrored == pytest.approx((culture.value, culture.low, culture.high))


def test_items_without_answers_on_a_side_are_dropped_and_counted():
    items = items_frame([4, 0, 4, 4], [4, 0, 0, 2], [2, 2, 2, 0], [2, 2, 1, 0])
    summary = alignment_summary(items, n_resamples=50, seed=1)
    assert summary["rate_mae"].n == 2
    assert summary["rate_mae"].value == pytest.approx(0.25)
    assert "2 of 4 items left out" in summary["rate_mae"].reason


def test_no_usable_item_is_undefined_everywhere():
    for estimate in alignment_summary(items_frame([3], [1], [0], [0]), n_resamples=50, seed=1).values():
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.low)
        assert estimate.reason


def test_one_item_has_a_value_but_no_interval():
    found = alignment_summary(items_frame([4], [3], [1], [1]), n_resamples=50, seed=1)
    assert found["majority_alignment"].value == 1
    assert math.isnan(found["majority_alignment"].low)
    assert found["majority_alignment"].reason == "an interval needs two items"
    assert not found["uncertainty_correlation"].defined


def test_one_model_answer_per_item_leaves_uncertainty_undefined():
    found = alignment_summary(items_frame([4, 4, 4], [3, 2, 0], [1, 1, 1], [1, 0, 1]), n_resamples=50, seed=1)
    assert found["uncertainty_correlation"].reason == "model agreement is the same on every item"
    assert found["rate_mae"].defined


def test_resamples_without_a_correlation_are_counted():
    items = items_frame([4, 4, 4], [3, 2, 4], [4, 4, 4], [3, 2, 3])
    found = alignment_summary(items, n_resamples=400, seed=1)["uncertainty_correlation"]
    left_out = int(found.reason.split()[0])
    # Items 0 and 2 have the same model agreement: 8 of 27 resamples draw only these, and 1 draws only item 1.
    assert left_out / 400 == pytest.approx(9 / 27, abs=0.08)
    assert -1 <= found.low <= found.high <= 1


def test_constant_agreement_is_seen_through_different_fractions():
    items = items_frame([6, 6, 3], [4, 2, 1], [4, 5, 6], [3, 3, 3])
    assert uncertainty_correlation(items, method="pearson").reason == "human agreement is the same on every item"


@pytest.mark.parametrize(
    ("method", "reference"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)]
)
def test_correlations_are_those_of_scipy(many, method, reference):
    u = many[["n_human_culture"]].to_numpy().ravel() / many["n_human"].to_numpy()
    v = many[["n_model_culture"]].to_numpy().ravel() / many["n_model"].to_numpy()
    u, v = np.maximum(u, 1 - u).round(12), np.maximum(v, 1 - v).round(12)
    assert uncertainty_correlation(many, method=method).value == pytest.approx(reference(u, v).statistic)


def test_ties_count_as_culture_on_either_side():
    assert majority_alignment(items_frame([2, 2, 2], [1, 1, 1], [1, 1, 2], [1, 0, 1])).value == pytest.approx(2 / 3)


def test_one_answer_per_item_cannot_beat_the_floor():
    items = items_frame([10, 10, 10], [9, 4, 5], [1, 1, 1], [1, 0, 0])
    assert rate_mae(items).value == pytest.approx(rate_mae_floor(items).value)


def test_contested_items_take_ties_with_the_median():
    items = items_frame([4, 4, 4, 4], [2, 3, 1, 4], [4, 4, 4, 4], [2, 4, 4, 4])
    assert contested_model_agreement(items).value == pytest.approx((0.5 + 1 + 1) / 3)


def test_impossible_items_frames_are_refused():
    with pytest.raises(ValueError, match="lacks item, n_model, n_model_culture"):
        item_rates(pd.DataFrame({"n_human": [1], "n_human_culture": [1]}))
    with pytest.raises(ValueError, match="Row 1 of the items frame has more"):
        item_rates(items_frame([2, 2], [1, 3], [1, 1], [1, 1]))


LABELS = {"answer": "answer", "culture": "A", "preference": "B"}


def test_row_level_compares_raw_labels_for_the_majority_only():
    human = pd.DataFrame({"item": ["x", "y"], "n": [4, 0], "n_culture": [2, 0]})
    rows = [("x", "A"), ("x", " a"), ("x", None), ("x", "B"), ("y", "A"), ("z", "A")]
    found = row_level_alignment(human, pd.DataFrame(rows, columns=["item", "answer"]), **LABELS)
    assert (found.majority_alignment.value, found.majority_alignment.n) == (0.25, 4)
    assert (found.rate_mae.value, found.rate_mae.n) == (0.5, 3)
    assert found.signed_culture_gap.value == pytest.approx(1 / 6)
    assert found.n_invalid == 1


def test_row_level_without_people_or_valid_answers_is_undefined():
    human = pd.DataFrame({"item": ["x"], "n": [4], "n_culture": [2]})
    nobody = row_level_alignment(human, pd.DataFrame({"item": ["y"], "answer": ["A"]}), **LABELS)
    assert not nobody.majority_alignment.defined
    invalid = row_level_alignment(human, pd.DataFrame({"item": ["x"], "answer": ["?"]}), **LABELS)
    assert invalid.majority_alignment.value == 0
    assert invalid.rate_mae.reason == "1 of 1 answers left out: invalid"


def test_persona_cells_join_by_country_and_group():
    people = pd.DataFrame(
        [("BR", "young", "x", "A"), ("BR", "old", "x", "B"), ("IN", "old", "x", "A")],
        columns=["country", "group", "item", "answer"],
    )
    personas = pd.DataFrame(
        [("BR", "young", "x", "A"), ("BR", "old", "x", "A"), ("BR", "old", "y", "B"), ("UK", "old", "x", "A")],
        columns=["country", "group", "item", "answer"],
    )
    human, model = (count_answers(side, by=["country", "group", "item"], **LABELS) for side in (people, personas))
    found = subgroup_alignment(human, model, cell=["country", "group"])
    assert list(found.cells) == [("BR", "young"), ("BR", "old"), ("IN", "old")]
    assert found.cells[("BR", "old")]["signed_culture_gap"].value == 1
    assert not found.cells[("IN", "old")]["rate_mae"].defined
    assert found.means["majority_alignment"].value == 0.5
    assert found.means["majority_alignment"].reason == "1 of 3 subgroups left out: undefined"


def test_closest_subgroup_is_by_majority_then_error_then_as_given():
    cells = [("far", 4, 0), ("near", 4, 3), ("nearest", 4, 4), ("also nearest", 2, 2), ("elsewhere", 0, 0)]
    human = pd.DataFrame([(*cell, "x") for cell in cells], columns=["group", "n", "n_culture", "item"])
    model = pd.DataFrame({"item": ["x"], "n": [1], "n_culture": [1]})
    found = closest_subgroups(human, model, cell=["group"])
    assert [name for (name,) in found.cells] == ["nearest", "also nearest", "near", "far", "elsewhere"]
    assert found.cells[("far",)]["rate_abs_diff_of_means"].value == 1


def test_ceiling_of_subgroups_averages_cells_with_two_people_an_item():
    human = pd.DataFrame({"group": ["p", "q", "r"], "item": ["x"] * 3, "n": [2, 2, 1], "n_culture": [1, 2, 1]})
    found = subgroup_ceiling(human, human, cell=["group"], seed=1)
    assert (found["majority_alignment"].value, found["rate_mae"].value) == (0.5, 0.5)
    assert found["rate_mae"].reason == "1 of 3 subgroups left out: undefined"


def test_the_mean_absolute_error_is_no_difference_of_means():
    items = items_frame([4, 4], [4, 0], [4, 4], [0, 4])
    assert rate_mae(items).value == 1
    assert rate_abs_diff_of_means(items).value == 0


def test_pairing_keeps_only_what_both_sides_have():
    human = pd.DataFrame({"item": ["x", "y"], "n": [4, 2], "n_culture": [1, 2]})
    model = pd.DataFrame({"item": ["y", "z"], "n": [1, 1], "n_culture": [0, 1]})
    assert pair_counts(human, model, on=["item"])["item"].tolist() == ["y"]


def test_a_change_is_drawn_with_both_answers_to_an_item():
    human = ([4] * 6, [4, 4, 0, 0, 2, 4])
    before, after = (
        items_frame(*human, [2] * 6, [0, 0, 0, 0, 0, 0]),
        items_frame(*human, [2] * 5 + [0], [1, 1, 1, 1, 1, 0]),
    )
    found = alignment_changes(before, after, n_resamples=500, seed=1)
    # Distances of items 0 to 4: 1, 1, 0, 0 and 1/2 before; 1/2, 1/2, 1/2, 1/2 and 0 after.
    assert found["rate_mae"].value == pytest.approx((2 * -0.5 + 2 * 0.5 - 0.5) / 5)
    assert (found["rate_mae"].n, found["rate_mae"].reason[:6]) == (5, "1 of 6")
    same = alignment_changes(before, before, n_resamples=500, seed=1)["majority_alignment"]
    assert (same.value, same.low, same.high) == (0, 0, 0)  # although the alignment itself is not sure
    with pytest.raises(ValueError, match="same people's answers"):
        alignment_changes(before, before.iloc[::-1], n_resamples=500, seed=1)
