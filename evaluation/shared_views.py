"""A report for people outside the project: whoever has its link reads it, with small cells masked."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from evaluation import downloads, services
from evaluation.document import context
from evaluation.models import Report, ReportShare
from evaluation.presentation import Reading, by_link
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project
from projects.services import audit


@require_POST
@project_view(*MANAGERS)
def share(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    report = get_object_or_404(project.reports.filter(status=Report.Status.READY), pk=pk)
    services.share_report(report=report, by=request.user)
    return redirect("report", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def unshare(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    services.revoke_share(report=get_object_or_404(project.reports, pk=pk), by=request.user)
    return redirect("report", slug=project.slug, pk=pk)


@never_cache
def report(request: HttpRequest, key: str) -> HttpResponse:
    reading = _read(key)
    return render(request, "evaluation/document.html", context(reading) | {"document_url": reading.url("document")})


@never_cache
def document(request: HttpRequest, key: str) -> HttpResponse:
    return downloads.document_response(_read(key))


@never_cache
def table(request: HttpRequest, key: str, code: str, format: str) -> HttpResponse:
    return downloads.table_response(_reading(key), code, format)


@never_cache
def figure(request: HttpRequest, key: str, code: str, format: str) -> HttpResponse:
    return downloads.figure_response(_reading(key), code, format)


def _reading(key: str) -> Reading:
    shares = ReportShare.objects.select_related("report__project")
    return by_link(get_object_or_404(shares, key=key, revoked_at=None))


def _read(key: str) -> Reading:
    """The same, kept in the project's audit log."""
    reading = _reading(key)
    audit(project=reading.report.project, user=None, action="shared report read", report=reading.report.pk)
    return reading
