"""How judges' texts are read, and what follows from their choices and from battles of models, by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from evaluation.metrics.decisions import parse_decision
from evaluation.metrics.preference import position_bias, right_in_both, swap_consistency, two_order_accuracy
from evaluation.metrics.ranking import (
    bradley_terry,
    mean_win_rates,
    pairwise_order_agreement,
    rank_correlation,
    repeated_runs,
)

A, B = "The final decision is Response A.", "The final decision is Response B."


@pytest.mark.parametrize(
    ("text", "strict", "sentence", "released"),
    [
        (A, "A", "A", "A"),
        (f"{A} No: {B}", None, "B", "B"),
        (f"**{A[:-1]}**", None, "A", "A"),
        ("the FINAL decision\nis **response b**!", None, "B", "B"),
        ("The final decision is: Response A", None, "A", None),
        ("The final decision is Response Both.", None, None, "B"),
        ("The final decision is based on style.", None, None, "B"),
        ("Final decision: A", None, None, "A"),
        ("The final decision is Response C.", None, None, None),
        ("最终答案为 Response Ｂ。", None, None, "B"),
        ("最终决定是回应ａ", None, None, "A"),
        ("", None, None, None),
    ],
)
def test_each_mode_reads_what_it_says(text, strict, sentence, released):
    modes = ("strict", "sentence", "released")
    assert [parse_decision(text, mode=mode) for mode in modes] == [strict, sentence, released]


def test_what_is_no_text_is_refused():
    with pytest.raises(ValueError, match="read from a text; this is None"):
        parse_decision(None, mode="strict")


@pytest.fixture
def choices():
    """x is right in both orders, y A in both, z B in both, u unread in one order, v shown in one order only."""
    rows = [("x", "A", "B"), ("y", "A", "A"), ("z", "B", "B"), ("u", "A", None)]
    table = [(item, order, choice) for item, *both in rows for order, choice in zip((1, 0), both, strict=True)]
    return pd.DataFrame([*table, ("v", 1, "B")], columns=["item", "right_first", "choice"])


def test_positions_by_hand(choices):
    found = position_bias(choices)
    assert (found.n_first, found.n_second, found.n_invalid) == (4, 4, 1)
    assert (found.right_ahead, found.right_behind) == (3, 2)
    assert (found.n_pairs, found.always_first, found.always_second) == (3, 1, 1)
    assert (found.binomial_p, found.mcnemar_p) == (1.0, 1.0)


def test_an_unread_choice_is_wrong_and_a_missing_order_leaves_the_denominator(choices):
    assert two_order_accuracy(choices).value == 5 / 9
    assert right_in_both(choices).value == 1 / 5
    assert swap_consistency(choices, invalid="left_out").value == 1 / 3
    assert swap_consistency(choices, invalid="inconsistent").value == 1 / 5


@pytest.fixture
def battles():
    rng = np.random.default_rng(5)
    strength = {"p": 1.0, "q": 0.3, "r": -0.2, "s": -1.1}
    rows = []
    for _ in range(240):
        left, right = rng.choice(list(strength), 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(strength[right] - strength[left]))
        rows.append((left, right, "tie" if rng.random() < 0.1 else "left" if won else "right"))
    return pd.DataFrame(rows, columns=["left", "right", "winner"])


def test_bradley_terry_is_the_maximum_of_its_likelihood(battles):
    models = sorted(set(battles["left"]))
    left, right = (battles[side].map(models.index).to_numpy() for side in ("left", "right"))
    share = battles["winner"].map({"left": 1.0, "tie": 0.5, "right": 0.0}).to_numpy()

    def loss(strength):
        margin = strength[left] - strength[right]
        return np.sum(share * np.logaddexp(0, -margin) + (1 - share) * np.logaddexp(0, margin))

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    found = bradley_terry(battles).table.loc[models]
    assert found["strength"].to_numpy() == pytest.approx(best.x - best.x.mean(), abs=1e-5)
    # BFGS' inverse Hessian of the centred strengths is their covariance.
    centre = np.eye(4) - 1 / 4
    numeric = np.array([[_second(loss, best.x, i, j) for j in range(4)] for i in range(4)])
    errors = np.sqrt(np.diag(centre @ np.linalg.pinv(numeric) @ centre))
    assert ((found["high"] - found["low"]) / 2 / 1.959964).to_numpy() == pytest.approx(errors, rel=1e-3)


def _second(function, at, i, j, step=1e-3):
    first, second = np.eye(len(at))[[i, j]] * step
    values = [function(at + a * first + b * second) * a * b for a in (1, -1) for b in (1, -1)]
    return sum(values) / (4 * step**2)


def test_a_model_that_never_loses_has_no_finite_strength(battles):
    unbeaten = battles.assign(winner=battles["winner"].where(battles["left"] != "p", "left"))
    unbeaten["winner"] = unbeaten["winner"].where(battles["right"] != "p", "right")
    found = bradley_terry(unbeaten)
    assert found.table["strength"].isna().all()
    assert "never won" in found.reason


def test_rates_average_over_opponents_met_and_equal_ones_stand_by_name():
    rows = [("b", "a", "left"), ("b", "a", "tie"), ("a", "c", "left"), ("d", "c", "tie")]
    rates = mean_win_rates(pd.DataFrame(rows, columns=["left", "right", "winner"]))
    assert rates.to_dict() == {"b": 0.75, "a": 0.625, "d": 0.5, "c": 0.25}
    even = pd.DataFrame([("b", "a", "tie")], columns=["left", "right", "winner"])
    assert mean_win_rates(even).index.tolist() == ["a", "b"]
    assert pairwise_order_agreement(even, reference=["a", "b"]).value == 0
    assert math.isnan(rank_correlation(even, reference=["a", "b"], method="kendall").value)


def test_models_of_the_reference_that_never_battled_are_named(battles):
    found = rank_correlation(battles, reference=["p", "q", "r", "s", "t"], method="spearman")
    assert found.reason == "1 of 5 models of the reference left out: they are in no battle"


@pytest.mark.parametrize(
    ("row", "words"),
    [(("p", "p", "left"), "row 0 has a model against itself"), (("p", None, "left"), "row 0 names no two models")],
)
def test_impossible_battles_are_refused(row, words):
    with pytest.raises(ValueError, match=words):
        mean_win_rates(pd.DataFrame([row], columns=["left", "right", "winner"]))


def test_one_run_has_no_interval():
    found = repeated_runs([74.88])
    assert (found.mean.value, found.mean.reason) == (74.88, "an interval needs two runs")
    assert math.isnan(found.sd)
