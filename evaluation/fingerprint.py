"""A fingerprint of the data that a report rests on."""

import hashlib
from collections.abc import Iterable

import pandas as pd

from evaluation.frames import Frames
from evaluation.parameters import AlignmentParameters


def data_fingerprint(frames: Frames, parameters: AlignmentParameters) -> str:
    """SHA-256, in hexadecimal, of the counts in the frames and the parameters.

    Rows are sorted and database ids left out, so the same answers give the same fingerprint in every database.
    """
    digest = hashlib.sha256(parameters.model_dump_json().encode())
    digest.update("\n".join(frames.items).encode())
    pairs = frames.pairs.drop(columns="respondent")
    answers = (frames.people, frames.models, frames.persons, frames.outcomes, pairs)
    tables = (*answers, frames.filters, frames.calls, frames.versions)
    for lines in map(_lines, tables):
        digest.update(lines.encode())
    return digest.hexdigest()


def _lines(frame: pd.DataFrame) -> str:
    rows: Iterable[str] = sorted("\t".join(str(value) for value in row) for row in frame.itertuples(index=False))
    return "\n".join([*frame.columns, *rows, ""])
