"""Files of a ready report: its tables, its figures as data, specification and paper formats, and the whole of it."""

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.bundle import bundle as bundle_of
from evaluation.document import document as document_of
from evaluation.figure_files import CONTENT_TYPES, data_csv, on_paper, paper_file
from evaluation.latex import latex_table
from evaluation.models import Report
from evaluation.presentation import Reading, by_member
from evaluation.table_files import table_csv
from projects.access import READERS, MemberRequest, project_view
from projects.models import Project
from projects.services import audit

TABLES = {"csv": table_csv, "tex": latex_table}
TABLE_TYPES = {"csv": CONTENT_TYPES["csv"], "tex": "application/x-tex; charset=utf-8"}


@project_view(*READERS)
def table(request: HttpRequest, project: Project, pk: int, code: str, format: str) -> HttpResponse:
    return table_response(by_member(_ready(project, pk)), code, format)


@project_view(*READERS)
def figure(request: HttpRequest, project: Project, pk: int, code: str, format: str) -> HttpResponse:
    return figure_response(by_member(_ready(project, pk)), code, format)


@project_view(*READERS)
def document(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return document_response(by_member(_ready(project, pk)))


@project_view(*READERS)
def bundle(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """What the report was computed from and a script that computes it again: the same bytes for the same report."""
    report = _ready(project, pk)
    if not hasattr(report, "data"):
        raise Http404
    audit(project=project, user=request.user, action="report exported", report=report.pk)
    return _file(bundle_of(report), "application/zip", f"report-{report.pk}.zip", "attachment")


def table_response(reading: Reading, code: str, format: str) -> HttpResponse:
    if format not in TABLES:
        raise Http404
    content = TABLES[format](reading.part("tables", code))
    return _file(content, TABLE_TYPES[format], f"report-{reading.report.pk}-{code}.{format}")


def figure_response(reading: Reading, code: str, format: str) -> HttpResponse:
    if format not in CONTENT_TYPES:
        raise Http404
    content = drawn(reading.part("figures", code), format)
    response = _file(content, CONTENT_TYPES[format], f"report-{reading.report.pk}-{code}.{format}")
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def document_response(reading: Reading) -> HttpResponse:
    return _file(document_of(reading), "text/html; charset=utf-8", f"report-{reading.report.pk}.html", "attachment")


def drawn(found: dict[str, Any], format: str) -> str | bytes:
    """The content of a figure in one of the CONTENT_TYPES."""
    if format == "json":
        return json.dumps(found["spec"], ensure_ascii=False)
    if format == "csv":
        return data_csv(found["spec"])
    return paper_file(on_paper(found), format)  # type: ignore[arg-type]


def _ready(project: Project, pk: int) -> Report:
    return get_object_or_404(project.reports.filter(status=Report.Status.READY), pk=pk)


def _file(content: str | bytes, type: str, name: str, shown: str = "inline") -> HttpResponse:
    return HttpResponse(content, content_type=type, headers={"Content-Disposition": f'{shown}; filename="{name}"'})
