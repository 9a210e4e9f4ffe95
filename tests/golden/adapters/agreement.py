"""Agreement among annotators: `iaa_*`, `iaa_pooled_*`, `unanimity_*`."""

from collections.abc import Hashable, Sequence
from typing import Any

import pandas as pd

from evaluation.metrics.agreement import (
    brennan_prediger,
    fleiss_kappa,
    observed_agreement,
    specific_agreement,
)
from evaluation.metrics.criteria import agreement_summary, criterion_agreement
from evaluation.metrics.raters import unanimity
from evaluation.metrics.ratings import category_counts, ratings_matrix
from tests.golden.tables import frame

_NAMES = {"observed_agreement": "percent_agreement", "pooled_pair_agreement": "percent_agreement_pooled_pairs"}


def coefficients(given: dict[str, Any]) -> dict[str, Any]:
    ratings = ratings_matrix(frame(given["ratings"]), item="item", rater="rater", value="value")
    return _table(ratings, given["params"]["categories"])


def pooled(given: dict[str, Any]) -> dict[str, Any]:
    long, categories = frame(given["ratings"]), given["params"]["categories"]
    units = ratings_matrix(long, item=["item", "criterion"], rater="rater", value="value")
    level = units.index.get_level_values("criterion")
    found = criterion_agreement(
        long, item="item", criterion="criterion", rater="rater", value="value", categories=categories
    )
    rated = long.dropna(subset="value")
    passing = rated["value"].eq(categories[-1]).groupby(rated["criterion"]).mean()
    return {
        "pooled": _table(units, categories),
        "per_criterion": {name: _table(units[level == name], categories) for name in level.unique()},
        "macro": {_NAMES.get(name, name): estimate.value for name, estimate in found.macro.items()},
        "share_pass_per_criterion": passing.to_dict(),
    }


def unanimous(given: dict[str, Any]) -> dict[str, Any]:
    table, categories = given["ratings"], given["params"]["categories"]
    long = _expanded(frame(table), categories) if "expand" in table else frame(table)
    ratings = ratings_matrix(long, item=["topic", "item"], rater="rater", value="choice")
    counts = category_counts(ratings, categories)
    overall = unanimity(ratings)
    topic = ratings.index.get_level_values("topic")
    return {
        "per_topic": {name: _same_and_different(ratings[topic == name]) for name in topic.unique()},
        "overall_same": round(overall.value * overall.n),
        "overall_rate": overall.value,
        "n_complete_items": overall.n,
        "percent_agreement": observed_agreement(counts).value,
        "mean_pairwise_agreement": observed_agreement(counts).value,
        "brennan_prediger": brennan_prediger(counts).value,
        "fleiss_kappa": fleiss_kappa(counts).value,
    }


def _same_and_different(ratings: pd.DataFrame) -> dict[str, Any]:
    found = unanimity(ratings)
    same = round(found.value * found.n) if found.defined else 0
    return {"same": same, "different": found.n - same, "rate": found.value}


def _table(ratings: pd.DataFrame, categories: Sequence[Hashable]) -> dict[str, Any]:
    counts = category_counts(ratings, categories)
    per_item = counts.sum(axis=1)
    values = {_NAMES.get(name, name): found.value for name, found in agreement_summary(ratings, categories).items()}
    specific = {str(name): specific_agreement(counts, category=i).value for i, name in enumerate(categories)}
    return values | {
        "n_items": int((per_item > 0).sum()),
        "n_items_two_plus": int((per_item > 1).sum()),
        "n_ratings": int(per_item.sum()),
        "n_categories": len(categories),
        "specific_agreement": specific,
    }


def _expanded(topics: pd.DataFrame, categories: Sequence[Hashable]) -> pd.DataFrame:
    """Three raters: all give the first category to unanimous items, ann1 the second to the others."""
    first, second = categories[:2]
    rows = []
    for topic, unanimous_items, split_items in topics.itertuples(index=False):
        for item in range(unanimous_items + split_items):
            answers = [first if item < unanimous_items else second, first, first]
            rows += [(topic, item, f"ann{rater}", answer) for rater, answer in enumerate(answers, start=1)]
    return pd.DataFrame(rows, columns=["topic", "item", "rater", "choice"])
