"""Alignment of models with people: `pact_alignment_*`, `pact_uncertainty_*`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evaluation.metrics import alignment as metrics
from evaluation.metrics.items import count_answers, item_rates, pair_counts
from evaluation.metrics.persona import subgroup_alignment
from evaluation.metrics.result import Estimate
from evaluation.metrics.row_level import row_level_alignment
from evaluation.metrics.uncertainty import (
    contested_model_agreement,
    human_agreement,
    model_agreement,
    uncertainty_correlation,
)
from tests.golden.tables import frame

_CELL = ["country", "demo"]


def by_model_and_setting(given: dict[str, Any]) -> dict[str, Any]:
    labels = {"culture": given["params"]["culture_label"], "preference": given["params"]["preference_label"]}
    human = frame(given["human"]).rename(columns={"respondent_country": "country", "respondent_demo": "demo"})
    model = frame(given["model"]).rename(columns={"persona_country": "country", "persona_demo": "demo"})
    found: dict[str, Any] = {}
    for (name, setting), answers in model.groupby(["model", "setting"]):
        compare = _with_persona if setting == "persona" else _without_persona
        for question in ("personal", "norm"):
            found[f"{name}|{setting}|{question}"] = compare(human, answers, {"answer": question, **labels})
    return found


def uncertainty(given: dict[str, Any]) -> dict[str, Any]:
    items = frame(given["items"])
    rates = item_rates(items)
    return {
        "u": dict(zip(items["item"], rates.human_agreement.tolist(), strict=True)),
        "v": dict(zip(items["item"], rates.model_agreement.tolist(), strict=True)),
        "mean_human_agreement": human_agreement(items).value,
        "mean_model_agreement": model_agreement(items).value,
        "pearson": uncertainty_correlation(items, method="pearson").value,
        "spearman": uncertainty_correlation(items, method="spearman").value,
        "kendall_tau_b": uncertainty_correlation(items, method="kendall").value,
        "mean_model_agreement_low_human": contested_model_agreement(items).value,
    }


def _without_persona(human: pd.DataFrame, answers: pd.DataFrame, question: dict[str, str]) -> dict[str, Any]:
    people = count_answers(human, by=["item"], **question)
    items = pair_counts(people, count_answers(answers, by=["item"], **question), on=["item"])
    rows = row_level_alignment(people, answers, **question)
    majority = metrics.majority_alignment(items)
    return {
        "n_items": majority.n,
        "n_invalid": rows.n_invalid,
        "human_culture_rate_items": metrics.human_culture_rate(items).value,
        "model_culture_rate_items": metrics.model_culture_rate(items).value,
        "majority_alignment": majority.value,
        "rate_mae_item": metrics.rate_mae(items).value,
        "rate_abs_diff_of_means": metrics.rate_abs_diff_of_means(items).value,
        "signed_culture_gap": metrics.signed_culture_gap(items).value,
        "signed_preference_gap": metrics.signed_preference_gap(items).value,
        "mae_floor_binary": metrics.rate_mae_floor(items).value,
        "official_row_level": {
            "majority_choice_alignment": rows.majority_alignment.value,
            "distributional_mae": rows.rate_mae.value,
            "signed_culture_rate_gap": rows.signed_culture_gap.value,
        },
    }


def _with_persona(human: pd.DataFrame, answers: pd.DataFrame, question: dict[str, str]) -> dict[str, Any]:
    people = count_answers(human, by=["item"], **question)
    items = pair_counts(people, count_answers(answers, by=["item"], **question), on=["item"])
    rows = row_level_alignment(people, answers, **question)
    by_cell = [count_answers(side, by=[*_CELL, "item"], **question) for side in (human, answers)]
    subgroups = subgroup_alignment(*by_cell, cell=_CELL)
    return {
        "subgroups": {"|".join(map(str, cell)): _subgroup(found) for cell, found in subgroups.cells.items()},
        "subgroup_mean_majority_alignment": subgroups.means["majority_alignment"].value,
        "subgroup_mean_rate_mae": subgroups.means["rate_mae"].value,
        "subgroup_mean_signed_culture_gap": subgroups.means["signed_culture_gap"].value,
        "overall_rate_mae_item": metrics.rate_mae(items).value,
        "overall_rate_mae_row": rows.rate_mae.value,
        "overall_majority_alignment_item": metrics.majority_alignment(items).value,
        "overall_majority_alignment_row": rows.majority_alignment.value,
        "overall_signed_culture_gap": metrics.signed_culture_gap(items).value,
        "uncertainty_pearson": uncertainty_correlation(items, method="pearson").value,
        "uncertainty_spearman": uncertainty_correlation(items, method="spearman").value,
    }


def _subgroup(found: Mapping[str, Estimate]) -> dict[str, Any] | None:
    if not found["majority_alignment"].defined:
        return None
    return {
        "n_items": found["majority_alignment"].n,
        "majority_alignment": found["majority_alignment"].value,
        "rate_mae_item": found["rate_mae"].value,
        "signed_culture_gap": found["signed_culture_gap"].value,
    }
