"""A stored report as its readers see it: cells beside their columns, links to downloads and to the answers behind."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404
from django.urls import reverse

from evaluation.kinds import KINDS
from evaluation.masking import masked
from evaluation.models import Report, ReportShare
from evaluation.sections.shape import P_UNITS

PAPER = ("svg", "png", "pdf")


@dataclass(frozen=True, slots=True)
class Reading:
    """A ready report's sections for one kind of reader, and where the files of these very sections are.

    The addresses are named `report_*` for members of the project and `shared_*` for whoever has the link.
    """

    report: Report
    sections: list[dict[str, Any]]
    addresses: str
    place: tuple[Any, ...]
    masked: bool = False

    def url(self, what: str, *more: str) -> str:
        return reverse(f"{self.addresses}_{what}", args=[*self.place, *more])

    def part(self, parts: str, code: str) -> dict[str, Any]:
        """The table or figure (`parts`: tables or figures) with this code; raises Http404."""
        for section in self.sections:
            for part in section[parts]:
                if part["code"] == code:
                    return dict(part)
        raise Http404

    def shown(self) -> list[dict[str, Any]]:
        """The sections, with what templates cannot look up themselves."""
        return [
            {
                **section,
                "tables": [self._table(table) for table in section["tables"]],
                "figures": [self._figure(figure) for figure in section["figures"]],
            }
            for section in self.sections
        ]

    def _table(self, table: dict[str, Any]) -> dict[str, Any]:
        columns = [column for column in table["columns"] if column["shown"]]
        rows = [
            {
                "cells": [
                    {"kind": column["kind"], "value": row["cells"][column["key"]], "p": column["unit"] in P_UNITS}
                    for column in columns
                ],
                "marks": row["marks"],
                "answers_url": _answers_url(self.report, row["answers"]),
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
            "csv_url": self.url("table", table["code"], "csv"),
            "tex_url": self.url("table", table["code"], "tex"),
        }

    def _figure(self, figure: dict[str, Any]) -> dict[str, Any]:
        # A report never changes, so its files may be kept for ever; the moment tells apart reports that share a number.
        version = f"?v={self.report.finished_at:%Y%m%d%H%M%S%f}"

        def url(format: str) -> str:
            return self.url("figure", figure["code"], format) + version

        return {**figure, "spec_url": url("json"), "data_url": url("csv"), **{f"{f}_url": url(f) for f in PAPER}}


def by_member(report: Report) -> Reading:
    return Reading(report, report.sections, "report", (report.project.slug, report.pk))


def by_link(share: ReportShare) -> Reading:
    """With small cells masked."""
    report = share.report
    return Reading(report, masked(report.sections, report.parameters["min_n"]), "shared", (share.key,), masked=True)


def parameters(report: Report) -> list[tuple[str, str]]:
    """What was asked for, in words."""
    return [
        (name.replace("_", " "), _words(value) or "all")
        for name in KINDS[report.kind].parameters.model_fields
        if (value := report.parameters.get(name)) not in (None, [], {}) or name == "models"
    ]


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(own)}" for name, own in value.items() if own not in ("", [], {}))
    if isinstance(value, list):
        nested = any(isinstance(own, dict | list) for own in value)
        return ("; " if nested else ", ").join(map(_words, value))
    return str(value)


def _answers_url(report: Report, answers: dict[str, str]) -> str:
    return f"{reverse('responses', args=[report.project.slug])}?{urlencode(answers)}" if answers else ""
