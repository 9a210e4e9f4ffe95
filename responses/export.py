"""Tables of answers as files: CSV and JSON lines piece by piece, Parquet and Excel into a file, in constant memory.

CSV cells that a spreadsheet would run as a formula get a leading apostrophe; numbers stay numbers. The other formats
hold every text as it is.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

from django.db.models import QuerySet

from projects.models import Project, User
from projects.services import audit
from responses.export_columns import Column, codebook_row
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


class Tabular(Protocol):
    """What can be written as lines."""

    @property
    def columns(self) -> Sequence[Column]: ...

    @property
    def rows(self) -> Callable[[], Iterator[list[Any]]]: ...


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
        from responses.parquet import write_parquet  # its library takes 50 MB

        group_rows = GROUP_ROWS_WITH_TEXTS if table.choices.item_fields else GROUP_ROWS
        write_parquet(file, table.columns, table.rows(), group_rows=group_rows)
    else:
        _write_excel(file, table)


def table_lines(table: Tabular, format: str, *, bom: bool = False) -> Iterator[str]:
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
