"""A report's table as LaTeX with booktabs. Pure: from the stored table to text.

No table is wider than its page: heads and long texts are broken into lines, wide tables are turned, with intervals
below their values, and what is still too wide is made smaller. A table with many rows goes on over pages.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.latex_text import escaped, foreign
from evaluation.sections.shape import P_UNITS, two_decimals

Cell = Sequence[str]  # its lines

_MARKS = {"human": "people", "simulated": "simulated", "model": "model", "demo-model": "demo model"}
_IN_HEAD, _IN_TEXT, _ACROSS = 11, 28, 95  # letters; across an upright page in footnote size
_ON_A_PAGE = 40  # rows
_BROKEN = r">{\raggedright\arraybackslash}p{10em}"
_SMALL = r"\footnotesize\setlength{\tabcolsep}{3pt}"
_NO_WIDER = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_PACKAGES = {
    "array": r"\arraybackslash",
    "booktabs": r"\toprule",
    "graphicx": r"\resizebox",
    "longtable": r"\begin{longtable}",
    "pdflscape": r"\begin{landscape}",
    "rotating": r"\begin{sidewaystable}",
}


def latex_table(table: Mapping[str, Any]) -> str:
    """The columns that the page shows; comments on top name the packages that the table needs.

    An estimate is a value with its interval, and with its n unless a count of the row says it. Whose answers are in a
    row stands in the last column, or in the caption where all rows have the same; below the table, why numbers are
    undefined.
    """
    columns, rows = [column for column in table["columns"] if column["shown"]], table["rows"]
    marks = {tuple(row["marks"]) for row in rows}
    apart = len(marks) > 1
    kind = "" if apart else "".join(f" Kind: {_marked(found)}." for found in marks if found)
    code, title = re.sub("[^A-Za-z0-9_.-]", "-", table["code"]), f"{table['title']}. {table['caption']}{kind}"
    heads: list[Cell] = [*map(_head, columns), *[["Kind"]] * apart]
    cells: list[list[Cell]] = [[*_cells(columns, row["cells"]), *[[_marked(row["marks"])]] * apart] for row in rows]
    flat: list[list[Cell]] = [[[" ".join(cell)] for cell in row] for row in cells]
    widths = [max(len(line) for row in (heads, *flat) for line in row[place]) for place in range(len(heads))]
    turned = sum(widths) > _ACROSS
    numbers = [column["kind"] in ("count", "estimate") for column in columns] + [False] * apart
    words = [_BROKEN if width > _IN_TEXT else "l" for width in widths]
    aligned = "".join("r" if number else own for number, own in zip(numbers, words, strict=True))
    head, body = _row(heads, numbers, "b"), [_row(row, numbers, "t") for row in (cells if turned else flat)]
    layout = _over_pages if len(rows) > _ON_A_PAGE else _on_a_page
    caption = f"\\caption{{{escaped(title)}}}\\label{{tab:{code}}}"
    lines = layout(caption, aligned, head, body, list(_reasons(columns, rows)), turned=turned)
    return "\n".join([*_needed("\n".join(lines)), *lines, ""])


def _on_a_page(
    caption: str, aligned: str, head: str, body: Sequence[str], reasons: Sequence[str], *, turned: bool
) -> list[str]:
    place = "sidewaystable" if turned else "table"
    return [
        *(f"\\begin{{{place}}}", r"\centering", caption, _SMALL),
        *(_NO_WIDER, f"\\begin{{tabular}}{{{aligned}}}"),
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        *(r"\end{tabular}}", *reasons, f"\\end{{{place}}}"),
    ]


def _over_pages(
    caption: str, aligned: str, head: str, body: Sequence[str], reasons: Sequence[str], *, turned: bool
) -> list[str]:
    """What is turned is set smaller, because it cannot be shrunk as a whole."""
    begin, size, end = (r"\begin{landscape}", r"\scriptsize", r"\end{landscape}") if turned else ("", "", "")
    again = [r"\toprule", head, r"\midrule"]
    return [
        *(f"{begin}{{{_SMALL}{size}", f"\\begin{{longtable}}{{{aligned}}}"),
        *(f"{caption} \\\\", *again, r"\endfirsthead", *again, r"\endhead", r"\bottomrule", r"\endfoot"),
        *(*body, r"\end{longtable}", *reasons, f"}}{end}"),
    ]


def _needed(lines: str) -> list[str]:
    """What a document needs for these lines, as comments."""
    packages = ",".join(name for name, command in _PACKAGES.items() if command in lines)
    scripts = ["% Letters beyond the Latin script: compile with XeLaTeX or LuaLaTeX and a font that has them."]
    return [f"% \\usepackage{{{packages}}}", *(scripts if foreign(lines) else [])]


def _head(column: Mapping[str, Any]) -> Cell:
    lines = textwrap.wrap(column["label"], _IN_HEAD, break_long_words=False)
    unit = f"({column['unit']})"
    if not column["unit"]:
        return lines
    return [f"{lines[0]} {unit}"] if lines == [column["label"]] and len(unit) < 4 else [*lines, unit]


def _cells(columns: Sequence[Mapping[str, Any]], cells: Mapping[str, Any]) -> Iterator[Cell]:
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


def _marked(marks: Sequence[str]) -> str:
    return ", ".join(_MARKS[mark] for mark in marks)


def _row(cells: Sequence[Cell], numbers: Sequence[bool], held_by: str) -> str:
    """A bracket or star at the beginning would be read as an option of the line above, so braces come first."""
    line = " & ".join(_stacked(cell, number, held_by) for cell, number in zip(cells, numbers, strict=True)) + r" \\"
    return "{}" + line if line.lstrip().startswith(("[", "*")) else line


def _stacked(cell: Cell, number: bool, held_by: str) -> str:
    lines = r"\\{}".join(map(escaped, cell))
    side = "r" if number else "l"
    return lines if len(cell) < 2 else rf"\begin{{tabular}}[{held_by}]{{@{{}}{side}@{{}}}}{lines}\end{{tabular}}"


def _reasons(columns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    cells = [row["cells"][column["key"]] for row in rows for column in columns if column["kind"] == "estimate"]
    for reason in dict.fromkeys(cell["reason"] or "not computed" for cell in cells if cell["value"] is None):
        yield rf"\par\smallskip\raggedright n/a: {escaped(reason)}"
