"""A report's sections without its small cells, for readers outside the project. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evaluation.suppression import suppressed

Json = dict[str, Any]

_PEOPLE = {"human", "simulated"}  # marks of rows that speak of people
_NUMBERS = ("count", "estimate", "tally")
_NOT_NAMES = ("label", "reason", "direction")  # of a figure's mark


def masked(sections: Sequence[Json], min_n: int) -> list[Json]:
    """The sections without anything that rests on fewer than `min_n` people, items or answers, but more than none.

    Rows and marks of fewer people are left out, with those that would tell of them by subtraction and with their
    names. How many people a row has says its `n_people`, otherwise the smallest of its counts. In the rows that stay,
    small counts become "< min_n", and where a count or the n of an estimate is small, all estimates of the row
    undefined. Of a figure, marks with a small `n`, `people` or `units` are left out; a figure without marks goes. Links
    to answers go, too.
    """
    return [
        {
            **section,
            "tables": [_table(table, min_n) for table in section["tables"]],
            "figures": [kept for figure in section["figures"] if (kept := _figure(figure, min_n))],
        }
        for section in sections
    ]


def _table(table: Json, min_n: int) -> Json:
    kinds = {column["key"]: column["kind"] for column in table["columns"]}
    groups = {
        place: (_names(row, kinds), _people(row, kinds))
        for place, row in enumerate(table["rows"])
        if _PEOPLE & set(row["marks"])
    }
    out = suppressed(groups, min_n)
    if out and "tally" in kinds.values():  # each row counts what the one before it left: one would tell of another
        out = set(groups)
    rows = [_row(row, kinds, min_n) for place, row in enumerate(table["rows"]) if place not in out]
    return {**table, "caption": table["caption"] + (_left_out(min_n) if out else ""), "rows": rows}


def _names(row: Json, kinds: Mapping[str, str]) -> tuple[Any, ...]:
    return (tuple(row["marks"]), *(str(row["cells"][key]) for key, kind in kinds.items() if kind not in _NUMBERS))


def _people(row: Json, kinds: Mapping[str, str]) -> int:
    if row.get("n_people") is not None:
        return int(row["n_people"])
    return min((n for n in _counts(row["cells"], kinds) if n), default=0)


def _row(row: Json, kinds: Mapping[str, str], min_n: int) -> Json:
    cells = {key: row["cells"][key] for key in kinds}
    hidden = any(_small(n, min_n) for n in _counts(cells, kinds))

    def cell(key: str) -> Any:
        if kinds[key] == "tally" and cells[key]:
            return "not shown"
        if kinds[key] == "count" and _small(cells[key], min_n):
            return f"< {min_n}"
        if kinds[key] == "estimate" and hidden:
            return {"value": None, "n": None, "low": None, "high": None, "reason": f"rests on fewer than {min_n}"}
        return cells[key]

    return {**row, "cells": {key: cell(key) for key in cells}, "answers": {}, "n_answers": 0, "n_people": None}


def _counts(cells: Mapping[str, Any], kinds: Mapping[str, str]) -> Iterator[Any]:
    for key, kind in kinds.items():
        if kind == "count":
            yield cells[key]
        elif kind == "estimate":
            yield cells[key]["n"]


def _figure(figure: Json, min_n: int) -> Json | None:
    values = figure["spec"]["data"]["values"]
    texts = sorted({key for row in values for key, value in row.items() if isinstance(value, str)} - set(_NOT_NAMES))
    groups = {
        place: (tuple(str(row.get(key)) for key in texts), row["people"])
        for place, row in enumerate(values)
        if row.get("people") is not None
    }
    out = suppressed(groups, min_n)
    kept = [
        row
        for place, row in enumerate(values)
        if place not in out and not any(_small(row.get(name), min_n) for name in ("n", "people", "units"))
    ]
    if not kept:
        return None
    if len(kept) == len(values):
        return figure
    named = {value for row in kept for value in row.values() if isinstance(value, str)}
    spec = _without_names({**figure["spec"], "data": {**figure["spec"]["data"], "values": kept}}, named)
    return {**figure, "caption": figure["caption"] + _left_out(min_n), "spec": spec}


def _without_names(spec: Any, named: Collection[str]) -> Any:
    """The specification whose axes and legends order only what is named."""
    if isinstance(spec, list):
        return [_without_names(part, named) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: [name for name in part if name in named]
        if key == "sort" and isinstance(part, list)
        else _without_names(part, named)
        for key, part in spec.items()
    }


def _left_out(min_n: int) -> str:
    return f" Left out is what rests on fewer than {min_n}, and what would tell of it by subtraction."


def _small(n: Any, min_n: int) -> bool:
    return isinstance(n, int) and 0 < n < min_n
