"""Endpoints: the list, the form and the test."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from llm import services
from llm.models import Endpoint
from llm.pages.endpoint_forms import EndpointForm
from llm.querysets import endpoints_with_use
from llm.servers.embedded import embedded_model_runs
from llm.servers.server_kinds import KINDS
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.crypto import DecryptionError
from projects.models import Project

KIND_BY_NAME = {kind.name: kind for kind in KINDS}


@project_view(*READERS)
def endpoints(request: MemberRequest, project: Project) -> HttpResponse:
    context = {"endpoints": endpoints_with_use(project), "may_change": request.role in MANAGERS}
    return render(request, "llm/endpoints.html", _context(project) | context)


@project_view(*MANAGERS)
def endpoint_new(request: MemberRequest, project: Project) -> HttpResponse:
    return _edit(request, project, None)


@require_POST
@project_view(*MANAGERS)
def endpoint_embedded(request: MemberRequest, project: Project) -> HttpResponse:
    if not embedded_model_runs():
        messages.error(request, "The embedded model does not run here; start the installation with --demo.")
        return redirect("endpoint_new", slug=project.slug)
    try:
        found = services.use_embedded_model(project=project, by=request.user)
    except services.EndpointError as error:
        messages.error(request, str(error))
        return redirect("endpoints", slug=project.slug)
    messages.success(request, f"{found.name} can be used in jobs.")
    return redirect("endpoint", slug=project.slug, pk=found.pk)


@project_view(*MANAGERS)
def endpoint(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    return _edit(request, project, get_object_or_404(project.endpoints, pk=pk))


@require_POST
@project_view(*MANAGERS)
def endpoint_test(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    found = get_object_or_404(project.endpoints, pk=pk)
    try:
        probed = services.probe_endpoint(endpoint=found)
    except (services.EndpointError, DecryptionError) as error:
        messages.error(request, str(error))
    else:
        if probed["ok"]:
            messages.success(request, f"{found.name} answers.")
        else:
            messages.error(request, f"{found.name} does not answer; see below what it says.")
    return redirect("endpoint", slug=project.slug, pk=pk)


def _edit(request: MemberRequest, project: Project, found: Endpoint | None) -> HttpResponse:
    kind = KIND_BY_NAME.get(request.GET.get("server", "")) if found is None else None
    initial = {"name": kind.name, "base_url": kind.base_url} if kind else {}
    form = EndpointForm(request.POST if request.method == "POST" else None, instance=found, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            saved = services.save_endpoint(project=project, endpoint=found, by=request.user, **form.cleaned_data)
        except services.EndpointError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{saved.name} is saved. Test it before it is used in a job.")
            return redirect("endpoint", slug=project.slug, pk=saved.pk)
    context = _context(project) | {
        "form": form,
        "endpoint": found,
        "embedded": found is None and embedded_model_runs(),
        "kinds": KINDS if found is None else (),
        "kind": KIND_BY_NAME.get(found.capabilities.get("server", "")) if found else kind,
    }
    return render(request, "llm/endpoint.html", context, status=422 if form.errors else 200)


def _context(project: Project) -> dict[str, Any]:
    return {"project": project, "nav": "models"}
