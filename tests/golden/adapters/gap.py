"""The norm-personal gap: `pact_gap_*`."""

from typing import Any

import pandas as pd

from evaluation.metrics.gap import norm_personal_gap
from evaluation.metrics.items import follows_culture
from tests.golden.tables import frame


def by_group(given: dict[str, Any]) -> dict[str, Any]:
    responses = frame(given["responses"])
    groups = {name: responses[responses["respondent_country"] == name] for name in given["params"]["groups"]}
    return {name: _gap(rows) for name, rows in ({"overall": responses} | groups).items()}


def _gap(rows: pd.DataFrame) -> dict[str, Any]:
    personal, norm = (
        1 - follows_culture(rows[question], culture="FOLLOW_CULTURE", preference="ALLOW_PREFERENCE")
        for question in ("personal", "norm")
    )
    found = norm_personal_gap(personal, norm, respondents=rows["respondent"])
    return {
        "n_personal": found.n_personal,
        "n_norm": found.n_norm,
        "p_pers": found.personal_allow_rate,
        "p_norm": found.norm_allow_rate,
        "gap": found.gap,
        "n_pairs": found.paired.n,
        "n_personal_only_allow": found.n_personal_only,
        "n_norm_only_allow": found.n_norm_only,
        "paired_gap": found.paired.value,
        "wald_se_paired": found.wald_se,
        "cluster_se": found.cluster_se,
        "cluster_ci95": [found.paired.low, found.paired.high],
        "mcnemar_exact_p": found.mcnemar_p,
    }
