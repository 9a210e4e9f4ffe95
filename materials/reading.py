"""Reads items out of CSV, TSV, JSON, JSON lines, Parquet and Excel, one at a time, and names the place of every fault.

Rows are counted as a spreadsheet or editor shows them: in CSV, TSV and Excel the first is row 1, in JSON lines a row is
a line, elsewhere the first object is 1. The content of an item is the whole row unless a plan says otherwise; its id
comes from one column, from several joined with "/", or from the content.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import IO, Any

from materials.reading_excel import WrongCell, excel_rows, sheet_rows
from materials.reading_faults import NO_CHARACTER, Fault, SourceError
from materials.reading_plan import Mapper, Plan, Source
from materials.reading_source import find_source
from materials.reading_text import Row, csv_cells, json_array_rows, json_line_rows
from materials.services import canonical_json

ID_COLUMNS = ("external_id", "id", "item_id")
ID_COLUMN_WORDS = "external_id, id or item_id"
MAX_ITEM_CHARACTERS = 1_000_000
MAX_ID_CHARACTERS = 200
CONTENT_ID_CHARACTERS = 20
NOT_STORED = "a character that cannot be stored (NUL or half a surrogate pair)"
SAMPLE_ROWS = 500
SHORT_CHARACTERS = 60


class ItemFaultError(ValueError):
    """One row cannot be an item; `fault` says why."""

    def __init__(self, row: int, column: str, what: str) -> None:
        super().__init__(what)
        self.fault = Fault(row, column, what)


@dataclass(frozen=True, slots=True)
class Record:
    """An item that can be stored: its row, its id, its content as canonical JSON, and the content's keys in order.

    `lineage`: what is known of where it comes from, beside its source and row; canonical JSON.
    """

    row: int
    external_id: str
    content: str
    fields: tuple[str, ...]
    lineage: str = "{}"


def read_items(
    file: IO[bytes],
    *,
    filename: str,
    id_columns: Sequence[str] = (),
    id_option: str = "as the ID column",
    plan: Plan | None = None,
) -> Iterator[Record | Fault]:
    """Every row of the file as a Record or as what is wrong with it, in constant memory.

    The plan says how the file is read and mapped; `id_columns` is short for a plan with nothing else. What it leaves
    open is found out from the file: without an id the first of ID_COLUMNS that exists (whatever its case) is taken.
    `id_option` says where one gives id columns, after "give COLUMN".
    """
    plan = plan or Plan(id_columns=tuple(id_columns))
    try:
        source = plan.source or find_source(file, filename)
        yield from _read(read_rows(file, source), plan, id_option)
    except SourceError as error:
        yield Fault(0, "", str(error))


def read_rows(file: IO[bytes], source: Source) -> Iterator[Row | Fault]:
    """The rows of the file as they are, with their numbers. Raises SourceError when it cannot be read at all."""
    file.seek(0)
    faults: list[Fault] = []
    if source.format == "csv":
        rows = _table(csv_cells(file, source, faults), header=source.header, pad=False)
    elif source.format == "xlsx":
        rows = _table(excel_rows(file, source.sheet), header=source.header, pad=True)
    elif source.format == "jsonl":
        rows = json_line_rows(file, source, faults)
    elif source.format == "json":
        rows = json_array_rows(file, source)
    else:
        from materials.reading_parquet import parquet_rows  # its library takes 50 MB

        rows = parquet_rows(file)
    for row in rows:
        yield from faults
        faults.clear()
        yield row
    yield from faults


def row_count(file: IO[bytes], source: Source) -> int:
    """How many rows a Parquet file or a sheet says it has; 0 when it does not. Raises SourceError."""
    file.seek(0)
    if source.format == "xlsx":
        return sheet_rows(file, source.sheet)
    from materials.reading_parquet import parquet_row_count

    return parquet_row_count(file)


def usual_id_column(columns: Sequence[str]) -> tuple[str, ...]:
    """The first of ID_COLUMNS among the columns, whatever its case; () without one."""
    by_lower = {column.lower(): column for column in reversed(columns)}
    return tuple([by_lower[name] for name in ID_COLUMNS if name in by_lower][:1])


def unique_columns(contents: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The first short column, or pair of them, whose values differ in all rows; () without one."""

    def is_short(value: Any) -> bool:
        return isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= SHORT_CHARACTERS

    short = [column for column in contents[0] if all(is_short(content.get(column)) for content in contents)]
    for size in (1, 2):
        for columns in combinations(short, size):
            if len({tuple(str(content[column]) for column in columns) for content in contents}) == len(contents):
                return columns
    return ()


def read_json_items(items: Any) -> Iterator[Record | Fault]:
    """Records out of `[{"external_id": ..., "content": {...}}, ...]`, as the REST interface takes them; rows from 1."""
    if not isinstance(items, list) or not items:
        yield Fault(0, "items", "give a list with at least one item.")
        return
    for row, item in enumerate(items, start=1):
        if not isinstance(item, dict) or set(item) != {"external_id", "content"}:
            yield Fault(row, "", 'an item has "external_id" and "content" and nothing else.')
        elif not isinstance(item["content"], dict):
            yield Fault(row, "content", "the content must be a JSON object.")
        else:
            yield _record(row, item, ["external_id"], item["content"])


def item_record(row: int, external_id: str, content: Mapping[str, Any], lineage: Mapping[str, Any]) -> Record | Fault:
    """An item that was made here, as a Record, or what is wrong with it."""
    record = _record(row, {"id": external_id}, ["id"], content)
    return record if isinstance(record, Fault) else replace(record, lineage=canonical_json(lineage))


def _read(rows: Iterator[Row | Fault], plan: Plan, id_option: str) -> Iterator[Record | Fault]:
    ahead = list(islice(rows, SAMPLE_ROWS))
    contents = [entry[1] for entry in ahead if not isinstance(entry, Fault)]
    if not contents:
        faults = [entry for entry in ahead if isinstance(entry, Fault)]
        yield from faults or [Fault(0, "", "The file is empty; it needs at least one item.")]
        return
    chosen = () if plan.id_from_content else plan.id_columns or usual_id_column(list(contents[0]))
    wanted = {*chosen, *(column.source for column in plan.columns)}
    unknown = sorted(column for column in wanted if not any(column in content for content in contents))
    if unknown or not (chosen or plan.id_from_content):
        yield from (entry for entry in ahead if isinstance(entry, Fault))
        yield Fault(0, "", _which_id_column(unknown, contents, id_option))
        return
    mapper = Mapper(plan)
    for entry in chain(ahead, rows):
        if isinstance(entry, Fault):
            yield entry
            continue
        row, fields = entry
        content, faults_in_cells = mapper.content(fields)
        if faults_in_cells:
            yield from (Fault(row, column, what) for column, what in faults_in_cells)
        else:
            yield _record(row, fields, chosen, content)


def _record(
    row: int, fields: Mapping[str, Any], id_columns: Sequence[str], content: Mapping[str, Any]
) -> Record | Fault:
    """Without id columns the id is the beginning of the content's hash."""
    try:
        parts = [_id_part(row, fields, column) for column in id_columns]
        text = _storable_json(row, content)
        external_id = "/".join(parts) or hashlib.sha256(text.encode()).hexdigest()[:CONTENT_ID_CHARACTERS]
        return Record(row, _checked_id(row, external_id, ",".join(id_columns)), text, tuple(content))
    except ItemFaultError as error:
        return error.fault


def _storable_json(row: int, content: Mapping[str, Any]) -> str:
    """The content as canonical JSON that PostgreSQL takes; raises ItemFaultError naming the column."""
    try:
        text = canonical_json(content)
    except ValueError as error:
        column = next((name for name, value in content.items() if not _is_json(value)), "")
        raise ItemFaultError(row, column, "a number is too large or none at all.") from error
    if len(text) > MAX_ITEM_CHARACTERS:
        raise ItemFaultError(row, "", f"the item has {len(text):,} characters; at most {MAX_ITEM_CHARACTERS:,} fit.")
    if "\\u0000" in text or not _is_unicode(text):
        for column, value in content.items():
            cell = json.dumps({column: value}, ensure_ascii=False)
            if not _is_unicode(cell):
                raise ItemFaultError(row, ascii(column), "half of a surrogate pair is not a character; remove it.")
            if "\\u0000" in cell.replace("\\\\", ""):
                raise ItemFaultError(row, column, "a NUL character cannot be stored; remove it.")
    return text


def _checked_id(row: int, external_id: str, column: str) -> str:
    if len(external_id) > MAX_ID_CHARACTERS:
        raise ItemFaultError(row, column, f"the id is longer than {MAX_ID_CHARACTERS} characters.")
    if NO_CHARACTER.search(external_id):
        raise ItemFaultError(row, column, f"the id holds {NOT_STORED}.")
    return external_id


def _id_part(row: int, content: Mapping[str, Any], column: str) -> str:
    value = content.get(column)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ItemFaultError(row, column, "the id must be a text or a whole number.")
    part = "" if value is None else str(value).strip()
    if not part:
        raise ItemFaultError(row, column, "the id is missing.")
    return part


def _which_id_column(unknown: list[str], contents: list[Mapping[str, Any]], id_option: str) -> str:
    problem = f"There is no column {', '.join(unknown)}" if unknown else f"No column is named {ID_COLUMN_WORDS}"
    unique = ",".join(unique_columns(contents))
    advice = (
        f"{unique} differs in every row read, so give {unique} {id_option}"
        if unique
        else f"give one column, or several separated by commas, that are unique together, {id_option}"
    )
    return f"{problem}; {advice}. The columns are: {', '.join(contents[0])}."


def _table(rows: Iterator[tuple[int, list[Any]] | Fault], *, header: bool, pad: bool) -> Iterator[Row | Fault]:
    """Rows of cells with the names of their columns, which are in the first row when there is a `header`.

    `pad`: a row that is shorter than the first has empty cells behind it.
    """
    names: list[str] = []
    faults: list[Fault] = []
    for entry in rows:
        if isinstance(entry, Fault):
            yield entry
            continue
        number, cells = entry
        if not names:
            names = [_name(cell) for cell in cells] if header else [f"column {n}" for n, _ in enumerate(cells, start=1)]
            faults = list(_header_faults(number, names))
            yield from faults
            if header:
                continue
        if pad:
            cells += [""] * (len(names) - len(cells))
        if len(cells) != len(names):
            column = str(min(len(cells), len(names)) + 1)
            yield Fault(number, column, f"the row has {len(cells)} cells, the first row {len(names)}.")
        elif wrong := [(name, cell) for name, cell in zip(names, cells, strict=True) if isinstance(cell, WrongCell)]:
            yield from (Fault(number, name, cell.what) for name, cell in wrong)
        elif not faults:
            yield number, dict(zip(names, cells, strict=True))


def _name(cell: Any) -> str:
    return "" if isinstance(cell, WrongCell) else str(cell).strip()


def _header_faults(row: int, names: list[str]) -> Iterator[Fault]:
    for position, name in enumerate(names, start=1):
        if not name:
            yield Fault(row, str(position), "the column has no name; give it one.")
        elif NO_CHARACTER.search(name):
            yield Fault(row, str(position), f"the column name {name} holds {NOT_STORED}; rename it.")
        elif name in names[: position - 1]:
            yield Fault(row, str(position), f"the column name {name} stands there twice; rename one of them.")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
