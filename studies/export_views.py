"""Files of a study, for the people of its project."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from materials.fitting import field_names
from materials.questions import QuestionError, option_codes
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project
from studies.design import DesignError
from studies.models import Session, Study
from studies.pact_layout import OF_ITEMS, OF_PEOPLE, OPTIONS, QUESTIONS, PactFields
from studies.services.exports import EXPORTS, PACT, WITH_IDS, StudyExportError, export_study

TYPES = {"csv": "text/csv", "html": "text/html", "md": "text/markdown"}
LABELS = {
    "country": "Country of the person",
    "age": "Age group of the person",
    "gender": "Gender of the person",
    "scenario": "Scenario",
    "scenario_country": "Country of the scenario",
    "receiver_age": "Age group of the receiver",
    "receiver_gender": "Gender of the receiver",
    "personal": "Personal choice",
    "norm": "Norm",
    "culture": "A: follows the custom",
    "preference": "B: follows the preference",
}


class PactForm(forms.Form):
    """Which parts of the study hold what the layout asks for; the usual ones where the study has them."""

    simulated = forms.BooleanField(label="Simulated people instead of people", required=False)

    def __init__(self, data: QueryDict | None = None, *, study: Study) -> None:
        usual = PactFields().model_dump()
        # What an address leaves out is the usual one; the page, without data, only offers that.
        super().__init__(None if data is None else usual | data.dict(), initial=usual, label_suffix="")
        for name, codes in _parts(study).items():
            unknown = f"The study has no %(value)s for this; it has {', '.join(codes) or 'none'}."
            choices = [("", "Choose"), *((code, code) for code in codes)]
            self.fields[name] = forms.ChoiceField(
                label=LABELS[name], choices=choices, error_messages={"invalid_choice": unknown}
            )

    @property
    def problems(self) -> list[str]:
        return [f"{self.fields[name].label}: {errors[0]}" for name, errors in self.errors.items()]

    @property
    def chosen(self) -> PactFields:
        """Of a valid form."""
        return PactFields(**{name: self.cleaned_data[name] for name in LABELS})


def _parts(study: Study) -> dict[str, list[str]]:
    """What can be chosen for each part of the layout."""
    choices = [question for question in study.item_questions if question.kind == "choice"]
    codes = list(dict.fromkeys(code for question in choices for code in option_codes(question)))
    by_kind = {
        OF_PEOPLE: [question.code for question in study.demographic_questions],
        OF_ITEMS: field_names(study.dataset),
        QUESTIONS: [question.code for question in choices],
        OPTIONS: codes,
    }
    return {name: there for names, there in by_kind.items() for name in names}


@require_GET
@project_view(*READERS)
def study_exports(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    study = _study(project, pk)
    context: dict[str, Any] = {
        "project": project,
        "nav": "studies",
        "study": study,
        "sessions": Session.objects.counted().filter(study=study).count(),
        "files": [(name, about, _address(project, study, name)) for name, about in EXPORTS.items() if name != PACT],
        "pact_address": _address(project, study, PACT),
        "ids_address": _address(project, study, WITH_IDS),
        "may_have_ids": request.role in MANAGERS and study.platform != Study.Platform.NONE,
    }
    try:
        context["pact"] = PactForm(study=study)
    except (DesignError, QuestionError) as error:
        context["problem"] = str(error)
    return render(request, "studies/exports.html", context)


@require_GET
@project_view(*READERS)
def study_export(request: MemberRequest, project: Project, pk: int, name: str) -> HttpResponseBase:
    """One file; `?ids=on` adds platform ids to the sessions, for who may manage the study."""
    if name not in EXPORTS:
        raise Http404
    study, with_ids = _study(project, pk), "ids" in request.GET
    if with_ids and request.role not in MANAGERS:
        raise PermissionDenied
    given: dict[str, Any] = {}
    try:
        if name == PACT:
            form = PactForm(request.GET, study=study)
            if not form.is_valid():
                return _sentences(form.problems)
            given = {"fields": form.chosen, "simulated": form.cleaned_data["simulated"]}
        bom = "bom" in request.GET
        lines = export_study(study=study, name=name, by=request.user, with_ids=with_ids, bom=bom, **given)
    except StudyExportError as error:
        return _sentences(error.problems)
    except (DesignError, QuestionError) as error:
        return _sentences([str(error)])
    response = StreamingHttpResponse(lines, content_type=f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8")
    who = "simulated-" if given.get("simulated") else ""
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{study.version}-{who}{name}"'
    return response


def _address(project: Project, study: Study, name: str) -> str:
    return reverse("study_export", kwargs={"slug": project.slug, "pk": study.pk, "name": name})


def _study(project: Project, pk: int) -> Study:
    return get_object_or_404(Study.objects.select_related("instrument", "dataset", "project"), project=project, pk=pk)


def _sentences(problems: list[str]) -> HttpResponse:
    return HttpResponse("\n".join(problems) + "\n", status=422, content_type="text/plain; charset=utf-8")
