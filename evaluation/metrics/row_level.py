"""Alignment as PACT's published scripts compute it: over model answers instead of items."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .checks import columns_present, joined
from .items import check_labels, counted_units, follows_culture
from .result import Estimate

NO_PEOPLE = "no answer belongs to an item that people answered"


@dataclass(frozen=True, slots=True)
class RowLevelAlignment:
    """`n` of each estimate counts model answers: all that have humans for the majority, valid ones for the others."""

    majority_alignment: Estimate
    rate_mae: Estimate
    signed_culture_gap: Estimate
    n_invalid: int


def row_level_alignment(
    human: pd.DataFrame, answers: pd.DataFrame, *, answer: str, culture: str, preference: str
) -> RowLevelAlignment:
    """Compare each model answer with the culture rate h of all people on its item.

    `human` comes from `count_answers(by=["item"])`; `answers` has one row per model answer, with `item` and the column
    named by `answer`. Answers to items without humans are left out. The majority compares the label exactly as it is
    written, so an invalid or lower-case answer is a miss; the mean of abs(y - h), in [0, 1], and the mean of y - h, in
    [-1, 1], normalise it and leave invalid answers out. Undefined without answers. With several answers an item,
    `rate_mae` here is at least the item-level one.
    Source: the `section5_metrics` script published with PACT.

    >>> human = pd.DataFrame({"item": ["x"], "n": [4], "n_culture": [3]})
    >>> model = pd.DataFrame({"item": ["x", "x", "x", "y"], "answer": ["A", "a", "?", "A"]})
    >>> result = row_level_alignment(human, model, answer="answer", culture="A", preference="B")
    >>> result.majority_alignment.n, result.rate_mae.value, result.n_invalid
    (3, 0.25, 1)
    """
    check_labels(culture, preference)
    counted_units(human, ["item"], what="The human counts")
    columns_present(answers, list(dict.fromkeys(["item", answer])), what="The answers frame")
    with_people = human.loc[human["n"] > 0, ["item", "n", "n_culture"]]
    given = pd.DataFrame({"item": answers["item"], "given": answers[answer]})
    rows = joined(given, with_people, on=["item"], what="Comparing answers with people")
    if rows.empty:
        nothing = Estimate.undefined(NO_PEOPLE)
        return RowLevelAlignment(nothing, nothing, nothing, 0)
    majority = np.where(2 * rows["n_culture"] >= rows["n"], culture, preference)
    same = (rows["given"] == majority).to_numpy(dtype=np.float64)
    chosen = follows_culture(rows["given"], culture=culture, preference=preference)
    error = (chosen - rows["n_culture"] / rows["n"]).dropna().to_numpy(dtype=np.float64)
    n_invalid = len(rows) - error.size
    note = f"{n_invalid} of {len(rows)} answers left out: invalid" if n_invalid else ""
    if not error.size:
        invalid = Estimate.undefined(note)
        return RowLevelAlignment(Estimate(float(same.mean()), len(rows)), invalid, invalid, n_invalid)
    return RowLevelAlignment(
        Estimate(float(same.mean()), len(rows)),
        Estimate(float(np.abs(error).mean()), error.size, reason=note),
        Estimate(float(error.mean()), error.size, reason=note),
        n_invalid,
    )
