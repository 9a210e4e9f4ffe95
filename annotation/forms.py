"""Forms of the researcher's side of labelling."""

from typing import Any

from django import forms

from annotation.models import LabelProject
from materials.models import Instrument
from projects.models import Project


class LabelProjectForm(forms.ModelForm):
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
            "guidelines",
            "overlap",
            "order",
            "seed",
            "calibration_size",
            "calibration_overlap",
            "lease_minutes",
        ]
        labels = {
            "overlap": "Answers an item",
            "calibration_size": "Calibration items",
            "calibration_overlap": "Answers a calibration item",
            "lease_minutes": "Minutes an item is kept for one person",
        }
        help_texts = {
            "guidelines": "Markdown. Annotators open it with the key G.",
            "overlap": "How many different people answer each item.",
            "seed": "The same seed gives the same order again.",
            "calibration_size": "Drawn by the seed and labelled first; 0 for none.",
            "calibration_overlap": "Needed when there are calibration items.",
            "lease_minutes": "Afterwards somebody else may get it. Typing extends the time.",
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = project.datasets.all()  # type: ignore[attr-defined]
        latest = Instrument.objects.filter(project=project).order_by("name", "-version").distinct("name")
        self.fields["instrument"].queryset = latest  # type: ignore[attr-defined]
        for name in ("overlap", "lease_minutes"):
            self.fields[name].min_value = 1  # type: ignore[attr-defined]
            self.fields[name].widget.attrs["min"] = 1

    def clean_overlap(self) -> int:
        return self._at_least_one("overlap")

    def clean_lease_minutes(self) -> int:
        return self._at_least_one("lease_minutes")

    def _at_least_one(self, name: str) -> int:
        value: int = self.cleaned_data[name]
        if value < 1:
            raise forms.ValidationError("Give a number of at least 1.")
        return value

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
