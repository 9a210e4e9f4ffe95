"""What a judge said of labelled pairs under the preferences of their annotators, from calls of a job."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evaluation.judging_report.preference_votes import judgements_frame
from evaluation.metrics.decisions import Mode, parse_decision
from protocols.json_files import read_json_lines
from protocols.pact.reading import FileFaultError

FIELDS = ("annotator", "topic", "pair", "human")
NO_ORDER: Sequence[str] = ("first", "second")


class JudgementError(ValueError):
    """A call that is no judgement of a labelled pair; the text says what it lacks."""


def judgement(
    content: Mapping[str, Any], orders: Mapping[str, Sequence[str]], text: str, *, mode: Mode
) -> dict[str, Any]:
    """The row of a judgements frame for one call about an item with this content. Raises JudgementError.

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
