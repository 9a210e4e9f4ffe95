"""Prediction-powered rates against values by hand and by ppi-python 0.2.3, whose point estimates these are."""

import numpy as np
import pandas as pd
import pytest

from evaluation.metrics.correction import prediction_powered_rate

PEOPLE = np.array([1, 0, 1, 1, 0, 0.5])
MODEL = np.array([1, 0, 0.5, 1, 0.5, 0.5])
OTHERS = np.array([1, 1, 0, 0.5, 1, 1, 0, 1, 0.5, 1])


def frame(people: np.ndarray, model: np.ndarray, others: np.ndarray) -> pd.DataFrame:
    n, more = len(people), len(others)
    return pd.DataFrame(
        {
            "item": range(n + more),
            "n_human": [2] * n + [0] * more,
            "n_human_culture": [*(2 * people), *[0] * more],
            "n_model": 2,
            "n_model_culture": [*(2 * model), *(2 * others)],
        }
    )


@pytest.mark.parametrize(("power", "expected"), [(0, 0.5833333333333334), (0.6, 0.6533333333333333), (1, 0.7)])
def test_the_estimate_is_that_of_the_reference(power: float, expected: float):
    found = prediction_powered_rate(frame(PEOPLE, MODEL, OTHERS), power=power)
    assert found.corrected.value == pytest.approx(expected, abs=1e-12)


def test_power_and_interval_are_those_of_the_formula():
    found = prediction_powered_rate(frame(PEOPLE, MODEL, OTHERS))
    covariance = (2.75 - 3.5 * 3.5 / 6) / 5  # sums of Yf, Y and f
    spread = (9.25 - 10.5**2 / 16) / 15  # sums of squares and of f over all
    power = covariance / ((1 + 6 / 10) * spread)
    assert found.power == pytest.approx(power)
    variance = np.var(PEOPLE - power * MODEL, ddof=1) / 6 + power**2 * np.var(OTHERS, ddof=1) / 10
    assert found.corrected.high - found.corrected.low == pytest.approx(2 * 1.959963985 * variance**0.5)
    assert found.corrected.high - found.corrected.low < found.people.high - found.people.low
    assert found.worth > found.people.n == 6
    assert (found.n_alone, found.model.n) == (10, 16)


@pytest.mark.parametrize(
    ("model", "others"),
    [(np.full(6, 0.5), np.full(10, 0.5)), (MODEL, OTHERS[:0]), (1 - PEOPLE, OTHERS)],
    ids=["the same of every item", "no item alone", "against people"],
)
def test_without_a_model_that_helps_it_is_the_plain_mean(model: np.ndarray, others: np.ndarray):
    found = prediction_powered_rate(frame(PEOPLE, model, others))
    assert found.power == 0
    assert found.corrected == found.people
    assert found.corrected.value == PEOPLE.mean()
    assert found.worth == pytest.approx(6)


def test_the_interval_covers_the_truth_of_all_items_as_often_as_it_says():
    """A model that is wrong in one direction, 60 of 600 items labelled: the model alone never covers the truth."""
    rng, covered, shorter, biased = np.random.default_rng(3), 0, 0, 0
    for _ in range(300):
        truth = (rng.random(600) < 0.4).astype(float)
        model = np.where(rng.random(600) < 0.15, 1.0, truth)
        found = prediction_powered_rate(frame(truth[:60], model[:60], model[60:]))
        covered += found.corrected.low <= 0.4 <= found.corrected.high
        biased += found.model.low <= 0.4 <= found.model.high
        shorter += found.worth > 60
    assert 0.91 <= covered / 300 <= 0.98
    assert biased / 300 < 0.1
    assert shorter == 300


def test_what_cannot_be_estimated_says_why():
    nobody = prediction_powered_rate(frame(PEOPLE[:0], MODEL[:0], OTHERS))
    assert nobody.reason == "no item has answers of people and of the model"
    assert not nobody.corrected.defined
    one = prediction_powered_rate(frame(PEOPLE[:1], MODEL[:1], OTHERS))
    assert one.corrected.value == 1
    assert np.isnan(one.corrected.low)
    with pytest.raises(ValueError, match="power must be from 0 to 1"):
        prediction_powered_rate(frame(PEOPLE, MODEL, OTHERS), power=1.5)
