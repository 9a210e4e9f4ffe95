"""What the forms of all kinds of reports have in common."""

from collections.abc import Sequence
from typing import Any

from django import forms

from evaluation.parameters import ComparedParameters
from evaluation.selection import model_names
from projects.models import Project

_DEFAULTS = ComparedParameters.model_fields
_LAST = ("resamples", "seed", "min_n")
PEOPLE = [
    ("real", "Real people only"),
    ("simulated", "Simulated people only"),
    ("all", "Both together (the report says how many of each)"),
]
SESSIONS = [
    ("completed", "Completed sessions, with the attention check passed"),
    ("passed", "Sessions that pass the quality filters of their study; the report keeps what each filter left out"),
    ("all", "All sessions, also unfinished ones and those that failed the attention check"),
]
KINDS = [("participant", "Participants"), ("annotator", "Annotators")]


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
        """Give the field its choices; where there are none, one that is not required goes and another says so."""
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices
        if not choices and not field.required:
            del self.fields[name]
        elif not choices:
            field.error_messages["required"] = "Nothing in this project can be chosen here yet."

    @property
    def parameters(self) -> dict[str, Any]:
        """The valid form's choices as the parameters of a report."""
        return {name: value for name, value in self.cleaned_data.items() if name != "title"}


def optional_column(**options: Any) -> forms.TypedChoiceField:
    """A field for the name of a column, or None."""
    return forms.TypedChoiceField(required=False, empty_value=None, **options)


class ModelForm(ReportForm):
    """For kinds with answers of models: which items, which questions, which models."""

    dataset = forms.ChoiceField(help_text="The items that were asked about.")
    instrument = forms.ChoiceField(help_text="Answers to all its versions enter; the report names them.")
    models = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, required=False, help_text="Every model that answered when none is chosen."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        instruments = dict(project.instruments.order_by("version").values_list("name", "title"))
        self._offer("dataset", list(project.datasets.values_list("slug", "name")))
        self._offer("instrument", list(instruments.items()))
        self._offer("models", [(name, name) for name in model_names(project)])
        self._questions = [question for i in project.instruments.all() for question in i.questionnaire.questions]

    def _offer_columns(self, name: str, columns: Sequence[str]) -> None:
        """Let one of these columns be chosen, or none."""
        self._offer(name, [("", "None"), *((column, column) for column in columns)] if columns else [])

    def _codes(self, *kinds: str) -> list[tuple[str, str]]:
        """The codes of the project's questions of these kinds, to choose from."""
        codes = dict.fromkeys(question.code for question in self._questions if question.kind in kinds)
        return [(code, code) for code in codes]


class ComparedForm(ModelForm):
    """For kinds with answers of people beside those of models. Parameters that need a decision have no default."""

    people = forms.ChoiceField(
        choices=PEOPLE,
        widget=forms.RadioSelect,
        help_text="Simulated people are bots: their answers say nothing about real people.",
    )
    kinds = forms.MultipleChoiceField(
        label="Answers of", choices=KINDS, initial=["participant"], widget=forms.CheckboxSelectMultiple
    )
    sessions = forms.ChoiceField(
        label="Sessions of participants",
        choices=SESSIONS,
        initial=_DEFAULTS["sessions"].default,
        widget=forms.RadioSelect,
        help_text="The report says how many people and answers are left out, and why. Annotators and imported people "
        "have no session and take part.",
    )
