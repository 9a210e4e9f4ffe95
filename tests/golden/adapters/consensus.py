"""Agreement within cells and of models with themselves: `pact_agreement_*`, `pact_consensus_*`."""

from typing import Any

import pandas as pd

from evaluation.metrics import consensus as metrics
from evaluation.metrics.items import count_answers, follows_culture
from tests.golden.tables import frame

_LABELS = {"culture": "A", "preference": "B"}


def by_level(given: dict[str, Any]) -> dict[str, Any]:
    responses, params = frame(given["responses"]), given["params"]
    found = {}
    for level in params["levels"]:
        rows = responses[responses[params["by"]] == level]
        cells = count_answers(
            rows, by=params["cell"], answer="choice", culture="FOLLOW_CULTURE", preference="ALLOW_PREFERENCE"
        )
        found[level] = _agreement(cells[cells["n"] > 0])
    return found


def self_consistency(given: dict[str, Any]) -> dict[str, Any]:
    answers = frame(given["answers"])
    found: dict[str, Any] = {}
    for setting, rows in answers.groupby("setting"):
        for question in ("personal", "norm"):
            found[f"{setting}|{question}"] = _consensus(rows, question)
        for model, own in rows.groupby("model"):
            found[f"{setting}|{model}|consistency"] = _consistency(own)
    return found


def _agreement(cells: pd.DataFrame) -> dict[str, Any]:
    return {
        "n": int(cells["n"].sum()),
        "n_cells": len(cells),
        "n_singleton_cells": int((cells["n"] == 1).sum()),
        "cell_mean": metrics.modal_share(cells).value,
        "cell_mean_min2": metrics.modal_share(cells, min_n=2).value,
        "cell_mean_weighted": metrics.weighted_modal_share(cells).value,
        "pooled": metrics.pooled_modal_share(cells).value,
        "pairwise": metrics.pairwise_agreement(cells).value,
    }


def _consensus(rows: pd.DataFrame, question: str) -> dict[str, Any]:
    cells = count_answers(rows, by=["model", "item"], answer=question, **_LABELS)
    items = count_answers(rows, by=["item"], answer=question, **_LABELS)
    return {
        "consensus_by_model": {name: metrics.modal_share(own).value for name, own in cells.groupby("model")},
        "consensus_model_item_cells": metrics.modal_share(cells).value,
        "consensus_pooled_over_models": metrics.modal_share(items).value,
    }


def _consistency(rows: pd.DataFrame) -> dict[str, Any]:
    personal, norm = (follows_culture(rows[question], **_LABELS) for question in ("personal", "norm"))
    found = metrics.answer_consistency(personal, norm)
    majority = metrics.majority_consistency(personal, norm, rows["item"])
    return {"n": found.n, "row_level": found.value, "item_majority_level": majority.value}
