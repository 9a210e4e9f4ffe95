"""Forms of the researcher's side of labelling."""

from typing import Any

from django import forms

from annotation.models import LabelProject
from materials.models import Instrument
from projects.models import Project

MOST_ANSWERS = 1000  # an item; each is a row from the start
MOST_MINUTES = 30 * 24 * 60


class LabelProjectForm(forms.ModelForm):
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown. Annotators open it with the key G.",
    )
    overlap = forms.IntegerField(
        label="Answers an item",
        min_value=1,
        max_value=MOST_ANSWERS,
        initial=1,
        help_text="How many different people answer each item.",
    )
    calibration_overlap = forms.IntegerField(
        label="Answers a calibration item",
        required=False,
        min_value=1,
        max_value=MOST_ANSWERS,
        help_text="Needed when there are calibration items.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes an item is kept for one person",
        min_value=1,
        max_value=MOST_MINUTES,
        initial=30,
        help_text="Afterwards somebody else may get it. Typing extends the time.",
    )
    fields_shown = forms.CharField(
        label="Fields to show",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One field of the item a line, with its heading after a colon, for example “scenario: Scenario”. "
        "Empty shows every field.",
    )

    class Meta:
        model = LabelProject
        fields = [
            "name",
            "dataset",
            "instrument",
            "overlap",
            "order",
            "seed",
            "calibration_size",
            "calibration_overlap",
            "lease_minutes",
        ]
        labels = {"calibration_size": "Calibration items"}
        help_texts = {
            "seed": "The same seed gives the same order again.",
            "calibration_size": "Drawn by the seed and labelled first; 0 for none.",
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = project.datasets.all()  # type: ignore[attr-defined]
        latest = Instrument.objects.filter(project=project).order_by("name", "-version").distinct("name")
        self.fields["instrument"].queryset = latest  # type: ignore[attr-defined]

    def clean_fields_shown(self) -> list[Any]:
        chosen: list[Any] = []
        for line in filter(str.strip, self.cleaned_data["fields_shown"].splitlines()):
            name, _, label = (part.strip() for part in line.partition(":"))
            chosen.append({"field": name, "label": label} if label else name)
        return chosen

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("calibration_size") and not data.get("calibration_overlap"):
            self.add_error("calibration_overlap", "Say how many people answer each calibration item.")
        return data
