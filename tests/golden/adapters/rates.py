"""Rates, entropy and conflict of model decisions: `pact_rates_*`."""

from typing import Any

import pandas as pd

from evaluation.metrics.items import follows_culture
from evaluation.metrics.rates import choice_rate, decision_conflict, decision_entropy, unknown_rate
from tests.golden.tables import frame


def by_model(given: dict[str, Any]) -> dict[str, Any]:
    return {str(name): _rates(rows) for name, rows in frame(given["decisions"]).groupby("model")}


def _rates(rows: pd.DataFrame) -> dict[str, Any]:
    culture = follows_culture(rows["eval_decision"], culture="FOLLOW_CULTURE", preference="ALLOW_PREFERENCE")
    allow = choice_rate(1 - culture)
    return {
        "n_rows": len(rows),
        "n_source_items": rows["source_row"].nunique(),
        "n_valid": allow.n,
        "n_follow_culture": int((culture == 1).sum()),
        "n_allow_preference": int((culture == 0).sum()),
        "n_unknown_or_other": int(culture.isna().sum()),
        "culture_rate_valid": choice_rate(culture).value,
        "allow_rate_valid": allow.value,
        "unknown_rate_all": unknown_rate(culture).value,
        "mean_source_decision_entropy": decision_entropy(culture, rows["source_row"]).value,
        "source_decision_conflict_rate": decision_conflict(culture, rows["source_row"]).value,
        "allow_rate_wilson95": [allow.low, allow.high],
    }
