"""The lists of labelling projects, and the researcher's page of one."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotation import monitoring, services
from annotation.models import LabelProject
from annotation.next_steps import next_steps
from annotation.progress import progress_of
from projects.access import EVERY_ROLE, MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project, Role


@project_view(*EVERY_ROLE)
def labelling(request: MemberRequest, project: Project) -> HttpResponse:
    """An annotator's own work; for everybody else all labelling projects with their progress."""
    context = {"project": project, "nav": "labelling"}
    role = request.role
    if role == Role.ANNOTATOR:
        own = project.label_projects.select_related("project")
        work = [(entry, progress_of(entry, request.user, fresh=True)) for entry in own]
        primary = next((entry for entry, progress in work if entry.is_open and progress.left), None)
        return render(request, "annotation/own_work.html", context | {"work": work, "primary": primary})
    rows = LabelProject.objects.for_list(project)
    return render(request, "annotation/list.html", context | {"rows": rows, "may_create": role in MANAGERS})


def find(project: Project, label: str) -> LabelProject:
    found: LabelProject = get_object_or_404(
        LabelProject.objects.select_related("dataset", "instrument", "project"), project=project, slug=label
    )
    return found


@project_view(*READERS)
def label_project(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """The live page: state, people, labels, what was flagged or skipped; for htmx only the part that changes."""
    found = find(project, label)
    seen = monitoring.live(found)
    counts = seen["states"]
    context = {
        "project": project,
        "nav": "labelling",
        "label_project": found,
        "current": "live",
        "simulated": any(person.simulated for person in seen["people"]),
        "checked": found.known_answers.exists(),
        "changing": found.is_open and (counts["free"] or counts["leased"]),
        "may_change": request.role in MANAGERS,
        "steps": next_steps(found) if request.role in MANAGERS and not counts["submitted"] else [],
        **seen,
    }
    return render(
        request, "annotation/live.html" if "HX-Request" in request.headers else "annotation/detail.html", context
    )


@require_POST
@project_view(*MANAGERS)
def label_status(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    found = find(project, label)
    if request.POST.get("status") in LabelProject.Status.values:
        services.set_status(label_project=found, status=request.POST["status"], by=request.user)
        messages.success(request, f"Labelling is {found.get_status_display().lower()}.")
    return redirect("label_project", slug=project.slug, label=label)
