"""The pages on which a draft's texts are written in other languages, beside a preview."""

import re
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from materials.questions import QuestionError
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project
from studies.design import LANGUAGE, DesignError
from studies.design_views import find_study, preview_context
from studies.models import Study
from studies.services import DraftChangedError, NotADraftError, change_draft, draft_digest
from studies.translating import language_name, missing_places
from studies.translation_form import LanguageForm, TranslationForm

CHANGED = (
    "Somebody else saved this draft since you opened it, so nothing is saved yet. Saving again keeps what is in the "
    "form now for this language, and all else as they saved it."
)


@require_GET
@project_view(*MANAGERS)
def study_languages(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The languages of a draft, what each lacks, and the way to another one."""
    study = find_study(project, pk)
    if problem := _problem(study):
        messages.error(request, problem)
        return redirect("study", slug=project.slug, pk=pk)
    form = LanguageForm(request.GET if "language" in request.GET else None, study=study)
    if form.is_bound and form.is_valid():
        return redirect("study_language", slug=project.slug, pk=pk, language=form.cleaned_data["language"])
    rows = [
        (code, language_name(code, study.parsed_translations[code]), len(places))
        for code, places in missing_places(study).items()
    ]
    context = _context(study) | {"form": form, "rows": rows, "own": language_name(study.parsed_design.language)}
    return render(request, "studies/languages.html", context, status=422 if form.errors else 200)


@project_view(*MANAGERS)
def study_language(request: MemberRequest, project: Project, pk: int, language: str) -> HttpResponse:
    """One language of a draft; "Save" stores it, "Remove" takes it out."""
    study = find_study(project, pk)
    if problem := _problem(study):
        messages.error(request, problem)
        return redirect("study", slug=project.slug, pk=pk)
    if not re.fullmatch(LANGUAGE, language) or language == study.parsed_design.language:
        raise Http404
    data = request.POST.dict() if request.method == "POST" else None
    form = TranslationForm(data, study=study, language=language, initial={"seen": draft_digest(study)})
    context = _context(study) | {"form": form, "language": language, "has_it": language in study.translations}
    if data is None:
        return render(request, "studies/language.html", context | _preview(request, study, language))
    is_valid = form.is_valid()
    if "preview" in data:
        context |= _preview(request, study, language, form.translation) if is_valid else {}
        is_part = "HX-Request" in request.headers
        return render(request, "studies/edit_preview.html" if is_part else "studies/language.html", context)
    if is_valid and _save(request, study, language, form, data):
        return redirect("study_languages", slug=project.slug, pk=pk)
    return render(request, "studies/language.html", context, status=422)


def _problem(study: Study) -> str:
    """Why there is nothing to translate; "" when there is."""
    if study.status != Study.Status.DRAFT:
        return "This version was opened, so it does not change any more: make a new version."
    try:
        missing_places(study)
    except (DesignError, QuestionError) as error:
        return f"Before it can be translated, settle this: {error}"
    return ""


def _preview(request: HttpRequest, study: Study, language: str, typed: dict[str, Any] | None = None) -> dict[str, Any]:
    """A page of the draft with the words that are typed; in this language unless the request chooses another one."""
    shown = Study(**{field.attname: getattr(study, field.attname) for field in Study._meta.concrete_fields})
    shown.translations = study.translations | {language: typed or study.translations.get(language, {})}
    return preview_context(request, shown, language)


def _save(request: MemberRequest, study: Study, language: str, form: TranslationForm, data: dict[str, str]) -> bool:
    """Whether it is saved; if not, the form says why. `data` are the form's."""
    others = {code: said for code, said in study.translations.items() if code != language}
    kept = others if "remove" in data else study.translations | {language: form.translation}
    try:
        change_draft(study=study, seen=form.cleaned_data["seen"], by=request.user, translations=kept)
    except DraftChangedError:
        form.add_error(None, CHANGED)
        data["seen"] = draft_digest(study)
        return False
    except NotADraftError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, f"{language} is {'taken out' if 'remove' in data else 'saved'}.")
    return True


def _context(study: Study) -> dict[str, Any]:
    return {"project": study.project, "nav": "studies", "study": study}
