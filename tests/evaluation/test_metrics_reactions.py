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
from evaluation.metrics.reactions import attitude_ceiling, attitude_estimates, tone_ceiling, tone_deltas, tone_estimates
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


def reactions(rng: np.random.Generator, *, posts: int, each: int, skew: float = 1) -> pd.DataFrame:
    """Reactions to so many posts with tones of twelve, the more skewed the more alike."""
    tones = rng.choice(
        list("abcdefghijkl"), size=posts * each, p=np.arange(1, 13) ** skew / sum(np.arange(1, 13) ** skew)
    )
    return pd.DataFrame({"post": np.repeat([f"p{n}" for n in range(posts)], each), "tone": tones})


def test_intervals_of_coverage_and_divergence_hold_the_mean_over_samples_which_plain_percentiles_miss():
    rng, found = np.random.default_rng(3), []
    for _ in range(24):
        real, simulated = reactions(rng, posts=30, each=3), reactions(rng, posts=30, each=1, skew=0)
        found.append(tone_estimates(real, simulated, n_resamples=200, seed=1))
    for name in ("tone_coverage", "tone_divergence"):
        of_all = [one[name] for one in found]
        mean = np.mean([one.value for one in of_all])
        assert (
            np.mean([one.low <= mean <= one.high for one in of_all]) > 0.75
        )  # plain ones hold it in half of the samples
        assert all(0 <= one.low <= one.value <= one.high <= 1 for one in of_all)


def test_posts_of_a_community_are_drawn_together():
    real, simulated = (
        reactions(np.random.default_rng(3), posts=8, each=3),
        reactions(np.random.default_rng(4), posts=8, each=1),
    )
    posts = pd.Index(simulated["post"])
    alone = tone_estimates(real, simulated, seed=1)
    assert tone_estimates(real, simulated, communities=pd.Series(dtype=object), seed=1) == alone
    paired = tone_estimates(real, simulated, communities=pd.Series([0, 1] * 4, posts).astype(str), seed=1)
    assert paired["tone_exact_match"].value == alone["tone_exact_match"].value
    assert paired["tone_exact_match"].low != alone["tone_exact_match"].low
    for one in tone_estimates(real, simulated, communities=pd.Series("c", posts), seed=1).values():
        assert np.isnan(one.low)
        assert one.reason == "an interval needs two posts or communities"


def test_deltas_of_tones_are_those_of_the_posts_that_were_simulated_both_ways():
    rng = np.random.default_rng(5)
    real, blind, informed = (reactions(rng, posts=20, each=each) for each in (3, 1, 1))
    found = tone_deltas(real, blind.iloc[2:], informed.iloc[:-2], seed=1)
    first, second = (tone_exact_match(real, side.iloc[2:-2]).value for side in (blind, informed))
    assert found["tone_exact_match"].value == pytest.approx(second - first)
    assert found["tone_exact_match"].n == 16
    assert all(one.low <= one.value <= one.high for one in found.values())
    same = tone_deltas(real, blind, blind, seed=1)
    assert {(one.low, one.value, one.high) for one in same.values()} == {(0, 0, 0)}


def test_the_ceiling_of_tones_is_one_reaction_of_each_post_against_the_others():
    real = reactions(np.random.default_rng(6), posts=12, each=3)
    lonely = pd.DataFrame({"post": ["q", "r"], "tone": ["a", None]})
    found = tone_ceiling(pd.concat([real, lonely]), n_splits=60, n_resamples=100, seed=1)
    rng, drawn = np.random.default_rng(7), []
    for _ in range(60):
        held = real.groupby("post").sample(1, random_state=rng)
        others = real.drop(held.index)
        drawn.append(
            (
                tone_exact_match(others, held).value,
                tone_coverage(others, held).value,
                tone_divergence(others, held, weights="reactions").value,
                tone_divergence(others, held, weights="posts").value,
            )
        )
    assert [one.value for one in found.values()] == pytest.approx(np.mean(drawn, axis=0), abs=0.03)
    assert {one.n for one in found.values()} == {12}
    assert found["tone_coverage"].reason == "1 of 13 posts left out: fewer than two real reactions"
    assert not tone_ceiling(lonely, seed=1)["tone_divergence"].defined


def test_the_ceiling_of_attitudes_is_one_reaction_of_each_post_against_the_mean_of_the_others():
    real = pd.DataFrame({"post": list("pppqqr"), "attitude": [-1, -1, 1, 1, 1, 0]})
    found = attitude_ceiling(real, n_splits=50, seed=1)
    # p: -1 against 0 twice and 1 against -1 once, so a squared error of 2 on average; q errs by nothing.
    assert found["attitude_rmse"].value == pytest.approx(1)
    assert (found["attitude_rmse"].n, found["attitude_correlation"].n) == (2, 2)
    assert found["attitude_rmse"].reason == "1 of 3 posts left out: fewer than two real reactions"
    # With -1 drawn of p it stands below q on both sides; with 1 the drawn ones are alike.
    assert found["attitude_correlation"].value == pytest.approx(1)
    assert found["attitude_correlation"].reason.endswith("splits left out: undefined")
    assert attitude_ceiling(real.iloc[-1:], seed=1)["attitude_correlation"].reason == "no post has two real reactions"


def test_the_interval_of_a_rank_correlation_ranks_each_resample_anew(pairs):
    posts = pairs.rename(columns={"blind": "simulated"})
    found = attitude_estimates(posts, n_resamples=300, seed=2)["attitude_correlation"]
    rng = np.random.default_rng(3)
    drawn = [
        stats.spearmanr(*posts.iloc[rng.integers(0, 60, 60)][["real", "simulated"]].T.values)[0] for _ in range(300)
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.06)
