"""Records of what was decided before the data came: made, shown, downloaded, never changed."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from materials.services import canonical_json
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.design_views import find_study
from studies.draft_values import json_text
from studies.filters import in_words, parse_filters
from studies.forms import PreregistrationForm
from studies.models import Preregistration
from studies.services import StudyNotReadyError, is_as_registered, preregister


@project_view(*MANAGERS)
def study_preregister(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study = find_study(project, pk)
    form = PreregistrationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            record = preregister(study=study, by=request.user, **form.cleaned_data)
        except StudyNotReadyError as error:
            form.add_error(None, error.problems)
        else:
            return redirect("preregistration", slug=project.slug, pk=pk, record=record.pk)
    context = {"project": project, "nav": "studies", "study": study, "form": form}
    return render(request, "studies/preregister.html", context, status=422 if form.errors else 200)


@require_GET
@project_view(*READERS)
def preregistration(request: MemberRequest, project: Project, pk: int, record: int) -> HttpResponse:
    found = _record(project, pk, record)
    context = {
        "project": project,
        "nav": "studies",
        "study": found.study,
        "record": found,
        "filters": [in_words(entry) for entry in parse_filters(found.content["study"]["filters"])],
        "file": json_text(found.content["study"]),
        "is_as_registered": is_as_registered(found),
    }
    return render(request, "studies/preregistration.html", context)


@require_GET
@project_view(*READERS)
def preregistration_file(request: MemberRequest, project: Project, pk: int, record: int) -> HttpResponse:
    """The very bytes whose SHA-256 is the record's."""
    found = _record(project, pk, record)
    name = f"preregistration-{found.study.slug}-{found.pk}.json"
    return HttpResponse(
        canonical_json(found.content),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _record(project: Project, pk: int, record: int) -> Preregistration:
    records = Preregistration.objects.select_related("study__dataset", "study__instrument", "made_by")
    return get_object_or_404(records, study__project=project, study=pk, pk=record)
