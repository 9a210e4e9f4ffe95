"""The researcher's smaller forms: a study's beginning, its file, and a record before the data come."""

from typing import Any

from django import forms

from materials.models import Dataset, Instrument
from projects.models import Project
from studies.form_fields import JsonField, MarkdownField
from studies.models import Study


def offer_materials(form: forms.Form, project: Project) -> None:
    """Let people choose among the project's datasets and instruments."""
    form.fields["dataset"].queryset = project.datasets.order_by("name")  # type: ignore[attr-defined]
    form.fields["instrument"].queryset = project.instruments.order_by("name", "-version")  # type: ignore[attr-defined]


class NewStudyForm(forms.Form):
    """What a draft is begun with."""

    name = forms.CharField(
        max_length=200, help_text="What researchers call it; participants see a title, which is this at first."
    )
    dataset = forms.ModelChoiceField(queryset=Dataset.objects.none(), empty_label=None)
    instrument = forms.ModelChoiceField(queryset=Instrument.objects.none(), empty_label=None)
    platform = forms.ChoiceField(choices=Study.Platform.choices, help_text="Who sends people and pays them.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_materials(self, project)


class StudyFileForm(forms.Form):
    """`study` is cleaned to the data of the file."""

    study = JsonField(
        {},
        rows=12,
        required=True,
        label="The file's text",
        help_text="JSON as “Download as a file” on a study's page gives it.",
    )


class PreregistrationForm(forms.Form):
    planned_report = MarkdownField(
        rows=10,
        required=True,
        help_text="Hypotheses, comparisons, measures, how many people, and what would change your mind.",
    )
