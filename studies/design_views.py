"""The researcher's pages on which a study is designed: begun, edited beside a preview, copied, compared, downloaded."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from materials.fitting import field_names
from materials.rows import Posted, with_change
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.draft_form import DraftForm
from studies.draft_preview import preview_page
from studies.draft_values import form_values, json_text
from studies.forms import NewStudyForm, StudyFileForm
from studies.models import Study
from studies.pilot import pilot_path
from studies.services import (
    DraftChangedError,
    NotADraftError,
    StudyNotReadyError,
    begin_study,
    change_draft,
    copy_study,
    create_study_from_file,
    draft_digest,
    file_of,
)
from studies.services.publishing import design_problems, find_problems
from studies.translating import missing_places
from studies.version_changes import changes_of

CHANGED = (
    "Somebody else saved this draft since you opened it, so nothing is saved yet. What they saved stands at each field "
    "that differs. Saving again keeps what is in the form now."
)


def find_study(project: Project, pk: int) -> Study:
    return get_object_or_404(Study.objects.select_related("instrument", "dataset", "project"), project=project, pk=pk)


@project_view(*MANAGERS)
def study_new(request: MemberRequest, project: Project) -> HttpResponse:
    """Two ways to begin: with defaults for a dataset and an instrument, or from a file."""
    form = NewStudyForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        study = begin_study(project=project, by=request.user, **form.cleaned_data)
        messages.success(request, "The draft is made. Nobody can enter before you open it.")
        return redirect("study_edit", slug=project.slug, pk=study.pk)
    return _new(request, project, form, StudyFileForm())


@require_POST
@project_view(*MANAGERS)
def study_from_file(request: MemberRequest, project: Project) -> HttpResponse:
    """The study that a file or a text describes, all or nothing; with a slug that is there, its next version."""
    form = StudyFileForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            study = create_study_from_file(project=project, data=form.cleaned_data["data"], by=request.user)
        except StudyNotReadyError as error:
            form.add_error(form.source, error.problems)
        else:
            messages.success(request, f"{study} is made. Nobody can enter before you open it.")
            return redirect("study", slug=project.slug, pk=study.pk)
    return _new(request, project, NewStudyForm(project=project), form)


def _new(request: HttpRequest, project: Project, form: NewStudyForm, file_form: StudyFileForm) -> HttpResponse:
    context = {"project": project, "nav": "studies", "form": form, "file_form": file_form}
    wrong = form.errors or file_form.errors
    return render(request, "studies/new.html", context, status=422 if wrong else 200)


@project_view(*MANAGERS)
def study_edit(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The draft in sections, beside it a page of what stands in the form; "Save draft" alone stores anything.

    `change` says which entry of a list is added, copied, moved or removed (`materials.rows.with_change`).
    """
    study = find_study(project, pk)
    if study.status != Study.Status.DRAFT:
        messages.error(request, "This version was opened, so it does not change any more: make a new version.")
        return redirect("study", slug=project.slug, pk=pk)
    if request.method != "POST":
        form = DraftForm(initial=form_values(study) | {"seen": draft_digest(study)}, project=project)
        return render(request, "studies/edit.html", _edit(study, form) | preview_context(request, study))
    data = request.POST.dict()
    opened = ""
    if "change" in data:
        data, opened = with_change(data, data["change"], DraftForm.base_fields)
    form = DraftForm(data, project=project)
    is_valid = form.is_valid()
    if "preview" in data or "change" in data:
        context = _edit(study, form, opened) | (preview_context(request, _typed(study, form)) if is_valid else {})
        is_part = "HX-Request" in request.headers and "change" not in data
        return render(request, "studies/edit_preview.html" if is_part else "studies/edit.html", context)
    if is_valid and _save(request, study, form, data):
        return redirect("study_edit", slug=project.slug, pk=pk)
    return render(request, "studies/edit.html", _edit(study, form), status=422)


def _edit(study: Study, form: DraftForm, opened: str = "") -> dict[str, Any]:
    """`opened` is the entry of a list that was just added or moved."""
    changed = opened.partition("-")[0]
    return {
        "project": study.project,
        "nav": "studies",
        "study": study,
        "form": form,
        "opened": opened,
        "changed": form[changed] if changed else None,
    }


def _typed(study: Study, form: DraftForm) -> Study:
    """The study as it stands in the valid form, never saved."""
    kept = {"slug": study.slug, "version": study.version, "translations": study.translations}
    return Study(project=study.project, **kept, **form.study_fields)


def preview_context(request: HttpRequest, study: Study, language: str = "") -> dict[str, Any]:
    """A page of the study, what keeps it from being opened, what its translations lack, and names it can use.

    The page and its language are those that the request chooses, or else the first scenario and `language`.
    """
    page, language = str(request.POST.get("page", "")), str(request.POST.get("page_language", language))
    context: dict[str, Any] = {
        "problems": list(find_problems(study)),
        "item_fields": field_names(study.dataset),
        "codes": [question.code for question in study.instrument.questionnaire.questions],
    }
    try:
        context |= {"shown": preview_page(study, page, language), "missing": missing_places(study)}
    except ValueError as error:  # of the design, the questions, or too few items for it
        context["not_shown"] = str(error)
    return context


def _save(request: MemberRequest, study: Study, form: DraftForm, data: Posted) -> bool:
    """Whether the draft is saved; if not, the form says why. `data` are the form's."""
    try:
        saved = change_draft(study=study, seen=form.cleaned_data["seen"], by=request.user, **form.study_fields)
    except DraftChangedError:
        theirs = find_study(study.project, study.pk)
        form.add_saved_meanwhile(form_values(theirs))
        form.add_error(None, CHANGED)
        data["seen"] = draft_digest(theirs)
        return False
    except NotADraftError as error:
        form.add_error(None, str(error))
        return False
    ready = "It can be opened." if not any(find_problems(saved)) else "What it still needs is named beside it."
    messages.success(request, f"The draft is saved. {ready}")
    return True


@require_POST
@project_view(*MANAGERS)
def study_new_version(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    draft = copy_study(study=find_study(project, pk), by=request.user)
    messages.success(request, f"This is version {draft.version}, a draft. People of earlier versions keep theirs.")
    return redirect("study_edit", slug=project.slug, pk=draft.pk)


@require_GET
@project_view(*READERS)
def study_design(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """All that belongs to the design of a study but its editing: links for trying, records, versions, the file."""
    study = find_study(project, pk)
    may_manage = request.role in MANAGERS
    context = {
        "project": project,
        "nav": "studies",
        "study": study,
        "may_manage": may_manage,
        "problems": list(find_problems(study)) if study.status == Study.Status.DRAFT else [],
        "faults": list(design_problems(study)) if study.status == Study.Status.DRAFT else [],
        "pilot_link": request.build_absolute_uri(pilot_path(study)) if may_manage else "",
        "records": study.preregistrations.select_related("made_by"),
        "changes": list(changes_of(study)),
    }
    return render(request, "studies/design.html", context)


@require_GET
@project_view(*READERS)
def study_file(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study = find_study(project, pk)
    return HttpResponse(
        json_text(file_of(study)),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{study.slug}-{study.version}.json"'},
    )
