"""Tables of golden files as frames."""

from typing import Any

import pandas as pd


def frame(table: dict[str, Any]) -> pd.DataFrame:
    """The columns and rows as written: no column changes its type because a value is missing."""
    return pd.DataFrame(table["rows"], columns=table["columns"], dtype=object)
