"""A fingerprint of the data that a report rests on."""

import hashlib
import json
from collections.abc import Mapping

import pandas as pd

from evaluation.parameters import ReportParameters


def data_fingerprint(data: Mapping[str, pd.DataFrame], parameters: ReportParameters) -> str:
    """SHA-256, in hexadecimal, of the counts in the frames and the parameters.

    Rows are sorted, and so are names in the parameters, whose order JSON does not keep: the same answers give the same
    fingerprint in every database and from every file.
    """
    digest = hashlib.sha256(json.dumps(parameters.model_dump(mode="json"), sort_keys=True).encode())
    for name, frame in sorted(data.items()):
        digest.update(f"{name}\n{_lines(frame)}".encode())
    return digest.hexdigest()


def _lines(frame: pd.DataFrame) -> str:
    rows = sorted("\t".join(str(value) for value in row) for row in frame.itertuples(index=False))
    return "\n".join([*frame.columns, *rows, ""])
