"""Intervals of the numbers on simulated reactions, and their human ceiling: what one more person would reach.

Reactions come as in `tones` and `attitudes`, with one row per reaction. `communities`, where they are known, has the
community of each post in an index of posts: posts of one community are drawn together, a post without one alone.
Intervals are 95 % percentile bootstrap intervals. With fewer than two posts or communities there is none, and `reason`
says so.

A resample repeats posts, so it has fewer different tones than the sample, and distributions that are farther apart. The
percentiles of coverage and of divergences are therefore moved until the mean of the resamples is the value.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import rel_entr

from .attitudes import attitude_correlation, attitude_mean_error, attitude_rmse, post_attitudes
from .checks import at_least_one, generator
from .delta_resampling import NO_INTERVAL, weighted_spearman
from .resampling import FloatArray, Statistic, bootstrap_interval, weighted_mean
from .result import Estimate, mean_of_defined
from .tones import scored_tones, tone_coverage, tone_divergence, tone_exact_match

Estimates = dict[str, Estimate]
Seed = int | np.random.Generator
OfCounts = Callable[[FloatArray, FloatArray], FloatArray]

MOVED = ("tone_coverage", "tone_divergence", "tone_divergence_posts")
NO_OTHER = "no post has two real reactions"


def tone_estimates(
    real: pd.DataFrame,
    simulated: pd.DataFrame,
    *,
    communities: pd.Series | None = None,
    n_resamples: int = 2000,
    seed: Seed,
) -> Estimates:
    """`tone_exact_match`, `tone_coverage`, `tone_divergence` and `tone_divergence_posts`, with intervals.

    Of the divergences the first has every reaction alike, the second every post.

    >>> real = pd.DataFrame({"post": ["p", "q", "r"], "tone": ["fear", "hope", "hope"]})
    >>> found = tone_estimates(real, real.assign(tone="hope"), seed=1)["tone_exact_match"]
    >>> (found.low, round(found.value, 4), found.high)
    (0.0, 0.6667, 1.0)
    """
    counts = _counts(*scored_tones(real, simulated))
    return _with_intervals(
        _tone_points(real, simulated),
        _tone_statistics(*counts),
        _clusters(counts[0].index, communities),
        n_resamples,
        seed,
    )


def tone_deltas(
    real: pd.DataFrame,
    blind: pd.DataFrame,
    informed: pd.DataFrame,
    *,
    communities: pd.Series | None = None,
    n_resamples: int = 2000,
    seed: Seed,
) -> Estimates:
    """The numbers of `tone_estimates`, informed less blind, on posts with real reactions that were simulated both ways.

    >>> real = pd.DataFrame({"post": ["p", "q", "r"], "tone": ["fear", "hope", "hope"]})
    >>> round(tone_deltas(real, real.assign(tone="hope"), real, seed=1)["tone_exact_match"].value, 4)
    0.3333
    """
    own, first = scored_tones(real, blind)
    own, second = scored_tones(own, informed)
    first = first[first["post"].isin(second["post"])]
    before, after = _tone_points(own, first), _tone_points(own, second)
    counts = _counts(own, first, second)
    of_before, of_after = (_tone_statistics(counts[0], side) for side in counts[1:])

    def difference(name: str) -> Statistic:
        return lambda weights: of_after[name](weights) - of_before[name](weights)

    points = {name: replace(after[name], value=after[name].value - before[name].value) for name in after}
    statistics = {name: difference(name) for name in points}
    clusters = _clusters(counts[0].index, communities)
    return _with_intervals(points, statistics, clusters, n_resamples, seed, lowest=-1)


def attitude_estimates(
    posts: pd.DataFrame, *, communities: pd.Series | None = None, n_resamples: int = 2000, seed: Seed
) -> Estimates:
    """`attitude_rmse`, `attitude_mean_error` and `attitude_correlation` of a posts frame with intervals.

    >>> posts = pd.DataFrame({"post": range(4), "real": [-1, -1, 0, 1], "simulated": [-1, 0, 0, 0]})
    >>> found = attitude_estimates(posts, seed=1)["attitude_rmse"]
    >>> 0 <= found.low < found.value < found.high <= 1
    True
    """
    points = {
        "attitude_rmse": attitude_rmse(posts),
        "attitude_mean_error": attitude_mean_error(posts),
        "attitude_correlation": attitude_correlation(posts),
    }
    real, simulated = (posts[side].to_numpy(dtype=np.float64) for side in ("real", "simulated"))
    codes = np.stack([np.unique(side, return_inverse=True)[1] for side in (real, simulated)])

    def correlation(weights: FloatArray) -> FloatArray:
        first, second = np.broadcast_to(codes[:, None], (2, *weights.shape))
        return weighted_spearman(first, second, weights)

    statistics = {
        "attitude_rmse": _root(weighted_mean((simulated - real) ** 2)),
        "attitude_mean_error": weighted_mean(simulated - real),
        "attitude_correlation": correlation,
    }
    return _with_intervals(points, statistics, _clusters(pd.Index(posts["post"]), communities), n_resamples, seed)


def tone_ceiling(
    real: pd.DataFrame,
    *,
    communities: pd.Series | None = None,
    n_splits: int = 50,
    n_resamples: int = 2000,
    seed: Seed,
) -> Estimates:
    """Every number of `tone_estimates` for one real reaction of each post against the post's others.

    One reaction, because a model gives one: the numbers are those of a model that reacts as one more person does, but
    for being held against one reaction less. Coverage and divergences are means over random splits, also in each
    resample; the exact match is the mean over all splits there are. `n` counts posts with two reactions or more; the
    others are left out. A reaction with several tones counts as several.

    >>> real = pd.DataFrame({"post": ["p", "p", "p", "q", "q"], "tone": ["fear", "fear", "hope", "hope", "hope"]})
    >>> round(tone_ceiling(real, seed=1)["tone_exact_match"].value, 4)
    0.8333
    """
    at_least_one(n_splits, what="n_splits")
    rng = generator(seed)
    own, _ = scored_tones(real, real)
    (counts,) = _counts(own)
    left_out = int((counts.sum(axis=1) < 2).sum())
    counts = counts[counts.sum(axis=1) > 1]
    table, given = counts.to_numpy(dtype=np.float64), counts.sum(axis=1).to_numpy(dtype=np.float64)
    held = [_one_of_each(table, rng) for _ in range(n_splits)]

    def mean(of: OfCounts, others: FloatArray) -> Statistic:
        return lambda weights: np.mean(
            [of(weights * others @ table - weights * others @ one, weights @ one) for one in held], axis=0
        )

    statistics = {
        "tone_exact_match": weighted_mean((table * (table > 1)).sum(axis=1) / given),
        "tone_coverage": mean(_covered, np.ones_like(given)),
        "tone_divergence": mean(_divergence, np.ones_like(given)),
        "tone_divergence_posts": mean(_divergence, 1 / (given - 1)),
    }
    return _with_intervals(
        _ceiling_points(statistics, len(counts), left_out),
        statistics,
        _clusters(counts.index, communities),
        n_resamples,
        rng,
    )


def attitude_ceiling(
    real: pd.DataFrame,
    *,
    communities: pd.Series | None = None,
    n_splits: int = 50,
    n_resamples: int = 2000,
    seed: Seed,
) -> Estimates:
    """`attitude_rmse` and `attitude_correlation` of one real reaction of each post against the mean of its others.

    As `tone_ceiling`: the squared error is the mean over all splits there are, the correlation that over random ones,
    without an interval. People's mean error is 0 by its nature.

    >>> real = pd.DataFrame({"post": ["p", "p", "q", "q"], "attitude": [-1, 0, 1, 1]})
    >>> round(attitude_ceiling(real, seed=1)["attitude_rmse"].value, 4)
    0.7071
    """
    at_least_one(n_splits, what="n_splits")
    rng, posts = generator(seed), post_attitudes(real, real).set_index("post")
    own = real.dropna(subset="attitude")[["post", "attitude"]].astype({"attitude": "float64"})
    of_post = own.groupby("post")["attitude"]
    own["others"] = (of_post.transform("sum") - own["attitude"]) / (of_post.transform("size") - 1).where(
        lambda n: n > 0
    )
    own = own.dropna()
    squared = own.assign(squared=(own["attitude"] - own["others"]) ** 2).groupby("post")["squared"].mean()
    statistics = {"attitude_rmse": _root(weighted_mean(squared.to_numpy(dtype=np.float64)))}
    points = _ceiling_points(statistics, len(squared), len(posts) - len(squared))
    found = _with_intervals(points, statistics, _clusters(squared.index, communities), n_resamples, rng)
    if own.empty:
        return found | {"attitude_correlation": found["attitude_rmse"]}
    splits = (own.groupby("post").sample(1, random_state=rng) for _ in range(n_splits))
    each = [attitude_correlation(split.rename(columns={"others": "real", "attitude": "simulated"})) for split in splits]
    return found | {"attitude_correlation": replace(mean_of_defined(each, what="splits"), n=len(squared))}


def _tone_points(real: pd.DataFrame, simulated: pd.DataFrame) -> Estimates:
    return {
        "tone_exact_match": tone_exact_match(real, simulated),
        "tone_coverage": tone_coverage(real, simulated),
        "tone_divergence": tone_divergence(real, simulated, weights="reactions"),
        "tone_divergence_posts": tone_divergence(real, simulated, weights="posts"),
    }


def _tone_statistics(real: pd.DataFrame, simulated: pd.DataFrame) -> dict[str, Statistic]:
    """Of two tables of counts with the same posts and tones."""
    own, other = (side.to_numpy(dtype=np.float64) for side in (real, simulated))
    own_shares, other_shares = (side / side.sum(axis=1, keepdims=True) for side in (own, other))
    matched: FloatArray = np.any((own > 0) & (other > 0), axis=1).astype(np.float64)
    return {
        "tone_exact_match": weighted_mean(matched),
        "tone_coverage": lambda weights: _covered(weights @ own, weights @ other),
        "tone_divergence": lambda weights: _divergence(weights @ own, weights @ other),
        "tone_divergence_posts": lambda weights: _divergence(weights @ own_shares, weights @ other_shares),
    }


def _counts(*sides: pd.DataFrame) -> list[pd.DataFrame]:
    """Of each side how often each tone stands at each post; all have the same posts and tones."""
    found = [pd.crosstab(side["post"], side["tone"]) for side in sides]
    tones = sorted(set().union(*(table.columns for table in found)))
    return [table.reindex(index=found[0].index, columns=tones, fill_value=0) for table in found]


def _covered(own: FloatArray, other: FloatArray) -> FloatArray:
    """The share of the tones of each row of `own` that `other` has as well."""
    there = own > 0
    shares: FloatArray = (there & (other > 0)).sum(axis=1) / there.sum(axis=1)
    return shares


def _divergence(own: FloatArray, other: FloatArray) -> FloatArray:
    """In bits, of the distributions that each row of both is proportional to."""
    p, q = (np.maximum(side, 0) / side.sum(axis=1, keepdims=True) for side in (own, other))
    middle = (p + q) / 2
    bits: FloatArray = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
    return bits


def _one_of_each(counts: FloatArray, rng: np.random.Generator) -> sparse.csr_array:
    """One random reaction of each post, as a table like `counts`."""
    upto = counts.cumsum(axis=1)
    drawn = rng.integers(counts.sum(axis=1)[:, None].astype(np.int64))
    places = (np.arange(len(counts)), (upto <= drawn).sum(axis=1))
    return sparse.csr_array((np.ones(len(counts)), places), shape=counts.shape)


def _root(statistic: Statistic) -> Statistic:
    return lambda weights: np.sqrt(statistic(weights))


def _clusters(posts: pd.Index, communities: pd.Series | None) -> pd.Series:
    """What is drawn together, for each of the posts."""
    alone = posts.to_series()
    return alone if communities is None else communities.reindex(posts).fillna(alone)


def _ceiling_points(statistics: Mapping[str, Statistic], n: int, left_out: int) -> Estimates:
    if not n:
        return dict.fromkeys(statistics, Estimate.undefined(NO_OTHER))
    reason = f"{left_out} of {n + left_out} posts left out: fewer than two real reactions" if left_out else ""
    once = np.ones((1, n))
    return {name: Estimate(float(of(once)[0]), n, reason=reason) for name, of in statistics.items()}


def _with_intervals(
    points: Estimates,
    statistics: Mapping[str, Statistic],
    clusters: pd.Series,
    n_resamples: int,
    seed: Seed,
    *,
    lowest: float = 0,
) -> Estimates:
    """`lowest`: of the numbers whose percentiles are moved; their highest value is 1."""
    draws = int(generator(seed).integers(2**63))  # all intervals come from the same resamples

    def with_interval(name: str, point: Estimate) -> Estimate:
        if not point.defined:
            return point
        around = point.value if name in MOVED else None
        found = bootstrap_interval(statistics[name], clusters, n_resamples=n_resamples, seed=draws, around=around)
        low, high = found.low, found.high
        if name in MOVED:
            low, high = max(low, lowest), min(high, 1.0)
        why = NO_INTERVAL if np.isnan(found.low) else ""
        if found.n_undefined and not why:
            why = f"{found.n_undefined} of {n_resamples} resamples left out: undefined"
        return replace(point, low=low, high=high, reason="; ".join(filter(None, [point.reason, why])))

    return {name: with_interval(name, point) for name, point in points.items()}
