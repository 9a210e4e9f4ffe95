"""Models ranked by what a judge says under preferences of several people, against a ranking that people made."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evaluation.metrics.ranking import (
    bradley_terry,
    mean_win_rates,
    pairwise_order_agreement,
    rank_correlation,
    win_rates,
)
from evaluation.metrics.votes import majority_votes
from protocols.sense.judgements import judged_pairs

PREFERENCES_EACH = 5  # of each annotator and topic
# SenseJudge, section 4.2.2: the human leaderboard, best first.
REFERENCE = ("deepseek-r1", "claude-3-7-sonnet", "gpt-4o", "qwen2.5-72b-instruct", "gpt-3.5")


def drawn_preferences(ids: Mapping[tuple[str, str], Sequence[str]], *, each: int, seed: int) -> dict[str, list[str]]:
    """So many preferences of each annotator, or all there are, by topic. `ids`: by annotator and topic.

    >>> drawn_preferences({("ann", "math"): ["p1"], ("bob", "math"): ["p2", "p3"]}, each=1, seed=1)["math"][0]
    'p1'
    """
    found: dict[str, list[str]] = {}
    for (annotator, topic), own in sorted(ids.items()):
        drawn = random.Random(f"{seed}/{annotator}/{topic}").sample(sorted(own), min(each, len(own)))
        found.setdefault(topic, []).extend(sorted(drawn))
    return found


def battles(frame: pd.DataFrame, models: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """A battles frame of `evaluation.metrics.ranking`: one row a pair and order, won by the majority of preferences.

    `frame` is a judgements frame in which the first model's response counts as chosen; `models`: the two by pair.
    """
    parts = []
    for _, own in frame.groupby("topic"):
        judged = judged_pairs(own, sorted(own["preference"].unique()))
        pairs = own[["pair", "right_first"]].drop_duplicates().sort_values(["pair", "right_first"])["pair"]
        votes = majority_votes(judged.votes, judged.right_first)
        part = pd.DataFrame({"pair": pairs.to_numpy(), "won": votes["right"]})[votes["voted"].to_numpy()]
        parts.append(part)
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["pair", "won"])
    return pd.DataFrame(
        {
            "left": [models[pair][0] for pair in table["pair"]],
            "right": [models[pair][1] for pair in table["pair"]],
            "winner": ["left" if won else "right" for won in table["won"]],
        }
    )


def against(table: pd.DataFrame, anchor: str) -> pd.DataFrame:
    """The battles with this model."""
    return table[(table["left"] == anchor) | (table["right"] == anchor)]


def ranking_rows(table: pd.DataFrame, anchor: str) -> list[dict[str, Any]]:
    """One row a model, best mean win rate first: that, its strength (Bradley-Terry), and its win rate against the
    anchor, which has none itself."""
    strengths: dict[Any, dict[str, Any]] = bradley_terry(table).table.to_dict("index")  # type: ignore[assignment]
    with_anchor = win_rates(against(table, anchor)) if anchor else pd.DataFrame()
    return [
        {
            "model": model,
            "battles": int((table[["left", "right"]] == model).sum().sum()),
            "mean_win_rate": rate,
            **strengths[model],
            "against_anchor": with_anchor[anchor].get(model) if anchor in with_anchor else None,
        }
        for model, rate in mean_win_rates(table).items()
    ]


def agreement_rows(table: pd.DataFrame, reference: Sequence[str], anchor: str) -> list[dict[str, Any]]:
    """How well the ranking by all battles, and by those with the anchor alone, agrees with the reference."""
    return [
        {
            "ranking": name,
            "models": tau.n,
            "kendall": tau.value,
            "spearman": rank_correlation(battled, reference=ranked, method="spearman").value,
            "order_agreement": pairwise_order_agreement(battled, reference=reference).value,
        }
        for name, battled, ranked in (
            ("all battles", table, list(reference)),
            ("against one model", against(table, anchor), [model for model in reference if model != anchor]),
        )
        for tau in [rank_correlation(battled, reference=ranked, method="kendall")]
    ]
