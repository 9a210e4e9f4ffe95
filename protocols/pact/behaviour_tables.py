"""The study's tables of model behaviour, by the names of its files; `decisions` is the table of `read_decisions`.

Counts of what is left out stand in each: unknown decisions beside rates, unpaired and unknown cases beside flips.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from evaluation.metrics.behaviour import ablation_deltas, decision_counts, decision_rates, level_contrast
from evaluation.metrics.flips import decision_flips, paired_answers
from evaluation.metrics.items import follows_culture
from evaluation.metrics.preference_types import preference_type
from evaluation.metrics.rates import decision_conflict, decision_entropy
from protocols.pact.decisions import CASE, DECISIONS, FAMILIES, RUN, TEXTS

Tables = dict[str, pd.DataFrame]
Run = tuple[Any, ...]

_BY = {
    "by_actor_age": ["actor_age"],
    "by_actor_gender": ["actor_gender"],
    "by_receiver_age": ["receiver_age"],
    "by_receiver_gender": ["receiver_gender"],
    "by_actor_receiver_age": ["actor_age", "receiver_age"],
    "by_actor_receiver_gender": ["actor_gender", "receiver_gender"],
    "by_base_country": ["base_country"],
    "by_demo_config": ["eval_demo_config"],
    "by_pref_config": ["eval_pref_config"],
    "by_scenario_type": ["scenario_type"],
    "by_pref_and_country": ["eval_pref_config", "base_country"],
    "by_pref_and_scenario": ["eval_pref_config", "scenario_type"],
}
_FLIPS_BY: Mapping[str, list[str]] = {
    "overall": [],
    **{name: _BY[name] for name in ("by_base_country", "by_pref_config", "by_scenario_type", "by_pref_and_scenario")},
}
_RATES = {
    "n_rows": "n_rows",
    "n_source_items": "n_source_items",
    "n": "n_valid",
    "n_culture": "n_follow_culture",
    "n_preference": "n_allow_preference",
    "n_unknown": "n_unknown_or_other",
    "culture_rate": "culture_rate_valid",
    "allow_rate": "allow_rate_valid",
    "unknown_rate": "unknown_rate_all",
}
_APPENDIX_RATES = {
    "n_rows": "n",
    "n": "valid_n",
    "n_preference": "allow",
    "n_culture": "follow",
    "n_unknown": "unknown",
    "allow_rate": "allow_rate_valid",
    "culture_rate": "culture_rate_valid",
    "unknown_rate": "unknown_rate",
}
_FLIPS = {
    "n_paired": "n",
    "left_allow_rate": "left_allow_rate",
    "right_allow_rate": "right_allow_rate",
    "allow_rate_delta_right_minus_left": "delta",
    "flip_pos_culture_to_preference": "to_preference_rate",
    "flip_neg_preference_to_culture": "to_culture_rate",
    "flip_zero_same_decision": "same_rate",
    "n_culture_to_preference": "n_culture_to_preference",
    "n_preference_to_culture": "n_preference_to_culture",
    "mcnemar_exact_p": "mcnemar_p",
    "n_unknown_pairs": "n_left_out",
}
_SIDES = [f"{side}_{name}" for name in ("prompt_condition", "model_stage", "path") for side in ("left", "right")]
_PAIR = ["pair_type", "dataset", "model_family", *_SIDES]
_VARIABILITY = ["mean_source_decision_entropy", "source_decision_conflict_rate"]
_DELTAS = ["no_demo_allow_rate", "delta_vs_no_demo_pp", "note"]
_MANIFEST = [*RUN[1:-1], "path", "file"]
_BASELINE = "no_demo"
_CONTRASTS = {"age": ("younger", "older"), "gender": ("female", "male")}
_EXAMPLES = 8
_TYPES_FILE = Path(__file__).parent / "data" / "preference_types.json"


def current_tables(decisions: pd.DataFrame) -> Tables:
    """Rates of each run overall and by factor, how its decisions vary within a source row, and flips between runs."""
    counts = decision_counts(decisions, answer="eval_decision", **DECISIONS)
    variability = pd.DataFrame(_variability(decisions))
    overall = _rates(counts, []).merge(variability, on=list(RUN))
    return {
        "manifest": decisions[_MANIFEST].drop_duplicates(),
        "overall_metrics": overall[[*_MANIFEST, *_RATES.values(), *_VARIABILITY]],
        "uncertainty_proxy_by_file": overall[[*_MANIFEST, *_VARIABILITY]],
        **{name: _rates(counts, by) for name, by in _BY.items()},
        **_flip_tables(decisions),
    }


def appendix_tables(decisions: pd.DataFrame) -> Tables:
    """Demographic ablations, kinds of preference and contrasts by model, from the study's main runs.

    Where no file is a main run, all are taken. Kinds of preference are those of the prompts with all demographics, or
    of all prompts where none has them.
    """
    rows = decisions[decisions["main"]] if decisions["main"].any() else decisions
    rows = rows.assign(model=rows["model_family"].replace(FAMILIES))
    rows = rows.join(_preference_kinds(rows))
    counts = decision_counts(rows, answer="eval_decision", **DECISIONS)
    config, demo = "eval_pref_config", "eval_demo_config"
    full = counts[counts[demo] == "full_demo"]
    by_model = _ablation(counts, ["model"])
    by_config = _ablation(counts, ["model", config])
    leading = ["model", demo, config]
    inventory = rows.groupby(["model", rows["path"].rename("file")]).size()
    examples = rows.drop_duplicates(["path", *TEXTS, "base_country", "scenario_type"])
    examples = examples.sort_values("pref_type", kind="stable").groupby("pref_type").head(_EXAMPLES)
    shown = ["personal_preference", "cultural_expectation", "situation", "base_country", "scenario_type"]
    return {
        "model_behavior_appendix_inventory": inventory.reset_index(name="rows_read"),
        "demo_ablation_model_rates": by_model.drop(columns=_DELTAS),
        "demo_ablation_model_deltas_vs_no_demo": by_model,
        "demo_ablation_by_pref_config_rates": by_config.drop(columns=_DELTAS)[[*leading, *_APPENDIX_RATES.values()]],
        "demo_ablation_by_pref_config_deltas_vs_no_demo": by_config[[*leading, *_APPENDIX_RATES.values(), *_DELTAS]],
        **{
            f"preference_{kind}_{name}model_rates_full_demo": _kind_rates(
                counts if full.empty else full, [f"pref_{kind}", *by]
            )
            for kind in ("strength", "type")
            for name, by in (("", []), ("by_pref_config_", [config]))
        },
        "preference_type_examples": examples[[*shown, "pref_type", "pref_strength"]],
        "demographic_contrasts": pd.DataFrame(_contrasts(counts)),
    }


def _rates(counts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    keys = [*RUN, *by]
    sources = counts.groupby(keys)["source_row"].nunique().reset_index(name="n_source_items")
    rates = decision_rates(counts, by=keys).merge(sources, on=keys)
    return rates.rename(columns=_RATES)[[*keys, *_RATES.values()]]


def _variability(decisions: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for run, rows in decisions.groupby(list(RUN)):
        culture = follows_culture(rows["eval_decision"], **DECISIONS)
        entropy, conflict = (rate(culture, rows["source_row"]).value for rate in (decision_entropy, decision_conflict))
        yield dict(zip((*RUN, *_VARIABILITY), (*run, entropy, conflict), strict=True))


def _flip_tables(decisions: pd.DataFrame) -> Tables:
    follows = follows_culture(decisions["eval_decision"], **DECISIONS)
    runs = {tuple(run): rows for run, rows in decisions.assign(follows=follows).groupby(list(RUN), sort=False)}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _FLIPS_BY}
    for about, left, right in _compared(list(runs)):
        pairs = paired_answers(runs[left], runs[right], keys=list(CASE), answer="follows")
        for name, by in _FLIPS_BY.items():
            rows[name] += [about | flips for flips in _flips(pairs, (runs[left], runs[right]), by)]
    return {
        f"paired_flip_{name}": pd.DataFrame(rows[name], columns=[*_PAIR, *by, *_FLIPS, "n_unpaired_cases"])
        for name, by in _FLIPS_BY.items()
    }


def _compared(runs: Sequence[Run]) -> Iterator[tuple[dict[str, str], Run, Run]]:
    """Runs that differ in one respect only: base against instruct, then no balance against balance."""
    pair_types = (
        ("base_vs_instruct", "model_stage", ("base", "instruct"), "prompt_condition"),
        ("nobalance_vs_balance", "prompt_condition", ("nobalance", "balance"), "model_stage"),
    )
    for pair_type, differing, levels, shared in pair_types:
        for left, right in product(runs, runs):
            one, other = (dict(zip(RUN, run, strict=True)) for run in (left, right))
            same = all(one[name] == other[name] for name in ("dataset", "model_family", shared))
            if same and (one[differing], other[differing]) == levels:
                sides = {f"left_{name}": value for name, value in one.items()}
                sides |= {f"right_{name}": value for name, value in other.items()}
                about = {"pair_type": pair_type, "dataset": one["dataset"], "model_family": one["model_family"]}
                yield about | {name: sides[name] for name in _SIDES}, left, right


def _flips(pairs: pd.DataFrame, sides: Sequence[pd.DataFrame], by: Sequence[str]) -> Iterator[dict[str, Any]]:
    groups: Iterable[tuple[Any, pd.DataFrame]] = pairs.groupby(list(by)) if by else [((), pairs)]
    n_cases: list[dict[Any, int]] = [side.value_counts(list(by)).to_dict() if by else {(): len(side)} for side in sides]
    for group, rows in groups:
        flips = decision_flips(rows["left"], rows["right"])
        found = {column: getattr(flips, name) for column, name in _FLIPS.items()}
        n_unpaired = sum(n[group] for n in n_cases) - 2 * len(rows)
        yield dict(zip(by, group, strict=True)) | found | {"n_unpaired_cases": n_unpaired}


def _ablation(counts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    table = ablation_deltas(counts, by=by, condition="eval_demo_config", baseline=_BASELINE)
    names = dict(zip(("baseline_allow_rate", "delta_pp", "reason"), _DELTAS, strict=True))
    table = table.rename(columns=_APPENDIX_RATES | names)
    return table[[*by, "eval_demo_config", *_APPENDIX_RATES.values(), *_DELTAS]]


def _kind_rates(counts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    table = decision_rates(counts, by=[*by, "model"]).rename(columns=_APPENDIX_RATES)
    return table[["model", *by, *_APPENDIX_RATES.values()]]


def _contrasts(counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for model, rows in counts.groupby("model"):
        for person in ("actor", "receiver"):
            for trait, (plus, minus) in _CONTRASTS.items():
                factor = f"{person}_{trait}"
                contrast = asdict(level_contrast(rows, factor=factor, plus=plus, minus=minus))
                yield {"model": model, "factor": factor, "plus": plus, "minus": minus} | contrast


def _preference_kinds(rows: pd.DataFrame) -> pd.DataFrame:
    rules, strength = _preference_rules()
    types = rows["personal_preference"].map(
        {text: preference_type(text, rules) for text in set(rows["personal_preference"])}
    )
    return pd.DataFrame({"pref_type": types, "pref_strength": types.map(strength)})


@cache
def _preference_rules() -> tuple[dict[str, list[str]], dict[str, str]]:
    found = json.loads(_TYPES_FILE.read_text(encoding="utf-8"))
    return found["rules"], found["strength"]
