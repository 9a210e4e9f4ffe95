"""Tables of answers as files: CSV and JSON lines piece by piece, Parquet and Excel into a file, in constant memory.

CSV cells that a spreadsheet would run as a formula get a leading apostrophe; numbers stay numbers. The other formats
hold every text as it is.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.db.models import QuerySet

from projects.models import Project, User
from projects.services import audit
from responses.export_columns import Column, Type, codebook_row
from responses.export_table import Choices, ExportError, Table
from responses.models import Response
from responses.workbook import WorkbookLimitError, write_workbook

GROUP_ROWS = 5000
GROUP_ROWS_WITH_TEXTS = 500
BOM = "\ufeff"
ALL_DEFAULTS = Choices()
# Full-width signs start a formula too where spreadsheets are set to East Asian languages.
_FORMULA = re.compile("\ufeff*[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_PARQUET: dict[Type, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "list": pa.list_(pa.string()),
    "json": pa.string(),
}


@dataclass(frozen=True, slots=True)
class FileKind:
    """A format: its name for people, and whether it is text, which can be sent while it is made."""

    title: str
    content_type: str
    is_text: bool


FORMATS: dict[str, FileKind] = {
    "csv": FileKind("CSV", "text/csv; charset=utf-8", True),
    "jsonl": FileKind("JSON lines", "application/x-ndjson", True),
    "parquet": FileKind("Parquet", "application/vnd.apache.parquet", False),
    "xlsx": FileKind("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", False),
}


def csv_cell(value: Any) -> str:
    """The value as the text of a CSV cell: None is empty, lists and objects are JSON, formulas are neutralised.

    >>> csv_cell("=1+1"), csv_cell(-2.5), csv_cell("-2.5"), csv_cell(True), csv_cell(["a", "b"])
    ("'=1+1", '-2.5', '-2.5', 'true', '["a", "b"]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


class _Echo:
    """A file for csv.writer whose write gives the text back."""

    def write(self, text: str) -> str:
        return text


def export_responses(
    *,
    project: Project,
    answers: QuerySet[Response],
    format: str,
    filters: str,
    by: User | None,
    choices: Choices = ALL_DEFAULTS,
) -> Table:
    """The table to be written, after the audit log says who took which answers; `filters` is the page's query string.

    Raises ExportError for choices that do not fit the answers.
    """
    table = Table(project, answers, choices)
    audit(project=project, user=by, action="responses exported", format=format, filters=filters or "none")
    return table


def write_table(file: IO[bytes], table: Table, format: str) -> None:
    """The table as Parquet or as a workbook of Excel. Raises ExportError for what Excel does not take."""
    if format == "parquet":
        _write_parquet(file, table)
    else:
        _write_excel(file, table)


def table_lines(table: Table, format: str, *, bom: bool = False) -> Iterator[str]:
    """The table as CSV or JSON lines, piece by piece. Every row has the same columns."""
    names = [column.name for column in table.columns]
    if format == "jsonl":
        for values in table.rows():
            yield json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n"
        return
    if bom:
        yield BOM
    writer = csv.writer(_Echo())
    yield writer.writerow([csv_cell(name) for name in names])
    for values in table.rows():
        yield writer.writerow([csv_cell(value) for value in values])


def codebook_lines(columns: Sequence[Column], format: str) -> Iterator[str]:
    """What each column holds, as CSV or as one JSON list."""
    rows = [codebook_row(column) for column in columns]
    if format == "json":
        yield json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
        return
    writer = csv.writer(_Echo())
    yield writer.writerow(codebook_row(Column("", "text", "")))
    for row in rows:
        yield writer.writerow([csv_cell(value) for value in row.values()])


def _write_parquet(file: IO[bytes], table: Table) -> None:
    schema = pa.schema([(column.name, _PARQUET[column.type]) for column in table.columns])
    rows, size = table.rows(), GROUP_ROWS_WITH_TEXTS if table.choices.item_fields else GROUP_ROWS
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(rows, size)):
            columns = zip(table.columns, zip(*group, strict=True), strict=True)
            arrays = [
                pa.array([_typed(value, column.type) for value in values], _PARQUET[column.type])
                for column, values in columns
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _typed(value: Any, type: Type) -> Any:
    """The value as its column's type in Parquet has it."""
    if value is None or type in ("integer", "boolean", "list"):
        return value
    if type == "number":
        return float(value)
    return datetime.fromisoformat(value) if type == "time" else _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_excel(file: IO[bytes], table: Table) -> None:
    """Raises ExportError for what does not fit."""

    def rows() -> Iterator[list[Any]]:
        yield [column.name for column in table.columns]
        for row in table.rows():
            yield [_as_text(cell) if isinstance(cell, list | dict) else cell for cell in row]

    try:
        write_workbook(file, rows())
    except WorkbookLimitError as error:
        raise ExportError(str(error)) from error
