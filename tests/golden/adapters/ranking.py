"""Positions, rankings and repeated runs of a judge: `sj_position_*`, `sj_ranking_*`, `sj_runs_*`."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evaluation.metrics import preference
from evaluation.metrics.ranking import (
    best_first,
    bradley_terry,
    mean_win_rates,
    pairwise_order_agreement,
    pooled_win_rates,
    rank_correlation,
    repeated_runs,
    win_rates,
)
from tests.golden.tables import frame


def by_method(given: dict[str, Any]) -> dict[str, Any]:
    choices = frame(given["choices"])
    choices["right_first"] = choices["order"] == "false"
    return {str(name): _positions(rows) for name, rows in choices.groupby("method")}


def models(given: dict[str, Any]) -> dict[str, Any]:
    battles, order = frame(given["battles"]), given["params"]["truth_order"]
    rates, means, fit = win_rates(battles), mean_win_rates(battles), bradley_terry(battles)
    return {
        "win_rate": {f"{row}|{column}": rates.loc[row, column] for row in rates for column in rates if row != column},
        "mean_win_rate": means.to_dict(),
        "pooled_win_rate": pooled_win_rates(battles).to_dict(),
        "ranking_by_mean_win_rate": means.index.tolist(),
        "bradley_terry_log_strength_centered": fit.table["strength"].to_dict() if not fit.reason else np.nan,
        "kendall_tau_vs_truth": rank_correlation(battles, reference=order, method="kendall").value,
        "spearman_vs_truth": rank_correlation(battles, reference=order, method="spearman").value,
        "pairwise_order_agreement": pairwise_order_agreement(battles, reference=order).value,
        "ranking_from_reference_model_only": best_first(rates[given["params"]["reference_model"]]).index.tolist(),
    }


def runs(given: dict[str, Any]) -> dict[str, Any]:
    return {str(topic): _runs(rows) for topic, rows in frame(given["runs"]).groupby("topic")}


def _positions(choices: pd.DataFrame) -> dict[str, Any]:
    found = preference.position_bias(choices)
    ahead = choices[choices["right_first"]]
    return {
        "n_A": found.n_first,
        "n_B": found.n_second,
        "n_invalid": found.n_invalid,
        "abs_difference": abs(found.n_first - found.n_second),
        "first_position_rate": preference.first_position_rate(choices).value,
        "binomial_p": found.binomial_p,
        "correct_order_false": found.right_ahead,
        "correct_order_true": found.right_behind,
        "abs_correct_difference": abs(found.right_ahead - found.right_behind),
        "n_pairs": found.n_pairs,
        "order_consistency": preference.swap_consistency(choices, invalid="left_out").value,
        "order_consistency_invalid_as_inconsistent": preference.swap_consistency(choices, invalid="inconsistent").value,
        "always_first": found.always_first,
        "always_second": found.always_second,
        "mcnemar_exact_p": found.mcnemar_p,
        "accuracy_both_orders": preference.two_order_accuracy(choices).value,
        "accuracy_order_false": preference.two_order_accuracy(ahead).value,
        "accuracy_right_in_both": preference.right_in_both(choices).value,
    }


def _runs(rows: pd.DataFrame) -> dict[str, Any]:
    own, baseline = (rows.loc[rows["method"] == name, "accuracy"].astype(float) for name in ("sensejudge", "baseline"))
    found = repeated_runs(own)
    margin = stats.norm.ppf(0.975) * found.sd / np.sqrt(found.mean.n)
    alone = np.isnan(found.sd)
    return {
        "mean": found.mean.value,
        "sd": found.sd,
        "t_ci95": None if alone else [found.mean.low, found.mean.high],
        "normal_ci95": None if alone else [found.mean.value - margin, found.mean.value + margin],
        "improvement": found.mean.value - baseline.mean(),
    }
