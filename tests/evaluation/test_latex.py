"""Tables as LaTeX: what a document that holds them would be compiled from."""

import re
from typing import Any

import pytest

from evaluation.latex import latex_table
from evaluation.latex_text import escaped

NASTY = "A_b%c&d#e$f~g^h\\i{j}k|l<m>\n\n[n] −0.5 ≥ κ² Δ é"


def estimate(value: float | None, n: int, reason: str = "") -> dict[str, Any]:
    return {"value": value, "n": n, "low": value, "high": value, "reason": reason}


def row(who: str, people: int, *rates: dict[str, Any], marks: list[str]) -> dict[str, Any]:
    cells = {"who": who, "people": people, **{f"rate_{number}": rate for number, rate in enumerate(rates)}}
    return {"cells": cells, "marks": marks}


def table(*rows: dict[str, Any], rates: int = 1, **more: Any) -> dict[str, Any]:
    def column(key: str, label: str, kind: str, unit: str) -> dict[str, Any]:
        return {"key": key, "label": label, "kind": kind, "unit": unit, "shown": True}

    columns = [column("who", "Who", "name", ""), column("people", "People", "count", "n")]
    columns += [column(f"rate_{number}", "Rate of the people", "estimate", "0 to 1") for number in range(rates)]
    return {"code": "t", "title": "Rates_1", "caption": "By 50 % & more.", "columns": columns, "rows": rows} | more


def test_a_table_has_intervals_n_and_reasons_and_escapes_text():
    lines = latex_table(
        table(
            row("A_b", 12, estimate(-0.5, 12), marks=["simulated"]),
            row("C", 12, estimate(0.25, 7), marks=["human"]),
            row("[D]", 3, estimate(None, 3, "no answer"), marks=["human"]),
        )
    ).splitlines()
    assert lines[0] == r"% \usepackage{booktabs,graphicx}"
    assert r"\caption{Rates\_1. By 50 \% \& more.}\label{tab:t}" in lines
    head = r"\begin{tabular}[b]{@{}r@{}}Rate of the\\{}people\\{}(0 to 1)\end{tabular}"
    assert rf"Who & People (n) & {head} & Kind \\" in lines
    assert r"A\_b & 12 & $-$0.50 [$-$0.50, $-$0.50] & simulated \\" in lines  # the row says n
    assert r"C & 12 & 0.25 [0.25, 0.25] n = 7 & people \\" in lines
    assert r"{}[D] & 3 & n/a & people \\" in lines  # and not an option of the line above
    assert r"\par\smallskip\raggedright n/a: no answer" in lines


def test_a_wide_table_is_turned_with_intervals_below_their_values():
    tex = latex_table(table(row("A", 12, *[estimate(0.5, 12)] * 6, marks=["human"]), rates=6))
    assert tex.startswith(r"% \usepackage{booktabs,graphicx,rotating}")
    assert tex.count("sidewaystable") == 2
    assert tex.count(r"\begin{tabular}[t]{@{}r@{}}0.50\\{}[0.50, 0.50]\end{tabular}") == 6
    assert "Kind: people." in tex  # in the caption, because all rows have it


@pytest.mark.parametrize(("rates", "n_parts"), [(1, 2), (6, 4)])  # of 40 rows, and of 12 that are turned
def test_a_long_table_comes_in_parts_of_a_page_under_the_same_head(rates: int, n_parts: int):
    rows = [row(f"A{number}", 12, *[estimate(0.5, 12)] * rates, marks=["human"]) for number in range(41)]
    tex = latex_table(table(*rows, rates=rates))
    assert (tex.count("Who & People (n)"), tex.count(r"\label{tab:t}")) == (n_parts, 1)
    assert f"Part {n_parts} of {n_parts}." in tex
    assert [int(found) for found in re.findall(r"^A(\d+) &", tex, re.M)] == list(range(41))


@pytest.mark.parametrize(("rates", "n_rows"), [(1, 1), (6, 1), (1, 50), (6, 50)])
def test_no_text_breaks_out_of_its_cell(rates: int, n_rows: int):
    rows = [row(NASTY, 12, *[estimate(None, 12, NASTY)] * rates, marks=["human"])] * n_rows
    tex = latex_table(table(*rows, rates=rates, title=NASTY, caption=NASTY, code=NASTY))
    commented, bare = tex.split("\n", 1)
    assert commented.startswith("% ")
    bare = re.sub(r"\\[\\%&#$_{}]|\$\^2\$|\\label{tab:[\w.-]+}", "", bare)  # what is meant so
    assert not set("#_~^|") & set(bare)
    assert set(re.findall(r"%.*", bare)) <= {"%"}  # the end of the line that holds a table to its page
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert {line.count("&") for line in bare.splitlines() if "Ab" in line and "n/a" in line and "&" in line} == {
        rates + 1
    }
    assert "\n\n" not in tex
    for environment in re.findall(r"\\begin{(\w+)}", tex):
        assert tex.count(rf"\begin{{{environment}}}") == tex.count(rf"\end{{{environment}}}")


def test_other_scripts_are_kept_and_the_table_says_what_sets_them():
    tex = latex_table(table(row("東京", 12, estimate(0.5, 12), marks=["human"])))
    assert "東京 & 12" in tex
    assert "XeLaTeX" in tex.splitlines()[1]
    assert "XeLaTeX" not in latex_table(table(row("né à Łódź, κ ≥ 0", 12, estimate(0.5, 12), marks=["human"])))
    assert escaped("e\u0301") == "é"  # in one letter, as pdfLaTeX needs it
    assert escaped("a\x00b\x85c") == "a b c"  # which no LaTeX takes
