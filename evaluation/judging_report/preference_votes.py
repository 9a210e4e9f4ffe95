"""What a judge said of labelled pairs under the preferences of the people who labelled them, as votes and choices.

A *judgements frame* has one row a verdict: `annotator`, `topic`, `pair`, `preference` (its id, empty for none) and
`preference_topic` (where it comes from), `right_first` (whether the response that the person chose was shown first),
`choice` (A, B or missing where the text decides for neither) and `missing` (whether there is no text at all).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluation.metrics.votes import majority_votes

COLUMNS = ("annotator", "topic", "pair", "preference", "preference_topic", "right_first", "choice", "missing")


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Votes of every preference on pairs in both orders, as `evaluation.metrics.votes` takes them, and their counts."""

    votes: NDArray[np.float64]
    right_first: NDArray[np.bool_]
    n_missing: int
    n_unparsed: int
    n_other_topics: int


def judgements_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as a frame, which has its columns without any row too."""
    return pd.DataFrame.from_records(list(rows), columns=list(COLUMNS))


def judged_pairs(frame: pd.DataFrame, preferences: Sequence[str], *, n_other: int = 0) -> JudgedPairs:
    """The judgements of one annotator on one topic as votes, with a column for each of the preferences.

    A text that decides for neither is a wrong vote, a missing one none. Rows are in the order of pair and order.
    `n_other`: how many calls of other topics and annotators were left out before.
    """
    right = frame["choice"] == np.where(frame["right_first"], "A", "B")
    vote = right.astype(float).where(~frame["missing"])
    table = frame.assign(vote=vote).pivot(index=["pair", "right_first"], columns="preference", values="vote")
    table = table.reindex(columns=list(preferences))
    return JudgedPairs(
        votes=table.to_numpy(dtype=float),
        right_first=table.index.get_level_values("right_first").to_numpy(dtype=bool),
        n_missing=int(table.isna().sum().sum()),
        n_unparsed=int((frame["choice"].isna() & ~frame["missing"] & frame["preference"].isin(preferences)).sum()),
        n_other_topics=n_other,
    )


def shown_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """The `pair` and `right_first` of each row of `judged_pairs`."""
    return frame[["pair", "right_first"]].drop_duplicates().sort_values(["pair", "right_first"], ignore_index=True)


def voted_choices(frame: pd.DataFrame, preferences: Sequence[str]) -> pd.DataFrame:
    """The majority votes under these preferences as a choices frame of `evaluation.metrics.preference`.

    A pair and order on which none of them has a text has no row.
    """
    judged, shown = judged_pairs(frame, preferences), shown_pairs(frame)
    votes = majority_votes(judged.votes, judged.right_first)
    choices = pd.DataFrame(
        {"item": shown["pair"], "right_first": judged.right_first.astype(int), "choice": votes["decision"]}
    )
    return choices[votes["voted"].to_numpy()]
