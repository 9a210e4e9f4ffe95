"""A fingerprint of the data that a report rests on."""

import hashlib
from collections.abc import Mapping

import pandas as pd

from evaluation.parameters import ReportParameters


def data_fingerprint(data: Mapping[str, pd.DataFrame], parameters: ReportParameters) -> str:
    """SHA-256, in hexadecimal, of the counts in the frames and the parameters.

    Rows are sorted, so the same answers give the same fingerprint in every database.
    """
    digest = hashlib.sha256(parameters.model_dump_json().encode())
    for name, frame in sorted(data.items()):
        digest.update(f"{name}\n{_lines(frame)}".encode())
    return digest.hexdigest()


def _lines(frame: pd.DataFrame) -> str:
    rows = sorted("\t".join(str(value) for value in row) for row in frame.itertuples(index=False))
    return "\n".join([*frame.columns, *rows, ""])
