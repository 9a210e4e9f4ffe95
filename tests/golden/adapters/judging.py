"""Preference judging: `sj_parse_*`, `sj_vote_*`, `sj_subset_*`."""

from typing import Any

import numpy as np
import pandas as pd

from evaluation.metrics.decisions import parse_decision
from evaluation.metrics.subsets import score_subsets, select_subsets
from evaluation.metrics.votes import majority_votes
from tests.golden.tables import frame


def parsing(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _parsed(text) for name, text in frame(given["outputs"]).itertuples(index=False)}


def votes(given: dict[str, Any]) -> dict[str, Any]:
    table = _by_preference(frame(given["votes"]), ["item", "order"])
    items, orders = (table.index.get_level_values(level) for level in ("item", "order"))
    found = majority_votes(table, orders == "false").assign(item=items, order=orders)
    names = {"right": "is_correct", "tie": "is_tie", "voted": "has_votes"}
    return {row["item"]: row for row in found.rename(columns=names).to_dict("records")}


def selection(given: dict[str, Any]) -> dict[str, Any]:
    table = _by_preference(frame(given["votes"]), ["split", "item", "order"])
    table = table.reindex(columns=range(given["params"]["n_preferences"]))
    parts = dict(iter(table.groupby(level="split")))
    dev, test = ((part, part.index.get_level_values("order") == "false") for part in (parts["dev"], parts["test"]))
    most = select_subsets(*dev, rule="paper").max_denominator
    found = {name: _selected(dev, test, penalty) for name, penalty in (("plain", False), ("penalty", True))}
    return {**found, "dev_denominator_max": most}


def _selected(dev: tuple[Any, Any], test: tuple[Any, Any], penalty: bool) -> dict[str, Any]:
    released = select_subsets(*dev, rule="released", difference_penalty=penalty)
    paper = select_subsets(*dev, rule="paper", difference_penalty=penalty)
    score = score_subsets(*test, released.subsets, inverted=released.strategy == "inverted_worst")
    return {
        "strategy": released.strategy,
        "best_metric": released.best_metric,
        "inverted_worst_metric": released.inverted_worst_metric,
        "n_selected": len(released.subsets),
        "selected": _numbers(released.subsets),
        "test_mean_correct": score.mean_right,
        "test_mean_denominator": score.mean_denominator,
        "test_score_pct": 100 * score.accuracy.value,
        "forward_selected": _numbers(paper.subsets),
        "forward_test_score_pct": 100 * score_subsets(*test, paper.subsets).accuracy.value,
        "smallest_first_subset": _numbers(paper.subsets)[0],
        "smallest_first_test_score_pct": 100 * score_subsets(*test, paper.subsets[:1]).accuracy.value,
    }


def _parsed(text: str) -> dict[str, Any]:
    return {
        "official_regex": parse_decision(text, mode="released"),
        "strict_contains_A": "The final decision is Response A." in text,
        "strict_contains_B": "The final decision is Response B." in text,
        "strict_decision": parse_decision(text, mode="strict"),
    }


def _by_preference(votes: pd.DataFrame, row: list[str]) -> pd.DataFrame:
    return votes.set_index([*row, "pref"])["correct"].astype(float).unstack("pref")


def _numbers(subsets: Any) -> list[list[int]]:
    return [np.flatnonzero(members).tolist() for members in subsets]
