"""Rates under conditions, decisions that flip, positions of options and kinds of preference, counted by hand."""

import math

import pandas as pd
import pytest

from evaluation.metrics.behaviour import (
    ablation_deltas,
    decision_counts,
    decision_rates,
    level_contrast,
    macro_rates,
    style_deltas,
)
from evaluation.metrics.flips import decision_flips, option_position_audit
from evaluation.metrics.preference_types import OTHER, preference_type

NAN = math.nan


def counted(rows):
    return pd.DataFrame(rows, columns=["model", "demo", "n_rows", "n", "n_culture"])


def test_single_answers_and_their_counts_have_the_same_rates():
    single = pd.DataFrame({"model": "m", "demo": "no", "decision": ["FOLLOW", " follow", "ALLOW", "UNKNOWN", None]})
    counts = decision_counts(single, answer="decision", culture="follow", preference="allow")
    rates = decision_rates(counts, by=["model"])
    pd.testing.assert_frame_equal(rates, decision_rates(counted([("m", "no", 5, 3, 2)]), by=["model"]))
    assert rates[["n_rows", "n", "n_preference", "n_unknown"]].values.tolist() == [[5, 3, 1, 2]]
    assert rates["unknown_rate"].tolist() == [0.4]


def test_a_rate_without_a_valid_answer_is_undefined_and_not_zero():
    rates = decision_rates(counted([("m", "no", 4, 0, 0)]), by=["model"])
    assert rates[["culture_rate", "allow_rate"]].isna().all(axis=None)
    assert rates["unknown_rate"].tolist() == [1.0]


def test_deltas_are_against_the_baseline_of_the_same_model():
    counts = counted([("a", "no", 4, 4, 2), ("a", "age", 4, 4, 1), ("b", "age", 4, 4, 1), ("a", "sex", 4, 0, 0)])
    deltas = ablation_deltas(counts, by=["model"], condition="demo", baseline="no").set_index(["model", "demo"])
    assert deltas.loc[("a", "age"), "delta_pp"] == 25
    assert deltas.loc[("a", "no"), "delta_pp"] == 0
    assert deltas["reason"].to_dict() == {
        ("a", "age"): "",
        ("a", "no"): "",
        ("a", "sex"): "there is no valid answer",
        ("b", "age"): "the baseline has no valid answer",
    }


def test_data_sets_weigh_the_same_in_macro_rates():
    counts = counted([("a", "x", 1, 1, 0), ("a", "y", 99, 99, 99), ("a", "z", 3, 0, 0)])
    assert macro_rates(counts, by=["model"], over="demo").values.tolist() == [["a", 0.5, 2, 1]]
    assert decision_rates(counts, by=["model"])["allow_rate"].tolist() == [0.01]


def test_a_contrast_without_one_of_its_levels_says_which():
    found = level_contrast(counted([("a", "younger", 4, 4, 1)]), factor="demo", plus="younger", minus="older")
    assert (found.rate_plus, found.n_minus, found.reason) == (0.75, 0, "no valid answer where demo is older")
    assert all(math.isnan(value) for value in (found.delta_pp, found.chi2, found.p, found.cramers_v))


def test_styles_that_were_not_run_have_a_row_and_models_are_counted():
    values = pd.DataFrame(
        [("a", "m", "mae", 0.2), ("a", "o", "mae", 0.4), ("b", "m", "mae", 0.1), ("b", "o", "mae", NAN)],
        columns=["style", "model", "metric", "value"],
    )
    table = style_deltas(values, styles=["a", "b", "c"], baseline="a").set_index("style")
    assert table["n_models"].tolist() == [2, 1, 0]
    assert table["delta_points"].tolist() == pytest.approx([0, -20, NAN], nan_ok=True)
    assert table.loc["c", "reason"] == "no model has a value in this style"


def test_flips_leave_out_pairs_with_an_invalid_side():
    found = decision_flips([1, 1, 0, 0, NAN, 1], [0, 1, 1, 0, 1, NAN])
    assert (found.n, found.n_left_out, found.same_rate, found.delta) == (4, 2, 0.5, 0)
    nothing = decision_flips([NAN], [1])
    assert math.isnan(nothing.same_rate)
    assert nothing.reason == "no case has a valid answer on both sides"


def test_a_model_that_always_takes_the_first_option():
    found = option_position_audit([1, 0, 1, 0], [1, 0, 1, 0], ["x", "x", "y", "y"])
    assert (found.delta_pp, found.first_position_rate, found.swap_consistency) == (100, 1, 0)
    assert (found.n_always_first, found.n_always_second, found.mcnemar_p) == (2, 0, 0.5)


def test_positions_that_cannot_be_compared_say_why():
    unpaired = option_position_audit([1, 0, NAN], [1, 0, 0], ["x", "y", "z"])
    assert (unpaired.delta_pp, unpaired.n_pairs) == (100, 0)
    assert unpaired.reason == "1 of 3 answers left out: invalid; no item has a valid answer in both orders"
    assert option_position_audit([1], [1], ["x"]).reason == "no valid answer in one of the two orders"


def test_the_type_with_most_keywords_wins_and_the_first_of_equals():
    rules = {"health": ["health", "diet"], "style": ["dress", "clothes", "regular clothes"]}
    assert preference_type("Wears regular clothes for health and diet", rules) == "health"
    assert preference_type("REGULAR CLOTHES, health", rules) == "style"
    assert preference_type("sings", rules) == preference_type(None, rules) == preference_type("x", {}) == OTHER
