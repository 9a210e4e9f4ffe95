"""A stored report as its page shows it: cells beside their columns, links to downloads and to the answers behind."""

from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from evaluation.kinds import KINDS
from evaluation.models import Report

PAPER = ("svg", "png", "pdf")


def sections(report: Report) -> list[dict[str, Any]]:
    """The report's sections, with what templates cannot look up themselves."""
    return [
        {
            **section,
            "tables": [_table(report, table) for table in section["tables"]],
            "figures": [_figure(report, figure) for figure in section["figures"]],
        }
        for section in report.sections
    ]


def parameters(report: Report) -> list[tuple[str, str]]:
    """What was asked for, in words."""
    return [
        (name.replace("_", " "), _words(value))
        for name in KINDS[report.kind].parameters.model_fields
        if (value := report.parameters.get(name)) is not None
    ]


def _words(value: Any) -> str:
    return (", ".join(value) or "all") if isinstance(value, list) else str(value)


def _table(report: Report, table: dict[str, Any]) -> dict[str, Any]:
    columns = [column for column in table["columns"] if column["shown"]]
    rows = [
        {
            "cells": [{"kind": column["kind"], "value": row["cells"][column["key"]]} for column in columns],
            "marks": row["marks"],
            "answers_url": _answers_url(report, row["answers"]),
            "n_answers": row["n_answers"],
        }
        for row in table["rows"]
    ]
    marks = {tuple(row["marks"]) for row in rows}
    return {
        **table,
        "columns": columns,
        "rows": rows,
        "marked": len(marks) > 1,
        "marks": marks.pop() if len(marks) == 1 else (),
        "linked": any(row["answers_url"] for row in rows),
        "csv_url": reverse("report_table", args=[report.project.slug, report.pk, table["code"]]),
    }


def _figure(report: Report, figure: dict[str, Any]) -> dict[str, Any]:
    # A report never changes, so its files may be kept for ever; the moment tells apart reports that share a number.
    version = f"?v={report.finished_at:%Y%m%d%H%M%S%f}"

    def url(format: str) -> str:
        return reverse("report_figure", args=[report.project.slug, report.pk, figure["code"], format]) + version

    return {**figure, "spec_url": url("json"), "data_url": url("csv"), **{f"{f}_url": url(f) for f in PAPER}}


def _answers_url(report: Report, answers: dict[str, str]) -> str:
    return f"{reverse('responses', args=[report.project.slug])}?{urlencode(answers)}" if answers else ""
