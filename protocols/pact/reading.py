"""Reads the CSV files of the study's authors and exports of Concord, and names the place of every fault."""

import csv
import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pandas as pd

_NO_TEXT = re.compile("[\udc80-\udcff]")  # how Python hands on bytes that are not UTF-8


class FileFaultError(ValueError):
    """A file that cannot be used: one sentence with file, row, column and what to do. The header is row 1."""

    def __init__(self, path: Path, what: str, *, row: int = 0, column: str = "") -> None:
        place = [str(path), *([f"row {row}"] if row else []), *([f"column {column}"] if column else [])]
        super().__init__(f"{', '.join(place)}: {what}")


def read_table(path: Path, *, columns: Collection[str] = ()) -> pd.DataFrame:
    """Every cell as text, without the spaces around it, the index the number of the row in the file.

    Raises FileFaultError for a file that cannot be read, is empty, has bytes that are not UTF-8, rows of another length
    than the header, or lacks one of the columns.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            rows = list(_rows(path, csv.reader(file, strict=True)))
    except OSError as error:
        raise FileFaultError(path, f"it cannot be read ({error.strerror}).") from error
    if len(rows) < 2:
        raise FileFaultError(path, "it is empty; it needs a header and at least one row.")
    (_, names), *records = rows
    _check_header(path, names, columns)
    for number, cells in records:
        if len(cells) != len(names):
            column = str(min(len(cells), len(names)) + 1)
            what = f"the row has {len(cells)} cells, the header {len(names)}."
            raise FileFaultError(path, what, row=number, column=column)
        _check_text(path, number, names, cells)
    return pd.DataFrame([cells for _, cells in records], columns=names, index=[number for number, _ in records])


def check_columns(path: Path, names: Sequence[str], needed: Collection[str]) -> None:
    """Raise FileFaultError for the first column that is needed and not there."""
    for name in needed:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"is it {close[0]}?" if close else f"the columns are {', '.join(names)}."
            raise FileFaultError(path, f"there is no such column; {hint}", row=1, column=name)


def check_filled(path: Path, table: pd.DataFrame, columns: Collection[str]) -> None:
    """Raise FileFaultError for the first cell of these columns that is empty."""
    for column in columns:
        empty = table.index[table[column] == ""]
        if len(empty):
            raise FileFaultError(path, "it is empty; fill it in or remove the row.", row=empty[0], column=column)


def check_values(path: Path, table: pd.DataFrame, column: str, known: Collection[str]) -> None:
    """Raise FileFaultError for the first cell of the column that holds none of the known values."""
    strange = table[column][~table[column].isin(list(known))]
    if len(strange):
        what = f"{strange.iloc[0]!r} is none of {', '.join(known)}."
        raise FileFaultError(path, what, row=strange.index[0], column=column)


def _rows(path: Path, reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with its number."""
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if any(cells):
                yield number, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise FileFaultError(path, f"this is not valid CSV ({error}).", row=number + 1) from error


def _check_text(path: Path, row: int, names: Sequence[str], cells: Sequence[str]) -> None:
    for name, cell in zip(names, cells, strict=True):
        if not cell.isascii() and (found := _NO_TEXT.search(cell)):
            byte = ord(found.group()) - 0xDC00
            what = f"byte 0x{byte:02x} is not UTF-8, as if files of two encodings were joined; save it as UTF-8."
            raise FileFaultError(path, what, row=row, column=name)


def _check_header(path: Path, names: Sequence[str], needed: Collection[str]) -> None:
    _check_text(path, 1, [str(position) for position, _ in enumerate(names, start=1)], names)
    for position, name in enumerate(names, start=1):
        if not name or name in names[: position - 1]:
            what = f"the name {name} stands there twice." if name else "the column has no name."
            raise FileFaultError(path, what, row=1, column=str(position))
    check_columns(path, names, needed)
