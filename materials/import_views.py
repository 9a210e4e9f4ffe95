"""The import wizard: upload a file, choose its columns, see what an import would do, import."""

import csv
import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from materials import importing_runs as runs
from materials.import_forms import PlanForm, SourceForm, UploadForm
from materials.importing import MAX_FAULTS
from materials.models import ImportRun
from materials.reading_faults import SourceError, displayable
from materials.reading_plan import Plan, Source
from materials.reading_source import FORMATS, is_named_otherwise
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project

State = ImportRun.State
PREVIEW_ROWS = 5
EXAMPLES = 3
LISTED_FAULTS = 200
TOO_LATE = "Somebody else has changed this import meanwhile; this is how it is now."


@project_view(*MANAGERS)
def upload(request: MemberRequest, project: Project) -> HttpResponse:
    posted = request.method == "POST"
    form = UploadForm(
        request.POST if posted else None,
        request.FILES if posted else None,
        initial={"dataset": request.GET.get("dataset", "")},
    )
    if posted and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            run = runs.begin(
                project=project,
                dataset_slug=form.cleaned_data["dataset"],
                file_name=file.name,
                chunks=file.chunks(),
                by=request.user,
            )
        except SourceError as error:
            form.add_error("file", str(error))
        else:
            return redirect("import_columns", slug=project.slug, pk=run.pk)
    unfinished = project.import_runs.exclude(state=State.DONE).defer("faults").select_related("by")
    context = {"project": project, "nav": "materials", "form": form, "unfinished": unfinished}
    return render(request, "materials/import.html", context, status=422 if form.errors else 200)


@project_view(*MANAGERS)
def columns(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    if run.state in {*ImportRun.UNDER_WAY, State.DONE}:
        return redirect("import_run", slug=project.slug, pk=run.pk)
    asked = "read" if "read" in request.POST else "check" if request.method == "POST" else ""
    plan = Plan.model_validate(run.plan)
    assert plan.source  # found out when the file came
    sample = runs.look(run, plan.source)
    names = [*dict.fromkeys([*sample.columns, *(column.source for column in plan.columns), *plan.left_out])]
    reading = SourceForm(request.POST if asked == "read" else None, source=plan.source, sheets=sample.sheets)
    if reading.is_valid():
        runs.read_otherwise(run=run, source=reading.source)
        return redirect("import_columns", slug=project.slug, pk=run.pk)
    choosing = PlanForm(request.POST if asked == "check" else None, plan=plan, columns=names)
    if asked == "check" and choosing.is_valid():
        if not (runs.save_plan(run=run, plan=choosing.plan) and runs.start_check(run=run, by=request.user)):
            messages.warning(request, TOO_LATE)
        return redirect("import_run", slug=project.slug, pk=run.pk)
    context = {
        "project": project,
        "nav": "materials",
        "run": run,
        "reading": reading,
        "choosing": choosing,
        "columns": [(form, _examples(sample, form.column)) for form in choosing.columns],
        "sample": sample,
        "preview": [[_shown(content.get(name, "")) for name in sample.columns] for _, content in sample.rows][
            :PREVIEW_ROWS
        ],
        "notes": _notes(run, plan.source),
    }
    wrong = bool(choosing.problems or reading.errors)
    return render(request, "materials/import_columns.html", context, status=422 if wrong else 200)


@project_view(*MANAGERS)
def run_page(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    if run.state == State.DRAFT:
        return redirect("import_columns", slug=project.slug, pk=run.pk)
    return render(request, "materials/import_run.html", _state(project, run))


@project_view(*MANAGERS)
def live(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    return render(request, "materials/import_state.html", _state(project, _run(project, pk)))


@require_POST
@project_view(*MANAGERS)
def act(request: MemberRequest, project: Project, pk: int, action: str) -> HttpResponse:
    run = _run(project, pk)
    if action == "discard":
        if runs.discard(run=run):
            messages.success(request, f"{run.file_name} is forgotten; nothing of it was imported.")
            return redirect("import_items", slug=project.slug)
    elif action == "stop":
        runs.stop(run=run)
    elif action in {"check", "import"}:
        start = runs.start_check if action == "check" else runs.start_import
        if not start(run=run, by=request.user):
            messages.warning(request, TOO_LATE)
    else:
        raise Http404
    return redirect("import_run", slug=project.slug, pk=run.pk)


@project_view(*MANAGERS)
def faults(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    run = _run(project, pk)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{run.dataset_slug}-faults.csv"'
    writer = csv.writer(response)
    writer.writerow(["row", "column", "what"])
    writer.writerows([row or "", _no_formula(column), _no_formula(what)] for row, column, what in run.faults)
    return response


@project_view(*MANAGERS)
def plan(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The plan as `manage.py import_items --plan` takes it."""
    run = _run(project, pk)
    response = JsonResponse(run.plan, json_dumps_params={"indent": 1, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{run.dataset_slug}-plan.json"'
    return response


def _run(project: Project, pk: int) -> ImportRun:
    """The project's run as it is now, marked as failed when its worker is gone."""
    run = get_object_or_404(project.import_runs.select_related("project", "by"), pk=pk)
    if runs.fail_left_behind([run]):
        run.refresh_from_db()
    return run


def _state(project: Project, run: ImportRun) -> dict[str, Any]:
    progress = runs.progress(run)
    return {
        "project": project,
        "nav": "materials",
        "run": run,
        "under_way": run.state in ImportRun.UNDER_WAY,
        "progress": progress,
        "percent": round(100 * progress.share),
        "time_left": _time(progress.seconds_left),
        "faults": run.faults[:LISTED_FAULTS],
        "max_faults": MAX_FAULTS,
        "dataset": project.datasets.filter(slug=run.dataset_slug).first(),
        "plan": Plan.model_validate(run.plan),
    }


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _notes(run: ImportRun, source: Source) -> list[str]:
    """What was found out about the file that the person may not expect."""
    notes = []
    if is_named_otherwise(source, run.file_name):
        notes.append(f"{run.file_name} is named otherwise, but it holds {FORMATS[source.format]} and is read as such.")
    if source.encoding == "cp1252":
        notes.append("The file is not UTF-8; Windows-1252 is a guess. Look at letters with accents before you go on.")
    return notes


def _examples(sample: runs.Sample, column: str) -> list[str]:
    values = dict.fromkeys(_shown(content.get(column, "")) for _, content in sample.rows)
    return [value for value in values if value][:EXAMPLES]


def _shown(value: Any) -> str:
    return displayable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
