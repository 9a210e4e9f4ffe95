"""A report's table as LaTeX with booktabs. Pure: from the stored table to text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.sections.shape import two_decimals

_MARKS = {"human": "people", "simulated": "simulated", "model": "model", "demo-model": "demo model"}
_ESCAPED = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"},
    **{"−": "$-$", "–": "--", "—": "---", "×": r"$\times$", "→": r"$\to$", "≤": r"$\leq$", "≥": r"$\geq$"},
    **{"“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\dots{}", "·": r"$\cdot$", "\u00a0": "~", "\n": " "},
    **{"α": r"$\alpha$", "κ": r"$\kappa$", "ρ": r"$\rho$", "τ": r"$\tau$", "χ": r"$\chi$", "²": r"$^2$"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))


def latex_table(table: Mapping[str, Any]) -> str:
    """A table environment with the columns that the page shows, for a document that uses the package booktabs.

    An estimate is a value with its interval, and with its n unless a count of the row says it. Whose answers are in a
    row stands in the last column, or in the caption where all rows have the same; below the rule, why numbers are
    undefined.
    """
    columns, rows = [column for column in table["columns"] if column["shown"]], table["rows"]
    marks = {tuple(row["marks"]) for row in rows}
    apart = len(marks) > 1
    kind = "" if apart else "".join(f" Kind: {_marked(found)}." for found in marks if found)
    caption = f"{table['title']}. {table['caption']}{kind}"
    aligned = "".join("r" if column["kind"] in ("count", "estimate") else "l" for column in columns) + "l" * apart
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{escaped(caption)}}}",
            f"\\label{{tab:{table['code']}}}",
            f"\\begin{{tabular}}{{{aligned}}}",
            "\\toprule",
            _line([*map(_header, columns), *(["Kind"] if apart else [])]),
            "\\midrule",
            *(_line([*_cells(columns, row["cells"]), *([_marked(row["marks"])] if apart else [])]) for row in rows),
            "\\bottomrule",
            *_reasons(columns, rows, len(aligned)),
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """The text with what LaTeX would read as commands written out.

    >>> print(escaped("50 % of A_1 & B: κ ≥ −0.2"))
    50 \\% of A\\_1 \\& B: $\\kappa$ $\\geq$ $-$0.2
    """
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], text)


def _header(column: Mapping[str, Any]) -> str:
    return f"{column['label']} ({column['unit']})" if column["unit"] else str(column["label"])


def _cells(columns: Sequence[Mapping[str, Any]], cells: Mapping[str, Any]) -> Iterator[str]:
    said = {cells[column["key"]] for column in columns if column["kind"] == "count"}
    for column in columns:
        cell = cells[column["key"]]
        if column["kind"] == "estimate":
            yield _p(cell["value"]) if column["unit"] == "p" else _estimate(cell, said)
        else:
            yield "" if cell is None else str(cell)


def _p(value: float | None) -> str:
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _estimate(cell: Mapping[str, Any], said: set[Any]) -> str:
    if cell["value"] is None:
        return "n/a"
    interval = "" if cell["low"] is None else f" [{two_decimals(cell['low'])}, {two_decimals(cell['high'])}]"
    n = "" if cell["n"] in said else f", n = {cell['n']}"
    return f"{two_decimals(cell['value'])}{interval}{n}"


def _marked(marks: Sequence[str]) -> str:
    return ", ".join(_MARKS[mark] for mark in marks)


def _line(cells: Sequence[str]) -> str:
    """The row; a bracket or star at its beginning would be read as an option of the line above."""
    line = " & ".join(map(escaped, cells)) + r" \\"
    return "{}" + line if line.lstrip().startswith(("[", "*")) else line


def _reasons(columns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    cells = [row["cells"][column["key"]] for row in rows for column in columns if column["kind"] == "estimate"]
    reasons = dict.fromkeys(cell["reason"] or "not computed" for cell in cells if cell["value"] is None)
    for reason in reasons:
        yield rf"\multicolumn{{{width}}}{{l}}{{\footnotesize n/a: {escaped(reason)}}} \\"
