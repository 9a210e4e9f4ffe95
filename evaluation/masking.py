"""A report's sections without its small cells, for readers outside the project. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def masked(sections: Sequence[Json], min_n: int) -> list[Json]:
    """The sections without anything that rests on fewer than `min_n` people, items or answers, but more than none.

    A row of a table rests on its counts, on the n of its estimates and on its `n_people`: where one of them is small,
    small counts become "< min_n" and all estimates of the row undefined. Of a figure, marks with a small `n`,
    `people` or `units` are left out, and the caption says how many; a figure without marks goes. Links to answers go,
    too.
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
    return {**table, "rows": [_row(row, kinds, min_n) for row in table["rows"]]}


def _row(row: Json, kinds: Mapping[str, str], min_n: int) -> Json:
    cells = {key: row["cells"][key] for key in kinds}
    hidden = any(_small(n, min_n) for n in (*_counts(cells, kinds), row.get("n_people")))

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
    kept = [row for row in values if not any(_small(row.get(name), min_n) for name in ("n", "people", "units"))]
    if not kept:
        return None
    out = len(values) - len(kept)
    said = f" Left out: {out} mark{'s' if out > 1 else ''} that rest on fewer than {min_n}." if out else ""
    spec = {**figure["spec"], "data": {**figure["spec"]["data"], "values": kept}}
    return {**figure, "caption": figure["caption"] + said, "spec": spec}


def _small(n: Any, min_n: int) -> bool:
    return isinstance(n, int) and 0 < n < min_n
