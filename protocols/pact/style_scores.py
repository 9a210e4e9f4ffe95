"""How well models answer as people do in each style of asking, from counts of answers by item. Pure code."""

from collections.abc import Sequence

import pandas as pd

from evaluation.metrics.alignment import majority_alignment, rate_mae
from evaluation.metrics.behaviour import style_deltas
from evaluation.metrics.items import items_frame

CELL = ["item", "question"]
COUNTS = ("n_people", "n_culture_people", "n_model", "n_culture_model")


def style_scores(people: pd.DataFrame, models: pd.DataFrame, *, styles: Sequence[str], baseline: str) -> pd.DataFrame:
    """A row for each style and metric, as `behaviour.style_deltas`; metrics are `majority_alignment` and `rate_mae`.

    `people` has a row for each item and question, `models` for each style, model, item and question, both with the
    answers `n` and those that follow culture, `n_culture`. Items that one side did not answer do not enter.
    """
    rows = []
    for (style, model), own in models.groupby(["style", "model"]):
        both = people.merge(own, on=CELL, suffixes=("_people", "_model"))
        items = items_frame(*(both[name].tolist() for name in COUNTS))
        rows += [(style, model, metric.__name__, metric(items).value) for metric in (majority_alignment, rate_mae)]
    values = pd.DataFrame(rows, columns=["style", "model", "metric", "value"])
    return style_deltas(values, styles=styles, baseline=baseline)


def words(scores: pd.DataFrame) -> list[str]:
    """The rows as sentences, for styles that were asked in."""
    columns = ["style", "metric", "mean_over_models", "delta_points", "reason"]
    asked = scores.loc[scores["n_models"] > 0, columns]
    return [
        f"{style}: {str(metric).replace('_', ' ')} {mean:.3f}" + ("" if reason else f" ({delta:+.1f} points)")
        for style, metric, mean, delta, reason in asked.itertuples(index=False, name=None)
    ]
