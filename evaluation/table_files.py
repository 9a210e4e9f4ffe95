"""A report's table as a file."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from responses.export import csv_cell

MARKS = ("simulated", "demo-model")


def table_csv(table: Mapping[str, Any]) -> str:
    """Every column of the table, estimates in five columns each, and whether simulated or demo answers are in a row."""
    text = io.StringIO()
    writer = csv.writer(text)
    names = [name for column in table["columns"] for name in _names(column)]
    writer.writerow([csv_cell(name) for name in [*names, "simulated", "demo_model"]])
    for row in table["rows"]:
        values = [value for column in table["columns"] for value in _values(column, row["cells"][column["key"]])]
        writer.writerow([csv_cell(value) for value in [*values, *(mark in row["marks"] for mark in MARKS)]])
    return text.getvalue()


def _names(column: Mapping[str, Any]) -> Iterator[str]:
    yield column["key"]
    if column["kind"] == "estimate":
        yield from (f"{column['key']}_{part}" for part in ("low", "high", "n", "note"))


def _values(column: Mapping[str, Any], cell: Any) -> Iterator[Any]:
    if column["kind"] != "estimate":
        yield cell
    else:
        yield from (cell[part] for part in ("value", "low", "high", "n", "reason"))
