"""Files of a ready report: its tables as CSV, its figures as data, specification and paper formats."""

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.figure_files import CONTENT_TYPES, data_csv, on_paper, paper_file
from evaluation.models import Report
from projects.access import READERS, project_view
from projects.models import Project
from responses.export import csv_cell

MARKS = ("simulated", "demo-model")


@project_view(*READERS)
def table(request: HttpRequest, project: Project, pk: int, code: str) -> HttpResponse:
    """Every column of the table, estimates in five columns each, and whether simulated or demo answers are in a row."""
    report = _ready(project, pk)
    found = _part(report, "tables", code)
    response = HttpResponse(content_type=CONTENT_TYPES["csv"], headers=_named(report, code, "csv"))
    writer = csv.writer(response)
    writer.writerow([name for column in found["columns"] for name in _names(column)] + ["simulated", "demo_model"])
    for row in found["rows"]:
        values = [value for column in found["columns"] for value in _values(column, row["cells"][column["key"]])]
        writer.writerow([csv_cell(value) for value in [*values, *(mark in row["marks"] for mark in MARKS)]])
    return response


@project_view(*READERS)
def figure(request: HttpRequest, project: Project, pk: int, code: str, format: str) -> HttpResponse:
    if format not in CONTENT_TYPES:
        raise Http404
    report = _ready(project, pk)
    found = _part(report, "figures", code)
    headers = _named(report, code, format) | {"Cache-Control": "private, max-age=31536000, immutable"}
    return HttpResponse(_content(found, format), content_type=CONTENT_TYPES[format], headers=headers)


def _content(found: dict[str, Any], format: str) -> str | bytes:
    if format == "json":
        return json.dumps(found["spec"], ensure_ascii=False)
    if format == "csv":
        return data_csv(found["spec"])
    return paper_file(on_paper(found), format)  # type: ignore[arg-type]


def _ready(project: Project, pk: int) -> Report:
    return get_object_or_404(project.reports.filter(status=Report.Status.READY), pk=pk)


def _part(report: Report, parts: str, code: str) -> dict[str, Any]:
    for section in report.sections:
        for part in section[parts]:
            if part["code"] == code:
                return dict(part)
    raise Http404


def _named(report: Report, code: str, format: str) -> dict[str, str]:
    return {"Content-Disposition": f'inline; filename="report-{report.pk}-{code}.{format}"'}


def _names(column: dict[str, Any]) -> Iterator[str]:
    yield column["key"]
    if column["kind"] == "estimate":
        yield from (f"{column['key']}_{part}" for part in ("low", "high", "n", "note"))


def _values(column: dict[str, Any], cell: Any) -> Iterator[Any]:
    if column["kind"] != "estimate":
        yield cell
    else:
        yield from (cell[part] for part in ("value", "low", "high", "n", "reason"))
