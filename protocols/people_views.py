"""The page on which PACT's study of people is made from scenarios that are there."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from materials.models import Dataset
from projects.access import MANAGERS, MemberRequest, project_view
from projects.models import Project
from protocols.pact.human_study import PER_COUNTRY, HumanStudyError
from protocols.people_study import make_people_study
from studies.services import StudyNotReadyError


class PeopleStudyForm(forms.Form):
    dataset = forms.ModelChoiceField(
        queryset=Dataset.objects.none(), empty_label=None, label="Scenarios", help_text="63 in the published study."
    )
    contact = forms.CharField(
        max_length=200, help_text="Whom participants ask, and who deletes on request: an address, or words."
    )
    per_country = forms.IntegerField(
        min_value=1, max_value=10_000, initial=PER_COUNTRY, label="People from each of the five countries"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**53, initial=1, help_text="Every draw of the study follows from it."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = project.datasets.order_by("name")  # type: ignore[attr-defined]


@project_view(*MANAGERS)
def people_study(request: MemberRequest, project: Project) -> HttpResponse:
    form = PeopleStudyForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        try:
            study = make_people_study(by=request.user, **form.cleaned_data)
        except HumanStudyError as error:
            form.add_error("dataset", str(error))
        except StudyNotReadyError as error:
            form.add_error("dataset", error.problems)
        else:
            messages.success(request, "The draft is made, with its questions. Look through its texts and codes.")
            return redirect("study_edit", slug=project.slug, pk=study.pk)
    context = {"project": project, "nav": "studies", "form": form}
    return render(request, "protocols/people_study.html", context, status=422 if form.errors else 200)
