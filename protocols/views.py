"""Pages of protocols: those that can be started, and one on its way with its stages in order."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.middleware import HtmxDetails

from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from protocols import presentation, services
from protocols.catalogue import all_protocols
from protocols.files import given_files
from protocols.forms import SettingsForm
from protocols.models import ProtocolRun, StageRun
from protocols.stages import Stage, StageError
from protocols.states import settings_of

STOP_POLLING = 286  # htmx asks no more after this status


class HtmxRequest(MemberRequest):
    """A member's request with what htmx says about it."""

    htmx: HtmxDetails


@project_view(*READERS)
def protocols(request: MemberRequest, project: Project) -> HttpResponse:
    context = {
        "project": project,
        "nav": "protocols",
        "runs": project.protocol_runs.select_related("created_by"),
        "known": all_protocols(),
        "may_start": request.role in MANAGERS,
    }
    return render(request, "protocols/protocols.html", context)


@require_POST
@project_view(*MANAGERS)
def start(request: MemberRequest, project: Project) -> HttpResponse:
    try:
        run = services.start_protocol(project=project, name=request.POST.get("protocol", ""), by=request.user)
    except StageError as error:
        messages.error(request, str(error))
        return redirect("protocols", slug=project.slug)
    return redirect("protocol", slug=project.slug, pk=run.pk)


@project_view(*READERS)
def protocol(request: HtmxRequest, project: Project, pk: int) -> HttpResponse:
    """The stages in order; while one is under way, htmx asks for its panel alone."""
    run = get_object_or_404(project.protocol_runs, pk=pk)
    if request.htmx:
        found = presentation.panels(run, request.role, only=request.GET.get("stage", ""))
        if len(found) != 1 or not found[0].state.open:
            return HttpResponse(status=STOP_POLLING, headers={"HX-Refresh": "true"})
        return render(request, "protocols/stage.html", {"project": project, "run": run, "panel": found[0]})
    return _page(request, project, run)


@require_POST
@project_view(*MANAGERS)
def give_file(request: MemberRequest, project: Project, pk: int, source: str) -> HttpResponse:
    run = get_object_or_404(project.protocol_runs, pk=pk)
    file = request.FILES.get("file")
    if file is None:
        messages.error(request, "Choose a file first.")
        return redirect("protocol", slug=project.slug, pk=pk)
    try:
        services.give_file(run=run, source=source, file_name=file.name or "", chunks=file.chunks(), by=request.user)
    except StageError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{file.name} is kept; the stages that read it take it when they are run.")
    return redirect("protocol", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def use_shipped_files(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    run = get_object_or_404(project.protocol_runs, pk=pk)
    try:
        services.use_shipped_files(run=run, by=request.user)
    except StageError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Your files are removed; stages that are run now read Concord’s small set.")
    return redirect("protocol", slug=project.slug, pk=pk)


@require_POST
@project_view(*MANAGERS)
def set_settings(request: MemberRequest, project: Project, pk: int, stage: str) -> HttpResponse:
    run, known = _run_and_stage(project, pk, stage)
    form = SettingsForm(request.POST, settings=settings_of(run, known), project=project, prefix=stage)
    if form.is_valid():
        try:
            services.set_settings(run=run, code=stage, values=form.values, by=request.user)
        except StageError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Set for the next run of “{known.title}”.")
            return _to_stage(project, run, stage)
    return _page(request, project, run, forms={stage: form}, status=422)


@require_POST
@project_view(*MANAGERS)
def run_stage(request: MemberRequest, project: Project, pk: int, stage: str) -> HttpResponse:
    run, _ = _run_and_stage(project, pk, stage)
    try:
        stage_run = services.run_stage(run=run, code=stage, by=request.user)
    except StageError as error:
        messages.error(request, str(error))
    else:
        if stage_run.status == StageRun.Status.FAILED:
            messages.error(request, stage_run.problem)
    return _to_stage(project, run, stage)


@require_POST
@project_view(*MANAGERS)
def collect(request: MemberRequest, project: Project, pk: int, stage: str) -> HttpResponse:
    run, _ = _run_and_stage(project, pk, stage)
    try:
        services.collect_stage(run=run, code=stage, by=request.user, partial=True)
    except StageError as error:
        messages.error(request, str(error))
    return _to_stage(project, run, stage)


def _page(
    request: MemberRequest,
    project: Project,
    run: ProtocolRun,
    *,
    forms: dict[str, SettingsForm] | None = None,
    status: int = 200,
) -> HttpResponse:
    given = given_files(run)
    context = {
        "project": project,
        "nav": "protocols",
        "run": run,
        "panels": presentation.panels(run, request.role, forms=forms),
        "funnel": presentation.funnel(run),
        "sources": [(source, given.get(source.name)) for source in run.protocol.sources],
        "can_use_shipped": run.files.exists() and any(source.shipped for source in run.protocol.sources),
        "may_run": request.role in MANAGERS,
        "errors": [
            {"target": form[name].id_for_label if name in form.fields else "", "text": text}
            for form in (forms or {}).values()
            for name, texts in form.errors.items()
            for text in texts
        ],
    }
    return render(request, "protocols/protocol.html", context, status=status)


def _run_and_stage(project: Project, pk: int, code: str) -> tuple[ProtocolRun, Stage]:
    run = get_object_or_404(project.protocol_runs, pk=pk)
    try:
        return run, run.protocol.stage(code)
    except StageError as error:
        raise Http404 from error


def _to_stage(project: Project, run: ProtocolRun, code: str) -> HttpResponse:
    response = redirect("protocol", slug=project.slug, pk=run.pk)
    response["Location"] += f"#stage-{code}"
    return response
