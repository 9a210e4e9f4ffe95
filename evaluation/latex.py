"""A report's table as LaTeX with booktabs. Pure: from the stored table to text.

No table is wider than its page: heads and long texts are broken into lines, wide tables are turned, with intervals
below their values, and what is still too wide is made smaller. A table with many rows comes in parts of a page each.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.latex_text import escaped, foreign
from evaluation.sections.shape import P_UNITS, two_decimals

Json = dict[str, Any]
Cell = Sequence[str]  # its lines

_MARKS = {"human": "people", "simulated": "simulated", "model": "model", "demo-model": "demo model"}
_IN_HEAD, _IN_TEXT, _ACROSS = 11, 28, 95  # letters; across an upright page in footnote size
_LINES, _LINES_TURNED = 40, 24  # that a page has room for
_BROKEN = r">{\raggedright\arraybackslash}p{10em}"
_SMALL = r"\footnotesize\setlength{\tabcolsep}{3pt}"
_NO_WIDER = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_PACKAGES = {
    "array": r"\arraybackslash",
    "booktabs": r"\toprule",
    "graphicx": r"\resizebox",
    "rotating": r"\begin{sidewaystable}",
}


def latex_table(table: Mapping[str, Any]) -> str:
    """The columns that the page shows; comments on top name the packages that the table needs.

    An estimate is a value with its interval, and with its n unless a count of the row says it. Whose answers are in a
    row stands in the last column, or in the caption where all rows have the same; below the table, why numbers are
    undefined.
    """
    columns, rows, kind = _with_kinds(table)
    turned, aligned, head, parts = _typeset(columns, rows)
    captions = _captions(table["code"], f"{table['title']}. {table['caption']}{kind}", len(parts))
    place, reasons = "sidewaystable" if turned else "table", list(_reasons(columns, rows))
    lines: list[str] = []
    for caption, part in zip(captions, parts, strict=True):
        lines += [f"\\begin{{{place}}}", r"\centering", caption, _SMALL, _NO_WIDER, f"\\begin{{tabular}}{{{aligned}}}"]
        lines += [r"\toprule", head, r"\midrule", *part, r"\bottomrule", r"\end{tabular}}", *reasons]
        lines += [f"\\end{{{place}}}"]
    return "\n".join([*_needed("\n".join(lines)), *lines, ""])


def _typeset(columns: Sequence[Json], rows: Sequence[Json]) -> tuple[bool, str, str, list[list[str]]]:
    """Whether the table is turned, how its columns are aligned, its head, and the rows of each part."""
    heads, cells = [_head(column) for column in columns], [list(_cells(columns, row)) for row in rows]
    flat: list[list[Cell]] = [[[" ".join(cell)] for cell in row] for row in cells]
    widths = [max(map(len, lines)) for lines in ([*head, *(row[n][0] for row in flat)] for n, head in enumerate(heads))]
    turned = sum(widths) > _ACROSS
    numbers = [column["kind"] in ("count", "estimate") for column in columns]
    words = [_BROKEN if width > _IN_TEXT else "l" for width in widths]
    aligned = "".join("r" if number else own for number, own in zip(numbers, words, strict=True))
    body = [_row(row, numbers, "t") for row in (cells if turned else flat)]
    on_a_page = _LINES_TURNED // max((len(cell) for row in cells for cell in row), default=1) if turned else _LINES
    parts = [body[start : start + on_a_page] for start in range(0, max(len(body), 1), on_a_page)]
    return turned, aligned, _row(heads, numbers, "b"), parts


def _captions(code: str, title: str, n_parts: int) -> Iterator[str]:
    """The caption of each part; the first has the label."""
    for number in range(1, n_parts + 1):
        part = f" Part {number} of {n_parts}." if n_parts > 1 else ""
        label = f"\\label{{tab:{re.sub('[^A-Za-z0-9_.-]', '-', code)}}}" if number == 1 else ""
        yield f"\\caption{{{escaped(title + part)}}}{label}"


def _with_kinds(table: Mapping[str, Any]) -> tuple[list[Json], list[Json], str]:
    """The columns that are shown and the cells of each row, and a sentence for the caption on whose answers they are.

    Where rows differ in that, it is a column more, and no sentence.
    """
    columns = [column for column in table["columns"] if column["shown"]]
    rows = [row["cells"] for row in table["rows"]]
    kinds = [", ".join(_MARKS[mark] for mark in row["marks"]) for row in table["rows"]]
    if len(set(kinds)) > 1:
        apart = {"key": "kind of answers", "label": "Kind", "kind": "text", "unit": ""}
        return [*columns, apart], [row | {apart["key"]: kind} for row, kind in zip(rows, kinds, strict=True)], ""
    return columns, rows, "".join(f" Kind: {kind}." for kind in set(kinds) if kind)


def _needed(lines: str) -> list[str]:
    """What a document needs for these lines, as comments."""
    packages = ",".join(name for name, command in _PACKAGES.items() if command in lines)
    scripts = ["% Letters beyond the Latin script: compile with XeLaTeX or LuaLaTeX and a font that has them."]
    return [f"% \\usepackage{{{packages}}}", *(scripts if foreign(lines) else [])]


def _head(column: Json) -> Cell:
    lines = textwrap.wrap(column["label"], _IN_HEAD, break_long_words=False)
    unit = f"({column['unit']})"
    if not column["unit"]:
        return lines
    return [f"{lines[0]} {unit}"] if lines == [column["label"]] and len(unit) < 4 else [*lines, unit]


def _cells(columns: Sequence[Json], cells: Json) -> Iterator[Cell]:
    said = {cells[column["key"]] for column in columns if column["kind"] == "count"}
    for column in columns:
        cell = cells[column["key"]]
        if column["kind"] == "estimate":
            yield [_p(cell["value"])] if column["unit"] in P_UNITS else _estimate(cell, said)
        else:
            yield ["" if cell is None else str(cell)]


def _p(value: float | None) -> str:
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _estimate(cell: Mapping[str, Any], said: set[Any]) -> Cell:
    """The value, and below it the interval and n."""
    if cell["value"] is None:
        return ["n/a"]
    interval = [] if cell["low"] is None else [f"[{two_decimals(cell['low'])}, {two_decimals(cell['high'])}]"]
    n = [] if cell["n"] in said else [f"n = {cell['n']}"]
    return [two_decimals(cell["value"]), *interval, *n]


def _row(cells: Sequence[Cell], numbers: Sequence[bool], held_by: str) -> str:
    """A bracket or star at the beginning would be read as an option of the line above, so braces come first."""
    line = " & ".join(_stacked(cell, number, held_by) for cell, number in zip(cells, numbers, strict=True)) + r" \\"
    return "{}" + line if line.lstrip().startswith(("[", "*")) else line


def _stacked(cell: Cell, number: bool, held_by: str) -> str:
    lines = r"\\{}".join(map(escaped, cell))
    side = "r" if number else "l"
    return lines if len(cell) < 2 else rf"\begin{{tabular}}[{held_by}]{{@{{}}{side}@{{}}}}{lines}\end{{tabular}}"


def _reasons(columns: Sequence[Json], rows: Sequence[Json]) -> Iterator[str]:
    cells = [row[column["key"]] for row in rows for column in columns if column["kind"] == "estimate"]
    for reason in dict.fromkeys(cell["reason"] or "not computed" for cell in cells if cell["value"] is None):
        yield rf"\par\smallskip\raggedright n/a: {escaped(reason)}"
