"""What people answer, as tables of one row a group: the norm-personal gap, their agreement, and what explains it.

`people` is the table of `answers.read_people`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from evaluation.metrics import consensus
from evaluation.metrics.deviance import clustered_p_values, drop_one_deviance
from evaluation.metrics.gap import norm_personal_gap
from evaluation.metrics.items import count_answers, follows_culture
from protocols.pact.answers import LABELS, QUESTIONS

Row = dict[str, Any]

MAIN_EFFECTS = "main effects"
_GROUPS = ("country", "relation", "demo", "scenario_country")
_FACTORS: Mapping[str, Sequence[str]] = {
    "scenario_country": ["scenario_country"],
    "participant_country": ["country"],
    "country_relation": ["relation"],
    "participant_demographics": ["age", "gender"],
    "receiver_demographics": ["receiver_age", "receiver_gender"],
}
_INTERACTION: Mapping[str, Sequence[str]] = {
    "participant_x_receiver_demographics": ["age:receiver_age", "gender:receiver_gender"],
}


def gap_rows(people: pd.DataFrame) -> Iterator[Row]:
    """Allow rates and their difference for everybody and each group; intervals let answers of a person depend."""
    for by, group, rows in _groups(people):
        personal, norm = (1 - follows_culture(rows[question], **LABELS) for question in QUESTIONS)
        found = norm_personal_gap(personal, norm, respondents=rows["respondent"])
        yield {
            "by": by,
            "group": group,
            "n_personal": found.n_personal,
            "n_norm": found.n_norm,
            "p_personal": found.personal_allow_rate,
            "p_norm": found.norm_allow_rate,
            "gap": found.gap,
            "n_pairs": found.paired.n,
            "paired_gap": found.paired.value,
            "paired_gap_low": found.paired.low,
            "paired_gap_high": found.paired.high,
            "mcnemar_p": found.mcnemar_p,
            "n_left_out_personal": len(rows) - found.n_personal,
            "n_left_out_norm": len(rows) - found.n_norm,
            "note": "; ".join(dict.fromkeys(filter(None, [found.reason, found.paired.reason]))),
        }


def agreement_rows(people: pd.DataFrame) -> Iterator[Row]:
    """Agreement within cells of item x demographic group, for each group and question.

    `pooled` is that of one rate over all answers of the group, as in the paper's figure 6B; it can order groups
    differently from `cell_mean`, the definition of its text.
    """
    for by, group, rows in _groups(people):
        for question in QUESTIONS:
            counted = count_answers(rows, by=["item", "demo"], answer=question, **LABELS)
            cells = counted[counted["n"] > 0]
            found = {
                "cell_mean": consensus.modal_share(cells),
                "cell_mean_min2": consensus.modal_share(cells, min_n=2),
                "cell_mean_weighted": consensus.weighted_modal_share(cells),
                "pairwise": consensus.pairwise_agreement(cells),
                "pooled": consensus.pooled_modal_share(cells),
            }
            yield {
                "by": by,
                "group": group,
                "question": question,
                "n": int(cells["n"].sum()),
                "n_cells": len(cells),
                "n_cells_of_one": int((cells["n"] == 1).sum()),
                **{name: estimate.value for name, estimate in found.items()},
                "n_left_out": len(rows) - int(cells["n"].sum()),
                "note": "; ".join(dict.fromkeys(estimate.reason for estimate in found.values() if estimate.reason)),
            }


def deviance_rows(people: pd.DataFrame, *, n_resamples: int, seed: int) -> Iterator[Row]:
    """Drop-one deviances of each question: of main effects only, and with participant x receiver demographics.

    `p` takes answers to be independent, `p_clustered` lets those of one respondent depend on each other.
    """
    for question in QUESTIONS:
        answers = people.assign(follow=follows_culture(people[question], **LABELS))
        for model, factors in ((MAIN_EFFECTS, _FACTORS), ("with interaction", {**_FACTORS, **_INTERACTION})):
            fit: dict[str, Any] = {"outcome": "follow", "factors": factors, "marginality": "type_ii"}
            found = drop_one_deviance(answers, **fit)
            clustered = clustered_p_values(answers, clusters="respondent", n_resamples=n_resamples, seed=seed, **fit)
            for name, factor in found.factors.items():
                yield {
                    "question": question,
                    "model": model,
                    "factor": name,
                    "nobs": found.n,
                    "full_deviance": found.deviance,
                    "full_df": found.df_model,
                    "drop_deviance": factor.drop_in_deviance,
                    "df": factor.df,
                    "p": factor.p,
                    "q": factor.q,
                    "p_clustered": clustered[name].value,
                    "n_separated": found.n_separated,
                    "n_left_out": found.n_left_out,
                    "note": factor.reason,
                }


def _groups(people: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    yield "all", "all", people
    for column in _GROUPS:
        for group, rows in people.groupby(column):
            yield column, str(group), rows
