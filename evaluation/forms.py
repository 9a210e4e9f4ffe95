"""What the forms of all kinds of reports have in common."""

from typing import Any

from django import forms

from evaluation.parameters import ReportParameters
from projects.models import Project

_DEFAULTS = ReportParameters.model_fields
_LAST = ("resamples", "seed", "min_n")


class ReportForm(forms.Form):
    """Title and numbers; a kind's own fields stand between them. Choices come from the project (`_offer`)."""

    title = forms.CharField(max_length=200, help_text="What the report is about, for example the wave of the study.")
    resamples = forms.IntegerField(
        label="Bootstrap resamples",
        min_value=100,
        max_value=20_000,
        initial=_DEFAULTS["resamples"].default,
        help_text="Draws behind each interval.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**53,
        initial=_DEFAULTS["seed"].default,
        help_text="The same seed and data give the same numbers again.",
    )
    min_n = forms.IntegerField(
        label="Smallest n in a shared report",
        min_value=1,
        max_value=1000,
        initial=_DEFAULTS["min_n"].default,
        help_text="Where this report is shown to people outside the project, what rests on fewer is masked.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([name for name in self.fields if name not in _LAST])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        """Give the field its choices; one that is not required goes where there are none."""
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices
        if not choices and not field.required:
            del self.fields[name]

    @property
    def parameters(self) -> dict[str, Any]:
        """The valid form's choices as the parameters of a report."""
        return {name: value for name, value in self.cleaned_data.items() if name != "title"}
