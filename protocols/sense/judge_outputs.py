"""Reads what a judge wrote about pairs of responses, in the layout of SenseJudge's authors."""

from pathlib import Path
from typing import Any

import numpy as np

from evaluation.judging_report.preference_votes import JudgedPairs
from evaluation.metrics.decisions import Mode, parse_decision
from protocols.json_files import read_json_list
from protocols.pact.reading import FileFaultError

_FALSE, _TRUE = "reverse_False", "reverse_True"


def read_judged_pairs(path: Path, *, topic: str, mode: Mode) -> JudgedPairs:
    """The verdicts of a file whose chosen responses are shown first, and of the one beside it with the orders reversed.

    Both hold a JSON list of rows with `dataset`, which ends in a colon and the topic, and `outputs`: one for each
    preference, null where there is none. A text that cannot be read is a wrong vote. Rows of other topics are left out.
    Raises FileFaultError for files that are not like this.
    """
    if _FALSE not in path.name:
        raise FileFaultError(
            path, f"its name must contain {_FALSE}: the file in which the chosen responses come first."
        )
    parts = [
        _read_order(path, topic=topic, right="A", mode=mode),
        _read_order(path.with_name(path.name.replace(_FALSE, _TRUE)), topic=topic, right="B", mode=mode),
    ]
    widths = [part.votes.shape[1] for part in parts]
    if len(set(widths)) > 1:
        raise FileFaultError(path, f"it has {widths[0]} outputs a row, its reverse {widths[1]}.", column="outputs")
    return JudgedPairs(
        votes=np.concatenate([part.votes for part in parts]),
        right_first=np.concatenate([part.right_first for part in parts]),
        n_missing=sum(part.n_missing for part in parts),
        n_unparsed=sum(part.n_unparsed for part in parts),
        n_other_topics=sum(part.n_other_topics for part in parts),
    )


def _read_order(path: Path, *, topic: str, right: str, mode: Mode) -> JudgedPairs:
    rows = list(enumerate(read_json_list(path), start=1))
    topics = [_topic(path, number, row) for number, row in rows]
    if topic not in topics:
        raise FileFaultError(path, f"no row is of the topic {topic}; there are {', '.join(sorted(set(topics)))}.")
    own = [(number, row) for (number, row), name in zip(rows, topics, strict=True) if name == topic]
    table = _filled(path, {number: _texts(path, number, row["outputs"]) for number, row in own})
    decisions = [[None if text is None else parse_decision(text, mode=mode) for text in row] for row in table]
    missing = np.array([[text is None for text in row] for row in table])
    unparsed = np.array([[decision is None for decision in row] for row in decisions]) & ~missing
    correct = np.array([[decision == right for decision in row] for row in decisions])
    return JudgedPairs(
        votes=np.where(missing, np.nan, correct),
        right_first=np.full(len(table), right == "A"),
        n_missing=int(missing.sum()),
        n_unparsed=int(unparsed.sum()),
        n_other_topics=len(rows) - len(own),
    )


def _topic(path: Path, number: int, row: Any) -> str:
    for column in ("dataset", "outputs"):
        if not isinstance(row, dict) or column not in row:
            raise FileFaultError(path, "the row lacks it.", row=number, column=column)
    if not isinstance(row["dataset"], str):
        raise FileFaultError(path, "it must be a text.", row=number, column="dataset")
    return str(row["dataset"]).rpartition(":")[2]


def _texts(path: Path, number: int, outputs: Any) -> list[str | None]:
    """The text of each output, None where there is none; an empty list for a row without outputs."""
    if not isinstance(outputs, list | None):
        raise FileFaultError(path, "it must be a list or null.", row=number, column="outputs")
    texts: list[str | None] = []
    for position, output in enumerate(outputs or []):
        text = output.get("output", output) if isinstance(output, dict) else output
        if not isinstance(text, str | None):
            column = f"outputs[{position}]"
            raise FileFaultError(path, 'it must be null or have a text as "output".', row=number, column=column)
        texts.append(text)
    return texts


def _filled(path: Path, texts: dict[int, list[str | None]]) -> list[list[str | None]]:
    """The rows with one element for each preference, all None for a row without outputs."""
    width = max(map(len, texts.values()))
    if not width:
        raise FileFaultError(path, "no row of the topic has an output.", column="outputs")
    for number, row in texts.items():
        if len(row) not in (0, width):
            what = f"here are {len(row)}, elsewhere {width}; give one for each preference, null where it is missing."
            raise FileFaultError(path, what, row=number, column="outputs")
    return [row or [None] * width for row in texts.values()]
