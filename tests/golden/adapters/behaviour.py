"""What models decide: `pact_flips_*`, `pact_option_position_*`, `pact_ablation_*`, `pact_prompt_style_*` and
`pact_preference_type_*`.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from evaluation.metrics import alignment
from evaluation.metrics.behaviour import (
    ablation_deltas,
    decision_counts,
    level_contrast,
    macro_rates,
    style_deltas,
)
from evaluation.metrics.flips import decision_flips, option_position_audit, paired_answers
from evaluation.metrics.items import count_answers, follows_culture, pair_counts
from evaluation.metrics.preference_types import preference_type
from tests.golden.tables import frame

_DECISIONS = {"culture": "FOLLOW_CULTURE", "preference": "ALLOW_PREFERENCE"}
_LETTERS = {"culture": "A", "preference": "B"}
_CONTRASTS = {"actor_age": ("younger", "older"), "actor_gender": ("female", "male")}


def flips(given: dict[str, Any]) -> dict[str, Any]:
    left, right = (
        frame(given[side]).assign(follows=lambda table: follows_culture(table["eval_decision"], **_DECISIONS))
        for side in ("left", "right")
    )
    pairs = paired_answers(left, right, keys=given["params"]["keys"], answer="follows").dropna()
    if pairs.empty:
        return {"overall": None, "by_config": None}
    configs = {f"by_config|{name}": _flips(rows) for name, rows in pairs.groupby("eval_pref_config")}
    return {"overall": _flips(pairs)} | configs


def option_position(given: dict[str, Any]) -> dict[str, Any]:
    answers = frame(given["answers"])
    # The letter that is culture depends on where culture was shown.
    first = answers["culture_position"].eq("A")
    chosen = follows_culture(answers["choice"], **_LETTERS)
    answers = answers.assign(first=first.astype(float), chosen=chosen.where(first, 1 - chosen))
    return {"|".join(map(str, names)): _audit(rows) for names, rows in answers.groupby(["model", "question"])}


def ablation(given: dict[str, Any]) -> dict[str, Any]:
    counts = decision_counts(frame(given["decisions"]), answer="decision", **_DECISIONS)
    baseline = given["params"]["baseline"]
    demo = ablation_deltas(counts, by=["model"], condition="demo_config", baseline=baseline)
    by_config = ablation_deltas(counts, by=["model", "pref_config"], condition="demo_config", baseline=baseline)
    prompts = ablation_deltas(counts, by=["model"], condition="prompt", baseline="nobalance")
    macro = macro_rates(counts, by=["model", "prompt"], over="dataset")
    return {
        "demo": _deltas(demo, ["model", "demo_config"]),
        "demo_pref": _deltas(by_config, ["model", "demo_config", "pref_config"]),
        "balance": {
            model: {
                "allow_balance": _at(rows, "balance", "allow_rate"),
                "allow_nobalance": _at(rows, "nobalance", "allow_rate"),
                "delta_pp": _at(rows, "balance", "delta_pp"),
                "dataset_macro": {
                    prompt: _at(macro[macro["model"] == model], prompt, "allow_rate")
                    for prompt in ("balance", "nobalance")
                },
            }
            for model, rows in prompts.groupby("model")
        },
        "contrast": {factor: _contrast(counts, factor, *levels) for factor, levels in _CONTRASTS.items()},
    }


def prompt_style(given: dict[str, Any]) -> dict[str, Any]:
    human, model, params = frame(given["human"]), frame(given["model"]), given["params"]
    answers = count_answers(model, by=["style", "model", "item"], answer="choice", **_LETTERS)
    cells = {
        (style, name): _style_cell(human.astype({"n": int, "n_culture": int}), rows)
        for (style, name), rows in answers.groupby(["style", "model"])
    }
    long = [(*cell, metric, value) for cell, metrics in cells.items() for metric, value in metrics.items()]
    values = pd.DataFrame(long, columns=["style", "model", "metric", "value"])
    deltas = style_deltas(values, styles=params["styles"], baseline=params["baseline"])
    return {
        "cells": {"|".join(map(str, cell)): metrics for cell, metrics in cells.items()},
        "styles": {style: _style(rows) for style, rows in deltas.groupby("style")},
    }


def preference_types(given: dict[str, Any]) -> dict[str, Any]:
    rules, strength = dict(given["params"]["rules"]), given["params"]["strength"]
    types = {item: preference_type(text, rules) for item, text in frame(given["items"]).itertuples(index=False)}
    return {item: {"pref_type": name, "pref_strength": strength[name]} for item, name in types.items()}


def _flips(pairs: pd.DataFrame) -> dict[str, Any]:
    found = decision_flips(pairs["left"], pairs["right"])
    return {
        "n_paired": found.n,
        "left_allow_rate": found.left_allow_rate,
        "right_allow_rate": found.right_allow_rate,
        "allow_rate_delta_right_minus_left": found.delta,
        "flip_pos_culture_to_preference": found.to_preference_rate,
        "flip_neg_preference_to_culture": found.to_culture_rate,
        "flip_zero_same_decision": found.same_rate,
        "n_culture_to_preference": found.n_culture_to_preference,
        "n_preference_to_culture": found.n_preference_to_culture,
        "mcnemar_exact_p": found.mcnemar_p,
    }


def _audit(rows: pd.DataFrame) -> dict[str, Any]:
    found = option_position_audit(rows["chosen"], rows["first"], rows["item"])
    return {
        "n_valid": found.n,
        "valid_rate": found.n / (found.n + found.n_left_out),
        "culture_rate_when_A": found.culture_rate_first,
        "culture_rate_when_B": found.culture_rate_second,
        "delta_pp": found.delta_pp,
        "n_pairs": found.n_pairs,
        "swap_consistency": found.swap_consistency,
        "always_first": found.n_always_first,
        "always_second": found.n_always_second,
        "mcnemar_exact_p": found.mcnemar_p,
        "first_position_rate": found.first_position_rate,
    }


def _deltas(table: pd.DataFrame, names: Sequence[str]) -> dict[str, Any]:
    keys = ["|".join(map(str, key)) for key in table[names].itertuples(index=False)]
    columns = {"n": "valid_n", "allow_rate": "allow_rate", "delta_pp": "delta_vs_no_demo_pp"}
    return dict(zip(keys, table[list(columns)].rename(columns=columns).to_dict("records"), strict=True))


def _at(rows: pd.DataFrame, prompt: str, column: str) -> float:
    return float(rows.set_index("prompt")[column].get(prompt, float("nan")))


def _contrast(counts: pd.DataFrame, factor: str, plus: str, minus: str) -> dict[str, Any]:
    found = level_contrast(counts, factor=factor, plus=plus, minus=minus)
    return {name: getattr(found, name) for name in ("rate_plus", "rate_minus", "delta_pp", "chi2", "p", "cramers_v")}


def _style_cell(human: pd.DataFrame, answers: pd.DataFrame) -> dict[str, float]:
    items = pair_counts(human, answers[["item", "n", "n_culture"]], on=["item"])
    return {
        "majority_alignment": alignment.majority_alignment(items).value,
        "rate_mae_item": alignment.rate_mae(items).value,
        "culture_rate": answers["n_culture"].sum() / answers["n"].sum() if answers["n"].sum() else float("nan"),
    }


def _style(rows: pd.DataFrame) -> dict[str, Any] | None:
    if rows["mean_over_models"].isna().all():
        return None
    return {
        metric: {"mean_over_models": mean, "delta_vs_baseline_points": delta}
        for metric, mean, delta in zip(rows["metric"], rows["mean_over_models"], rows["delta_points"], strict=True)
    }
