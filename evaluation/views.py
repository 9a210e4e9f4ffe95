"""Pages of reports: the list, a new one, one report."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.http import require_POST
from django_htmx.middleware import HtmxDetails

from evaluation import presentation, services
from evaluation.kinds import KINDS
from evaluation.material import Material, answered_materials
from evaluation.models import Report
from evaluation.parameters import ReportError
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from responses.models import RespondentKind

STOP_POLLING = 286  # htmx asks no more after this status


class HtmxRequest(MemberRequest):
    """A member's request with what htmx says about it."""

    htmx: HtmxDetails


@project_view(*READERS)
def reports(request: MemberRequest, project: Project) -> HttpResponse:
    context = {
        "project": project,
        "nav": "reports",
        "reports": project.reports.for_list(),
        "may_create": request.role in MANAGERS,
    }
    return render(request, "evaluation/reports.html", context)


@project_view(*MANAGERS)
def new_report(request: MemberRequest, project: Project) -> HttpResponse:
    """The form of the kind in the address (?kind=) for a material (&material=), or the newest that fits; without a
    kind, the kinds to choose from."""
    kind = KINDS.get(request.GET.get("kind", ""))
    context: dict[str, Any] = {"project": project, "nav": "reports", "kind": kind}
    if kind is None:
        status = 422 if request.method == "POST" else 200
        return render(request, "evaluation/kinds.html", context | {"kinds": KINDS.values()}, status=status)
    form_of_kind = import_string(kind.form)
    materials = [material for material in answered_materials(project) if form_of_kind.fits(material)]
    named = request.POST.get("material") or request.GET.get("material")
    context |= {"materials": materials, "material": _chosen(materials, named), "needs": form_of_kind.needs}
    if context["material"] is None:
        context["unknown"] = bool(named) or request.method == "POST"
        return render(request, "evaluation/new_report.html", context, status=422 if context["unknown"] else 200)
    form = form_of_kind(request.POST if request.method == "POST" else None, material=context["material"])
    if request.method == "POST" and form.is_valid():
        try:
            report = services.create_report(
                project=project,
                title=form.cleaned_data["title"],
                kind=kind.code,
                parameters=form.parameters,
                created_by=request.user,
            )
        except ReportError as error:
            form.add_error(None, str(error))
        else:
            return redirect("report", slug=project.slug, pk=report.pk)
    return render(request, "evaluation/new_report.html", context | {"form": form}, status=422 if form.errors else 200)


@project_view(*READERS)
def report(request: HtmxRequest, project: Project, pk: int) -> HttpResponse:
    """The report; while it is being computed, htmx asks for the fragment of its state every two seconds."""
    found = get_object_or_404(project.reports.select_related("created_by"), pk=pk)
    pending = found.status == Report.Status.PENDING
    if request.htmx:
        if not pending:
            return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
        return render(request, "evaluation/pending.html", _state(request, project, found))
    context = _state(request, project, found) | {
        "nav": "reports",
        "kind": KINDS[found.kind],
        "sections": presentation.by_member(found).shown() if found.status == Report.Status.READY else [],
        "parameters": presentation.parameters(found),
        "has_data": hasattr(found, "data"),
        "share_url": _share_url(request, found),
    }
    return render(request, "evaluation/report.html", context)


@require_POST
@project_view(*MANAGERS)
def build(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project.reports, pk=pk)
    if not services.build_again(report=found):
        messages.info(request, "This report is ready and stays as it is; make a new one to compute it again.")
    return redirect("report", slug=project.slug, pk=pk)


def _chosen(materials: Sequence[Material], code: str | None) -> Material | None:
    """The material with the code, or the newest, before which come those that people and models answered."""
    if code:
        return next((material for material in materials if material.code == code), None)
    both = [material for material in materials if RespondentKind.MODEL in material.kinds and len(material.kinds) > 1]
    return next(iter([*both, *materials]), None)


def _share_url(request: HtmxRequest, found: Report) -> str:
    share = found.shares.filter(revoked_at=None).first()
    return request.build_absolute_uri(reverse("shared_report", args=[share.key])) if share else ""


def _state(request: MemberRequest, project: Project, found: Report) -> dict[str, object]:
    return {
        "project": project,
        "report": found,
        "overdue": timezone.now() - found.active_at > services.PATIENCE,
        "may_create": request.role in MANAGERS,
    }
