"""How a file becomes items: how it is read, which columns are taken, as what, and what an item's id is. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from materials.reading_faults import load_json

Format = Literal["csv", "json", "jsonl", "parquet", "xlsx"]
Type = Literal["keep", "text", "number", "list", "json"]

LIST_SEPARATOR = "|"
NUMBER = re.compile(r"[+-]?(\d+|(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)", re.ASCII)
SHOWN_CHARACTERS = 40


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(Strict):
    """How the file is read. `encoding` is of texts, `delimiter` of CSV, `sheet` of workbooks; "" takes the first sheet.

    Without `header` the columns of CSV and workbooks are named "column 1", "column 2" and so on.
    """

    format: Format
    encoding: str = "utf-8"
    delimiter: str = ","
    header: bool = True
    sheet: str = ""


class Column(Strict):
    """A column that is taken, under which name and as what."""

    source: str
    name: str
    type: Type = "keep"


class Plan(Strict):
    """Columns in neither `columns` nor `left_out` are taken as they are; without `source` it is found out."""

    source: Source | None = None
    id_columns: tuple[str, ...] = ()
    id_from_content: bool = False
    columns: tuple[Column, ...] = ()
    left_out: tuple[str, ...] = ()
    same_id: Literal["refuse", "skip"] = "refuse"
    same_content: Literal["keep", "skip"] = "keep"

    @property
    def id_names(self) -> list[str]:
        """The fields of an item that hold its id."""
        names = {column.source: column.name for column in self.columns}
        return [names.get(column, column) for column in self.id_columns if column not in self.left_out]


class Mapper:
    """Maps rows by a plan; made once for all rows."""

    def __init__(self, plan: Plan) -> None:
        self._columns = {column.source: column for column in plan.columns}
        self._left_out = frozenset(plan.left_out)
        self._names = {column.name for column in plan.columns}

    def content(self, fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[tuple[str, str]]]:
        """The item's content, and what is wrong with it as (column, sentence)."""
        if not self._columns and not self._left_out:
            return fields, []
        content: dict[str, Any] = {}
        faults = []
        for name, value in fields.items():
            column = self._columns.get(name)
            if name in self._left_out:
                continue
            if column is None and name in self._names:
                faults.append((name, f"another column is renamed to {name}; give that one another name."))
            elif column is None:
                content[name] = value
            else:
                try:
                    content[column.name] = converted(value, column.type)
                except ValueError as error:
                    faults.append((name, str(error)))
        return content, faults


def converted(value: Any, to: Type) -> Any:
    """The value as this type; an empty cell is no number (None), an empty list. Raises ValueError in words.

    >>> converted("007", "text"), converted("1e3", "number"), converted("a | b", "list"), converted("NA", "keep")
    ('007', 1000.0, ['a', 'b'], 'NA')
    """
    return value if to == "keep" or value is None else CONVERT[to](value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number(value: Any) -> int | float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    text = value.strip() if isinstance(value, str) else None
    if text == "":
        return None
    if text is None or len(text) > SHOWN_CHARACTERS or not NUMBER.fullmatch(text):
        raise ValueError(f"{_shown(value)} is no number; correct it, or take the column as text.")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is no list; correct it, or take the column as it is.")
    if value.lstrip().startswith("["):
        items = load_json(value)
        assert isinstance(items, list)  # nothing else begins with a bracket
        return items
    return [part.strip() for part in value.split(LIST_SEPARATOR)] if value.strip() else []


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return load_json(value) if value.strip() else None


CONVERT = {"text": _text, "number": _number, "list": _list, "json": _json}


def _shown(value: Any) -> str:
    text = _text(value)
    return f"“{text[:SHOWN_CHARACTERS]}…”" if len(text) > SHOWN_CHARACTERS else f"“{text}”"
