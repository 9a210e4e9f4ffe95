"""What a judge said of labelled pairs under the preferences of their annotators, from calls of a job.

A *judgements frame* has one row a call: `annotator`, `topic`, `pair`, `preference` (its id, empty for none) and
`preference_topic` (where it comes from), `right_first` (whether the response that the person chose was shown first),
`choice` (A, B or missing where the text decides for neither) and `missing` (whether there is no text at all).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evaluation.metrics.decisions import Mode, parse_decision
from evaluation.metrics.votes import majority_votes
from protocols.json_files import read_json_lines
from protocols.pact.reading import FileFaultError
from protocols.sense.judge_outputs import JudgedPairs

FIELDS = ("annotator", "topic", "pair", "human")
COLUMNS = ("annotator", "topic", "pair", "preference", "preference_topic", "right_first", "choice", "missing")
NO_ORDER: Sequence[str] = ("first", "second")


class JudgementError(ValueError):
    """A call that is no judgement of a labelled pair; the text says what it lacks."""


def judgement(
    content: Mapping[str, Any], orders: Mapping[str, Sequence[str]], text: str, *, mode: Mode
) -> dict[str, Any]:
    """The frame's row for one call about an item with this content. Raises JudgementError.

    `orders`: option codes as shown by question, of which there is one; none is the order as written. `human` in the
    content says which response the person chose, `first` or `second`.
    """
    if lacking := [name for name in FIELDS if name not in content]:
        raise JudgementError(f"the item has no {', '.join(lacking)}; give calls of a job that judges labelled pairs.")
    shown = next(iter(orders.values()), NO_ORDER)
    return {
        "annotator": content["annotator"],
        "topic": content["topic"],
        "pair": content["pair"],
        "preference": content.get("preference_id", ""),
        "preference_topic": content.get("preference_topic", content["topic"]),
        "right_first": shown[0] == content["human"],
        "choice": parse_decision(text, mode=mode) if text else None,
        "missing": not text,
    }


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


def voted_choices(frame: pd.DataFrame, preferences: Sequence[str]) -> pd.DataFrame:
    """The majority votes under these preferences as a choices frame of `evaluation.metrics.preference`.

    A pair and order on which none of them has a text has no row.
    """
    judged = judged_pairs(frame, preferences)
    index = frame[["pair", "right_first"]].drop_duplicates().sort_values(["pair", "right_first"])
    votes = majority_votes(judged.votes, judged.right_first)
    choices = pd.DataFrame(
        {"item": index["pair"].to_numpy(), "right_first": judged.right_first.astype(int), "choice": votes["decision"]}
    )
    return choices[votes["voted"].to_numpy()]


def plain_choices(frame: pd.DataFrame) -> pd.DataFrame:
    """Judgements without preference as a choices frame; a missing text has no row."""
    said = frame[~frame["missing"]]
    return pd.DataFrame(
        {"item": said["pair"], "right_first": said["right_first"].astype(int), "choice": said["choice"]}
    )


def read_judged_calls(path: Path, *, topic: str, annotator: str, mode: Mode) -> tuple[pd.DataFrame, int]:
    """The judgements of one annotator on one topic from a job's exported calls, and how many calls are of others.

    `annotator` may be empty where the file has one. Raises FileFaultError for a file that is not like this.
    """
    frame = judgements_frame(_exported(path, mode))
    own = frame[frame["topic"] == topic]
    if own.empty:
        there = ", ".join(sorted(frame["topic"].unique())) or "none"
        raise FileFaultError(path, f"no call is of the topic {topic}; there are {there}.")
    people = sorted(own["annotator"].unique())
    if annotator not in people and (annotator or len(people) > 1):
        raise FileFaultError(path, f"name one of its annotators with --annotator: {', '.join(people)}.")
    own = own[own["annotator"] == (annotator or people[0])]
    twice = own.duplicated(["pair", "preference", "right_first"])
    if twice.any():
        what = "a pair stands there twice in the same order and under the same preference; export one job."
        raise FileFaultError(path, what, row=int(own.index[twice][0]) + 1)
    return own, len(frame) - len(own)


def _exported(path: Path, mode: Mode) -> Iterator[dict[str, Any]]:
    for number, call in read_json_lines(path):
        if lacking := [name for name in ("item_content", "orders", "text") if name not in call]:
            what = f"the call has no {', '.join(lacking)}; export the job's calls again."
            raise FileFaultError(path, what, row=number)
        try:
            yield judgement(call["item_content"], call["orders"], call["text"], mode=mode)
        except JudgementError as error:
            raise FileFaultError(path, str(error), row=number) from error
