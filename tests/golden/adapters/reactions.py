"""Reactions of communities: `care_tone_*`, `care_attitude_*`, `care_significance_*`, `care_transitions_*`."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evaluation.metrics.attitude_deltas import attitude_deltas, error_tests, paired_attitudes
from evaluation.metrics.attitudes import (
    attitude_correlation,
    attitude_mae,
    attitude_mean_error,
    attitude_rmse,
    attitude_shares,
    post_attitudes,
)
from evaluation.metrics.delta_resampling import swap_tests
from evaluation.metrics.dependent_correlations import steiger_test, williams_test
from evaluation.metrics.tones import scored_tones, tone_coverage, tone_divergence, tone_exact_match
from evaluation.metrics.transitions import community_transitions
from tests.golden.tables import frame

_CONDITIONS = ("blind", "informed")


def tones(given: dict[str, Any]) -> dict[str, Any]:
    real, simulated = frame(given["real"]), frame(given["simulated"])
    found = {}
    for split, posts in given["params"]["splits"].items():
        own = real[real["post"].isin(posts)]
        sides = {name: _tones(own, simulated[simulated["condition"] == name]) for name in _CONDITIONS}
        delta = {name: sides["informed"][name] - sides["blind"][name] for name in ("tem", "tc", "jsd_bits")}
        found[split] = {**sides, "delta": delta}
    return found


def attitudes(given: dict[str, Any]) -> dict[str, Any]:
    real, simulated = frame(given["real"]), frame(given["simulated"])
    sides = {name: simulated[simulated["condition"] == name] for name in _CONDITIONS}
    posts = {name: post_attitudes(real, side) for name, side in sides.items()}
    shares = {"real": real, **sides}
    return {
        "all": _attitudes(posts),
        "neg": _attitudes({name: table[table["real"] < 0] for name, table in posts.items()}),
        "non_neg": _attitudes({name: table[table["real"] >= 0] for name, table in posts.items()}),
        "attitude_distribution": {
            name: {str(label): share for label, share in attitude_shares(side["attitude"]).items()}
            for name, side in shares.items()
        },
    }


def significance(given: dict[str, Any]) -> dict[str, Any]:
    if "correlations" in given:
        rows = frame(given["correlations"]).itertuples(index=False)
        return {f"row{number}": _correlations(*row) for number, row in enumerate(rows)}
    simulated = frame(given["simulated"])
    posts = [post_attitudes(frame(given["real"]), simulated[simulated["condition"] == name]) for name in _CONDITIONS]
    pairs = paired_attitudes(*posts)
    community = pairs["post"].map(frame(given["clusters"]).set_index("post")["community"])
    # Every pattern where that is feasible, as the expected values are exact.
    few = community.nunique() <= 16
    swaps = swap_tests(pairs, communities=community, n_swaps=2**16 if few else 100, seed=1)
    rho = [attitude_correlation(side).value for side in posts]
    between = attitude_correlation(pairs.rename(columns={"real": "truth", "blind": "real", "informed": "simulated"}))
    paired = error_tests(pairs)
    return {
        "n": len(pairs),
        **{name: delta.value for name, delta in attitude_deltas(pairs).items()},
        "exact_swap_p": {name: found.p for name, found in swaps.items()},
        "n_swaps": swaps["delta_rmse"].n_swaps,
        "n_defined": {name: found.n_defined for name, found in swaps.items()},
        "scipy_two_sided_delta_abs_me": _doubled_tail(pairs) if few else np.nan,
        "signed_error_paired_t": _both(paired["signed_t"]),
        "signed_error_wilcoxon_p": paired["signed_wilcoxon"].p,
        "squared_error_paired_t": _both(paired["squared_t"]),
        "squared_error_wilcoxon_p": paired["squared_wilcoxon"].p,
        "rho_informed": rho[1],
        "rho_blind": rho[0],
        "rho_between": between.value,
        "williams": _both(williams_test(rho[1], rho[0], between.value, len(pairs))),
        "steiger": _both(steiger_test(rho[1], rho[0], between.value, len(pairs))),
    }


def transitions(given: dict[str, Any]) -> dict[str, Any]:
    found = community_transitions(frame(given["matches"]), n_bins=round(1 / given["params"]["bin_width"]))
    return {
        "matrix_rows_informed_cols_blind": found.matrix.tolist(),
        "community_scores": found.scores[["blind", "informed"]].to_dict("index"),
        "n_improved": found.n_improved,
        "n_equal": found.n_equal,
        "n_degraded": found.n_degraded,
        "n_diagonal": found.n_diagonal,
    }


def _tones(real: pd.DataFrame, simulated: pd.DataFrame) -> dict[str, Any]:
    own, other = (set(side["tone"]) for side in scored_tones(real, simulated))
    bits = tone_divergence(real, simulated, weights="reactions").value
    return {
        "n": tone_exact_match(real, simulated).n,
        "tem": tone_exact_match(real, simulated).value,
        "tc": tone_coverage(real, simulated).value,
        "n_unique_real": len(own),
        "n_unique_sim": len(other),
        "unseen_tones": sorted(other - own),
        "jsd_bits": bits,
        "jsd_nats": bits * np.log(2),
        "js_distance_base2": np.sqrt(bits),
        "jsd_post_weighted_bits": tone_divergence(real, simulated, weights="posts").value,
    }


def _attitudes(posts: dict[str, pd.DataFrame]) -> dict[str, Any]:
    deltas = attitude_deltas(paired_attitudes(posts["blind"], posts["informed"]))
    return {name: _side(side) for name, side in posts.items()} | {name: delta.value for name, delta in deltas.items()}


def _side(posts: pd.DataFrame) -> dict[str, Any]:
    return {
        "n": len(posts),
        "rmse": attitude_rmse(posts).value,
        "me": attitude_mean_error(posts).value,
        "mae": attitude_mae(posts).value,
        "spearman": attitude_correlation(posts).value,
    }


def _doubled_tail(pairs: pd.DataFrame) -> float:
    real, blind, informed = (pairs[name].to_numpy(dtype=float) for name in ("real", "blind", "informed"))

    def statistic(x: Any, y: Any, axis: int) -> Any:
        return abs((x - real).mean(axis=axis)) - abs((y - real).mean(axis=axis))

    test = stats.permutation_test((informed, blind), statistic, permutation_type="samples", n_resamples=np.inf)
    return float(test.pvalue)


def _correlations(first: float, second: float, between: float, n: int) -> dict[str, float]:
    williams, steiger = williams_test(first, second, between, n), steiger_test(first, second, between, n)
    return {
        "williams_t": williams.statistic,
        "williams_p": williams.p,
        "steiger_z": steiger.statistic,
        "steiger_p": steiger.p,
    }


def _both(test: Any) -> list[float]:
    return [test.statistic, test.p]
