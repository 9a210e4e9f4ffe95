"""What telling a model the community changes: tests and intervals against scipy, intervals of exact fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.metrics.attitude_deltas import attitude_deltas
from evaluation.metrics.attitudes import post_attitudes
from evaluation.metrics.delta_resampling import delta_intervals, swap_tests
from evaluation.metrics.dependent_correlations import steiger_test, williams_test
from evaluation.metrics.tones import tone_coverage, tone_divergence, tone_exact_match
from evaluation.metrics.transitions import community_transitions


@pytest.fixture
def pairs():
    rng = np.random.default_rng(4)
    sides = {side: rng.integers(-1, 2, 60) for side in ("blind", "informed")}
    return pd.DataFrame({"post": range(60), "real": rng.integers(-5, 6, 60) / 5, **sides})


@pytest.mark.parametrize(("n", "bins"), [(n, 5) for n in range(1, 11)] + [(7, 7), (14, 7)])
def test_communities_are_put_into_intervals_by_exact_fractions(n, bins):
    for k in range(n + 1):
        rows = pd.DataFrame({"community": "c", "match_blind": [1] * k + [0] * (n - k), "match_informed": 1})
        (place,) = np.flatnonzero(community_transitions(rows, n_bins=bins).matrix[-1])
        assert place == min(int(Fraction(k, n) * bins), bins - 1)


def test_posts_with_a_match_on_one_side_only_are_left_out_of_transitions():
    rows = pd.DataFrame({"community": ["c", "c"], "match_blind": [1, None], "match_informed": [0, 1]})
    found = community_transitions(rows)
    assert (found.n_degraded, found.n_left_out, found.scores["n"].tolist()) == (1, 1, [1])


def test_all_swaps_are_looked_at_where_they_are_few(pairs):
    few = pairs.iloc[:9]
    real, blind, informed = (few[side].to_numpy(float) for side in ("real", "blind", "informed"))

    def rmse(x, y, axis):
        return np.sqrt(((x - real) ** 2).mean(axis=axis)) - np.sqrt(((y - real) ** 2).mean(axis=axis))

    exact = stats.permutation_test((informed, blind), rmse, permutation_type="samples", n_resamples=np.inf)
    observed = attitude_deltas(few)["delta_rmse"].value
    found = swap_tests(few, seed=1)["delta_rmse"]
    assert (found.exact, found.n_swaps) == (True, 512)
    assert found.p == np.mean(np.abs(exact.null_distribution) >= abs(observed) - 1e-9)


def test_drawn_swaps_come_close_to_all_and_communities_are_swapped_whole(pairs):
    communities = np.arange(60) % 12
    every = swap_tests(pairs, communities=communities, seed=1)
    drawn = swap_tests(pairs, communities=communities, n_swaps=4000, seed=1)
    for name, found in every.items():
        assert (found.n_swaps, found.exact, drawn[name].exact) == (4096, True, False)
        assert drawn[name].p == pytest.approx(found.p, abs=0.04)
    whole = swap_tests(pairs, communities=["c"] * 60, seed=1)
    assert {found.p for found in whole.values()} == {1.0}


def test_resampled_deltas_rank_each_resample_anew(pairs):
    rng, size = np.random.default_rng(2), 30
    drawn = [pairs.iloc[rng.integers(0, 60, 60)].assign(post=range(60)) for _ in range(size)]
    by_hand = pd.DataFrame([{name: d.value for name, d in attitude_deltas(sample).items()} for sample in drawn])
    for name, found in delta_intervals(pairs, n_resamples=size, seed=2).items():
        assert (found.low, found.high) == pytest.approx(tuple(by_hand[name].quantile([0.025, 0.975])), abs=1e-9)


def test_correlations_that_share_a_variable():
    """Equal ones differ by nothing, which comes first is the sign, and impossible ones have no test."""
    assert williams_test(0.4, 0.4, 0.2, 50).statistic == steiger_test(0.4, 0.4, 0.2, 50).statistic == 0
    assert williams_test(0.4, 0.5, 0.1, 103).statistic == pytest.approx(-0.8912799047605414)
    assert steiger_test(0.5, 0.4, 0.1, 103).statistic == pytest.approx(0.8887184699558723)
    assert np.isnan(williams_test(0.9, -0.9, 0.9, 30).p)
    assert np.isnan(steiger_test(1.0, 0.5, 0.5, 30).p)


def test_a_reaction_with_several_tones_matches_with_any():
    real = pd.DataFrame({"post": ["p", "p", "q", "r"], "tone": ["fear", "hope", "hope", None]})
    simulated = pd.DataFrame({"post": ["p", "p", "q", "s"], "tone": ["zeal", "hope", "fear", "hope"]})
    match = tone_exact_match(real, simulated)
    assert (match.value, match.n, match.reason) == (0.5, 2, "1 of 3 simulated posts left out: no tone on one side")
    assert tone_coverage(real, simulated).value == 1.0


def test_equal_distributions_do_not_diverge():
    real = pd.DataFrame({"post": range(7), "tone": list("aaabbbc")})
    assert tone_divergence(real, real, weights="reactions").value == 0


def test_attitudes_of_invalid_labels_are_left_out_and_impossible_ones_refused():
    real = pd.DataFrame({"post": ["p", "p", "q"], "attitude": [-1, None, None]})
    assert post_attitudes(real, real.assign(attitude=0)).values.tolist() == [["p", -1.0, 0.0]]
    with pytest.raises(ValueError, match="between -1 and 1; at position 0 it is 2"):
        post_attitudes(real.assign(attitude=2), real)
