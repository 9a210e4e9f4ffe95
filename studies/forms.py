"""The researcher's smaller forms: a study's beginning, its file, and a record before the data come."""

from typing import Any

from django import forms

from materials.form_fields import JsonField, MarkdownField
from materials.models import Dataset, Instrument
from projects.models import Project
from studies.models import Study

LARGEST_FILE = 2_000_000  # bytes


def offer_materials(form: forms.Form, project: Project) -> None:
    """Let people choose among the project's datasets and instruments."""
    dataset, instrument = form.fields["dataset"], form.fields["instrument"]
    dataset.queryset = project.datasets.order_by("name")  # type: ignore[attr-defined]
    dataset.error_messages["required"] = "A study needs items: import some at Materials first."
    instrument.queryset = project.instruments.order_by("name", "-version")  # type: ignore[attr-defined]
    instrument.error_messages["required"] = "A study needs questions: publish some at Materials, Instruments, first."


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
    """`cleaned_data["data"]` is what the file holds, or else the text; `source` is the field it came in."""

    file = forms.FileField(
        required=False,
        label="File",
        help_text="JSON as “Download as a file” on a study's page gives it, at most 2 MB.",
    )
    study = JsonField(None, rows=6, label="Or its text")

    @property
    def source(self) -> str:
        return "file" if self.cleaned_data.get("file") else "study"

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if not file:
            return None
        if file.size > LARGEST_FILE:
            raise forms.ValidationError("The file is larger than 2 MB, so it is no study's: choose another.")
        try:
            return self.fields["study"].clean(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise forms.ValidationError("The file is no UTF-8 text: save it as UTF-8.") from error

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data.get("file") or self.cleaned_data.get("study")
        if not data and not self.errors:
            self.add_error("file", "Choose a study's file, or paste its text.")
        return self.cleaned_data | {"data": data}


class PreregistrationForm(forms.Form):
    planned_report = MarkdownField(
        rows=10,
        required=True,
        help_text="Hypotheses, comparisons, measures, how many people, and what would change your mind.",
    )
