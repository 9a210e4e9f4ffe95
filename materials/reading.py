"""Reads items out of CSV, TSV and JSON lines, one at a time, and names the place of every fault.

Rows are counted as a spreadsheet or editor shows them: in CSV and TSV the header is row 1, in JSON lines a row is a
line. The content of an item is the whole row; its id comes from one column or several joined with "/".
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import IO, Any

from materials.services import canonical_json

ID_COLUMNS = ("external_id", "id", "item_id")
ID_COLUMN_WORDS = "external_id, id or item_id"
MAX_ITEM_CHARACTERS = 1_000_000
MAX_ID_CHARACTERS = 200
SAMPLE_ROWS = 500
SHORT_CHARACTERS = 60


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong and where; row 0 is the file as a whole, column "" the row as a whole."""

    row: int
    column: str
    what: str

    def __str__(self) -> str:
        place = [f"row {self.row}"] if self.row else []
        place += [f"column {self.column}"] if self.column else []
        return f"{', '.join(place)}: {self.what}" if place else self.what


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


Row = tuple[int, Mapping[str, Any]]


def read_items(
    file: IO[bytes], *, filename: str, id_columns: Sequence[str] = (), id_option: str = "as the ID column"
) -> Iterator[Record | Fault]:
    """Every row of the file as a Record or as what is wrong with it, in constant memory.

    `filename` decides the format by its ending. Without `id_columns` the first of ID_COLUMNS that exists (whatever its
    case) is taken. `id_option` says where one gives them, after "give COLUMN".
    """
    rows = _rows(file, filename)
    ahead: list[Row | Fault] = list(islice(rows, SAMPLE_ROWS))
    contents = [entry[1] for entry in ahead if not isinstance(entry, Fault)]
    if not contents:
        faults = [entry for entry in ahead if isinstance(entry, Fault)]
        yield from faults or [Fault(0, "", "The file is empty; it needs at least one item.")]
        return
    chosen = list(id_columns) or _usual_id_column(contents[0])
    unknown = [column for column in chosen if not any(column in content for content in contents)]
    if unknown or not chosen:
        yield from (entry for entry in ahead if isinstance(entry, Fault))
        yield Fault(0, "", _which_id_column(unknown, contents, id_option))
        return
    for source in (ahead, rows):
        for entry in source:
            yield entry if isinstance(entry, Fault) else _record(entry[0], entry[1], chosen, entry[1])


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


def _record(
    row: int, fields: Mapping[str, Any], id_columns: Sequence[str], content: Mapping[str, Any]
) -> Record | Fault:
    try:
        external_id = "/".join(_id_part(row, fields, column) for column in id_columns)
        checked_id = _checked_id(row, external_id, ",".join(id_columns))
        return Record(row, checked_id, _storable_json(row, content), tuple(content))
    except ItemFaultError as error:
        return error.fault


def _storable_json(row: int, content: Mapping[str, Any]) -> str:
    """The content as canonical JSON that PostgreSQL takes; raises ItemFaultError naming the column."""
    try:
        text = canonical_json(content)
    except ValueError as error:
        raise ItemFaultError(row, "", "a number is too large or none at all.") from error
    if len(text) > MAX_ITEM_CHARACTERS:
        raise ItemFaultError(row, "", f"the item has {len(text):,} characters; at most {MAX_ITEM_CHARACTERS:,} fit.")
    if "\\u0000" in text or not _is_unicode(text):
        for column, value in content.items():
            cell = json.dumps({column: value}, ensure_ascii=False)
            if not _is_unicode(cell):
                raise ItemFaultError(row, ascii(column), "half of a surrogate pair is not a character; remove it.")
            if "\\u0000" in cell.replace("\\\\", ""):
                raise ItemFaultError(row, column.replace("\x00", ""), "a NUL character cannot be stored; remove it.")
    return text


def _checked_id(row: int, external_id: str, column: str) -> str:
    if len(external_id) > MAX_ID_CHARACTERS:
        raise ItemFaultError(row, column, f"the id is longer than {MAX_ID_CHARACTERS} characters.")
    if "\x00" in external_id or not _is_unicode(external_id):
        raise ItemFaultError(
            row, column, "the id holds a character that cannot be stored (NUL or half a surrogate pair)."
        )
    return external_id


def _id_part(row: int, content: Mapping[str, Any], column: str) -> str:
    value = content.get(column)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ItemFaultError(row, column, "the id must be a text or a whole number.")
    part = "" if value is None else str(value).strip()
    if not part:
        raise ItemFaultError(row, column, "the id is missing.")
    return part


def _usual_id_column(content: Mapping[str, Any]) -> list[str]:
    by_lower = {column.lower(): column for column in reversed(list(content))}
    return [by_lower[name] for name in ID_COLUMNS if name in by_lower][:1]


def _which_id_column(unknown: list[str], contents: list[Mapping[str, Any]], id_option: str) -> str:
    columns = list(contents[0])
    problem = f"There is no column {', '.join(unknown)}" if unknown else f"No column is named {ID_COLUMN_WORDS}"
    unique = _unique_columns(contents)
    advice = (
        f"{unique} differs in every row read, so give {unique} {id_option}"
        if unique
        else f"give one column, or several separated by commas, that are unique together, {id_option}"
    )
    return f"{problem}; {advice}. The columns are: {', '.join(columns)}."


def _unique_columns(contents: list[Mapping[str, Any]]) -> str:
    """The first short column, or pair of them, whose values differ in all rows, as "a" or "a,b"; "" without one."""

    def is_short(value: Any) -> bool:
        return isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= SHORT_CHARACTERS

    short = [column for column in contents[0] if all(is_short(content.get(column)) for content in contents)]
    for size in (1, 2):
        for columns in combinations(short, size):
            if len({tuple(str(content[column]) for column in columns) for content in contents}) == len(contents):
                return ",".join(columns)
    return ""


def _rows(file: IO[bytes], filename: str) -> Iterator[Row | Fault]:
    ending = filename.lower().rpartition(".")[2]
    faults: list[Fault] = []
    lines = _lines(file, faults)
    if ending in {"jsonl", "ndjson"}:
        rows = _json_rows(lines)
    elif ending in {"csv", "tsv"}:
        rows = _csv_rows(lines, "\t" if ending == "tsv" else "")
    else:
        yield Fault(0, "", f"{filename} is not a .csv, .tsv or .jsonl file; save it as one of these.")
        return
    for row in rows:
        yield from faults
        faults.clear()
        yield row
    yield from faults


def _lines(file: IO[bytes], faults: list[Fault]) -> Iterator[str]:
    """The file's lines as text. Bytes that are no UTF-8 go to `faults`, and reading goes on behind them."""
    number = 0
    while raw := file.readline(4 * MAX_ITEM_CHARACTERS + 1):
        number += 1
        if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            faults.append(Fault(0, "", "The file is UTF-16; save it as UTF-8."))
            return
        if len(raw) > 4 * MAX_ITEM_CHARACTERS:
            faults.append(Fault(number, "", f"the line is longer than {4 * MAX_ITEM_CHARACTERS:,} bytes."))
            return
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            what = f"line {number}, byte {error.start + 1}: 0x{raw[error.start]:02x} is not UTF-8; save it as UTF-8."
            faults.append(Fault(number, "", what))
            yield raw.decode("utf-8", errors="replace")


def _json_rows(lines: Iterator[str]) -> Iterator[Row | Fault]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(
                line.rstrip("\r\n"), object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite
            )
        except json.JSONDecodeError as error:
            yield Fault(number, str(error.colno), f"this is not JSON ({error.msg}).")
        except RecursionError:
            yield Fault(number, "", "the JSON is nested too deeply.")
        except ValueError as error:
            yield Fault(number, "", str(error))
        else:
            yield (number, content) if isinstance(content, dict) else Fault(number, "", "a line must be a JSON object.")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)} stands there twice.")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use null.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large.")
    return number


def _csv_rows(lines: Iterator[str], delimiter: str) -> Iterator[Row | Fault]:
    first = next(lines, "")
    if not first.strip():
        if rest := next((line for line in lines if line.strip()), ""):
            yield Fault(1, "", f"the first row must name the columns, but it is blank; the next is {rest[:40]!r}.")
        return
    csv.field_size_limit(MAX_ITEM_CHARACTERS)
    reader = csv.reader(_again(first, lines), delimiter=delimiter or _sniff(first), strict=True)
    number = 0
    try:
        header = next(reader)
        number = 1
        names = [name.strip() for name in header]
        faults = list(_header_faults(names))
        yield from faults
        for number, cells in enumerate(reader, start=2):
            if not cells:
                continue
            if len(cells) != len(names):
                column = str(min(len(cells), len(names)) + 1)
                yield Fault(number, column, f"the row has {len(cells)} cells, the header {len(names)}.")
            elif not faults:
                yield number, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        yield Fault(number + 1, "", f"this is not valid CSV ({error}; line {reader.line_num}); the rest was not read.")


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _sniff(header: str) -> str:
    """The delimiter that splits the header into most columns; a comma when none does."""
    try:
        return max(",;\t", key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter))))
    except csv.Error:  # reading the header names this fault with its place
        return ","


def _header_faults(names: list[str]) -> Iterator[Fault]:
    for position, name in enumerate(names, start=1):
        if not name:
            yield Fault(1, str(position), "the column has no name.")
        elif name in names[: position - 1]:
            yield Fault(1, str(position), f"the column name {name} stands there twice.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
