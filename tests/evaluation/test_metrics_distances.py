"""Distances between answers to questions with several options, against scipy and the two-option metrics."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance as scipy_wasserstein

from evaluation.metrics.alignment import rate_mae
from evaluation.metrics.distances import (
    answer_distances,
    jensen_shannon_divergence,
    total_variation_distance,
    wasserstein_distance,
)
from evaluation.metrics.items import items_frame

RNG = np.random.default_rng(5)
HUMAN, MODEL = RNG.integers(0, 9, (30, 4)), RNG.integers(0, 3, (30, 4)) + np.eye(4, dtype=int)[0]


def test_distances_are_means_over_items_of_those_of_scipy():
    scores, pairs = [1, 2, 4, 5], list(zip(HUMAN, MODEL, strict=True))
    squared = np.mean([jensenshannon(human, model, base=2) ** 2 for human, model in pairs])
    assert jensen_shannon_divergence(HUMAN, MODEL).value == pytest.approx(squared)
    moved = np.mean([scipy_wasserstein(scores, scores, human, model) for human, model in pairs])
    assert wasserstein_distance(HUMAN, MODEL, scores=scores).value == pytest.approx(moved)


def test_two_options_give_the_mean_absolute_error_of_rates():
    human, model = HUMAN[:, :2] + 1, MODEL[:, :2]
    items = items_frame(human.sum(axis=1), human[:, 0], model.sum(axis=1), model[:, 0])
    for found in (total_variation_distance(human, model), wasserstein_distance(human, model, scores=[0, 1])):
        assert found.value == pytest.approx(rate_mae(items).value)


def test_items_without_answers_on_one_side_are_left_out_and_bad_input_is_named():
    found = total_variation_distance([[1, 1, 0], [0, 0, 0], [2, 0, 0]], [[0, 0, 2], [1, 0, 0], [0, 0, 0]])
    assert (found.value, found.n, found.reason) == (1, 1, "2 of 3 items left out: no answer on one side")
    assert not jensen_shannon_divergence([[0, 0]], [[1, 0]]).defined
    with pytest.raises(ValueError, match="same items and options"):
        total_variation_distance([[1, 0]], [[1, 0, 0]])
    with pytest.raises(ValueError, match="scores must be 2 increasing numbers"):
        wasserstein_distance([[1, 0]], [[0, 1]], scores=[2, 1])


def test_each_distance_has_an_interval_over_items():
    scores = [1, 2, 4, 5]
    found = answer_distances(HUMAN, MODEL, scores=scores, n_resamples=1000, seed=1)
    plain = [total_variation_distance(HUMAN, MODEL), jensen_shannon_divergence(HUMAN, MODEL)]
    plain.append(wasserstein_distance(HUMAN, MODEL, scores=scores))
    assert [(distance.value, distance.n) for distance in found.values()] == [
        (pytest.approx(distance.value), distance.n) for distance in plain
    ]
    p, q = (side / side.sum(axis=1, keepdims=True) for side in (HUMAN, MODEL))
    error = np.std(np.abs(p - q).sum(axis=1) / 2) / np.sqrt(len(p))
    total = found["total_variation_distance"]
    assert total.high - total.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert set(answer_distances(HUMAN, MODEL, scores=None, seed=1)) == set(found) - {"wasserstein_distance"}
    assert not answer_distances([[0, 0]], [[1, 0]], scores=None, seed=1)["jensen_shannon_divergence"].defined
