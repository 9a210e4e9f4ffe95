"""The cluster bootstrap: reproducible, honest about clusters and about resamples without a value."""

import math

import numpy as np
import pytest

from evaluation.metrics import resampling
from evaluation.metrics.resampling import bootstrap_interval, weighted_mean, weighted_pearson


def test_a_seed_or_a_generator_fixes_the_interval():
    values = np.random.default_rng(0).normal(size=30)
    first, second = (
        bootstrap_interval(weighted_mean(values), np.arange(30), n_resamples=200, seed=seed)
        for seed in (4, np.random.default_rng(4))
    )
    assert first == second


def test_weights_draw_as_many_clusters_as_there_are():
    seen = []

    def statistic(weights):
        seen.append(weights)
        return weights.sum(axis=1)

    bootstrap_interval(statistic, ["a", "a", "b", "c"], n_resamples=50, seed=1)
    weights = np.concatenate(seen)
    assert weights.shape == (50, 4)
    np.testing.assert_array_equal(weights[:, 0], weights[:, 1])
    np.testing.assert_array_equal(weights[:, 1:].sum(axis=1), 3)


def test_whole_clusters_widen_the_interval_of_dependent_units():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(20), 10)
    values = rng.normal(size=20)[clusters]
    by_cluster = bootstrap_interval(weighted_mean(values), clusters, n_resamples=500, seed=1)
    by_unit = bootstrap_interval(weighted_mean(values), np.arange(200), n_resamples=500, seed=1)
    assert by_cluster.high - by_cluster.low > 2 * (by_unit.high - by_unit.low)


def test_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(8)
    covered = 0
    for seed in range(200):
        interval = bootstrap_interval(weighted_mean(rng.normal(size=60)), np.arange(60), n_resamples=300, seed=seed)
        covered += interval.low <= 0 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_chunks_leave_no_resample_out(monkeypatch):
    monkeypatch.setattr(resampling, "_MAX_WEIGHTS", 7)
    sizes = []

    def statistic(weights):
        sizes.append(len(weights))
        return weights @ np.arange(3.0)

    bootstrap_interval(statistic, np.arange(3), n_resamples=5, seed=1)
    assert sizes == [2, 2, 1]


def test_undefined_resamples_are_counted_and_left_out():
    x, y = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    interval = bootstrap_interval(weighted_pearson(x, y), np.arange(2), n_resamples=400, seed=1)
    assert interval.n_undefined / 400 == pytest.approx(0.5, abs=0.1)
    assert (interval.low, interval.high) == (1, 1)


def test_weighted_pearson_is_numpy_on_repeated_values():
    rng = np.random.default_rng(6)
    x, y, weights = rng.normal(size=12), rng.normal(size=12), rng.integers(0, 4, size=(1, 12))
    repeated = np.corrcoef(np.repeat(x, weights[0]), np.repeat(y, weights[0]))[0, 1]
    assert weighted_pearson(x, y)(weights.astype(float))[0] == pytest.approx(repeated)


def test_one_cluster_or_nothing_but_undefined_has_no_interval():
    assert math.isnan(bootstrap_interval(weighted_mean(np.ones(3)), ["a"] * 3, n_resamples=10, seed=1).low)
    nothing = bootstrap_interval(lambda w: np.full(len(w), np.nan), np.arange(3), n_resamples=10, seed=1)
    assert (math.isnan(nothing.low), nothing.n_undefined) == (True, 10)


@pytest.mark.parametrize("options", [{"n_resamples": 0}, {"n_resamples": 10, "level": 1.0}])
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match=r"n_resamples of at least 1|a level between 0 and 1"):
        bootstrap_interval(weighted_mean(np.ones(3)), np.arange(3), seed=1, **options)
