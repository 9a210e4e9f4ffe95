"""Rows out of an Excel workbook, one at a time: a formula gives the value that was stored with it, a date ISO text."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from materials.reading_faults import SourceError

if TYPE_CHECKING:
    from openpyxl import Workbook

MAX_UNPACKED_BYTES = 2 << 30
MAX_TEXT_BYTES = 256 << 20  # of the table of texts, which is held in memory
MAX_LAYOUT_BYTES = 16 << 20  # of formats and lists of sheets, likewise
LAYOUT = ("styles.xml", "workbook.xml", ".rels", "[Content_Types].xml")
MAX_ROWS = 1 << 20  # of a sheet in Excel; a row's number is what the file says, and rows up to it are stepped through
MAX_RATIO = 200
FREE_BYTES = 50 << 20  # below this nothing is a bomb
FORMULA = re.compile(rb"<(?:\w+:)?f[ >/]")
SCAN_BYTES = 1 << 20
# What reading XML that is no workbook's, or half of it, ends in.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    EOFError,
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class WrongCell:
    """A cell without a value that could be taken; the text says why and what to do."""

    what: str


NO_VALUE = WrongCell("the formula has no stored value; open the workbook in Excel, save it and upload it again.")


def check_workbook(archive: zipfile.ZipFile) -> None:
    """Raises SourceError for a workbook that would unpack to more than a table has."""
    entries = archive.infolist()
    packed = sum(entry.compress_size for entry in entries)
    unpacked = sum(entry.file_size for entry in entries)
    texts = sum(entry.file_size for entry in entries if entry.filename.endswith("sharedStrings.xml"))
    layout = sum(entry.file_size for entry in entries if entry.filename.endswith(LAYOUT))
    if unpacked > MAX_UNPACKED_BYTES or (unpacked > FREE_BYTES and unpacked > MAX_RATIO * packed):
        raise SourceError(
            f"The workbook unpacks from {packed / 1e6:,.1f} to {unpacked / 1e6:,.0f} MB, which is more than is read; "
            "save the sheet as CSV."
        )
    if texts > MAX_TEXT_BYTES:
        raise SourceError(f"The workbook holds {texts / 1e6:,.0f} MB of text; save the sheet as CSV.")
    if layout > MAX_LAYOUT_BYTES:
        raise SourceError(f"The workbook holds {layout / 1e6:,.0f} MB of formats; save the sheet as CSV.")


def sheet_names(file: IO[bytes]) -> list[str]:
    """The names of the workbook's tables, in order. Raises SourceError."""
    return [sheet.title for sheet in _open(file, data_only=True).worksheets]


def sheet_rows(file: IO[bytes], sheet: str) -> int:
    """How many rows the sheet says it has; 0 when it does not. Raises SourceError."""
    return _table(_open(file, data_only=True), sheet).max_row or 0


def excel_rows(file: IO[bytes], sheet: str) -> Iterator[tuple[int, list[Any]]]:
    """Each row of the sheet that holds something, with its number; empty cells are "", what has no value a WrongCell.

    "" takes the first sheet. Raises SourceError when there is no such sheet or the file is damaged.
    """
    values = _cells(_open(file, data_only=True), sheet)
    formulas = _cells(_open(file, data_only=False), sheet) if _has_formulas(file) else repeat(())
    try:
        for number, (cells, written) in enumerate(zip(values, formulas, strict=False), start=1):
            if number > MAX_ROWS:
                raise SourceError(f"The sheet has rows past {MAX_ROWS:,}, the last that Excel has; save it as CSV.")
            row = [_value(cell) for cell in cells]
            for position, cell in enumerate(written):
                if cell.data_type == "f" and cells[position].value is None:
                    row[position] = NO_VALUE
            while row and row[-1] == "":
                row.pop()
            if row:
                yield number, row
    except DAMAGED as error:
        raise _damaged(error) from error


def _open(file: IO[bytes], *, data_only: bool) -> "Workbook":
    from openpyxl import load_workbook  # with the libraries that it takes along, 30 MB

    file.seek(0)
    try:
        return load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
    except DAMAGED as error:
        raise _damaged(error) from error


def _cells(workbook: "Workbook", sheet: str) -> Iterator[tuple[Any, ...]]:
    table = _table(workbook, sheet)
    table.reset_dimensions()  # what other programs write there is not always true
    rows: Iterator[tuple[Any, ...]] = table.iter_rows()
    return rows


def _table(workbook: "Workbook", sheet: str) -> Any:
    tables = {table.title: table for table in workbook.worksheets}
    if not tables:
        raise SourceError("The workbook has no sheet with cells.")
    if sheet and sheet not in tables:
        raise SourceError(f"The workbook has no sheet {sheet}; it has: {', '.join(tables)}.")
    return tables[sheet] if sheet else next(iter(tables.values()))


def _has_formulas(file: IO[bytes]) -> bool:
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as part:
                    end = b""
                    while chunk := part.read(SCAN_BYTES):
                        if FORMULA.search(end + chunk):
                            return True
                        end = chunk[-16:]
    return False


def _value(cell: Any) -> Any:
    value = cell.value
    if cell.data_type == "e":
        return WrongCell(f"the cell holds the error {value}; mend it in Excel.")
    if value is None:
        return ""
    if isinstance(value, datetime):
        return (value.date() if value.time() == time() else value).isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, timedelta) else value


def _damaged(error: Exception) -> SourceError:
    if isinstance(error, SourceError):
        return error
    return SourceError(f"The workbook is damaged ({' '.join(str(error).split())[:100]}); save it again in Excel.")
