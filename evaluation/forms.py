"""What the forms of all kinds of reports have in common."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.functional import cached_property
from django.utils.text import Truncator

from evaluation.material import Material
from evaluation.parameters import ComparedParameters
from evaluation.selection import columns
from materials.questions import option_codes
from responses.models import RespondentKind

_DEFAULTS = ComparedParameters.model_fields
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
    """Title and numbers; a kind's own fields stand between them, those `folded` behind a fold at the end."""

    folded: tuple[str, ...] = ("resamples", "seed", "min_n")

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([name for name in self.fields if name not in self.folded])

    def in_view(self) -> list[forms.BoundField]:
        """The fields before the fold."""
        return [self[name] for name in self.fields if name not in self.folded]

    def behind_the_fold(self) -> list[forms.BoundField]:
        """The other ones, which have a default."""
        return [self[name] for name in self.fields if name in self.folded]

    def wrong_behind_the_fold(self) -> bool:
        return any(field.errors for field in self.behind_the_fold())

    def _offer(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
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
    """For kinds with answers of models to the questions of a material, of the kinds `asks`."""

    asks: tuple[str, ...] = ("choice",)
    answered_by: tuple[str, ...] = (RespondentKind.MODEL,)  # any of them
    needs = "This report needs answers of models to a question with options."

    models = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, required=False, help_text="Every model that answered when none is chosen."
    )

    def __init__(self, *args: Any, material: Material, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.material = material
        self.fields["title"].initial = material.dataset.name
        # One model needs no choice.
        self._offer("models", [(name, name) for name in material.models] if len(material.models) > 1 else [])

    @classmethod
    def fits(cls, material: Material) -> bool:
        """Whether a report of the kind can be about it."""
        kinds = {question.kind for question in material.instrument.questionnaire.questions}
        return bool(kinds.intersection(cls.asks)) and bool(material.kinds.intersection(cls.answered_by))

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        return columns(self.material.dataset.project, self.material.dataset)

    @property
    def parameters(self) -> dict[str, Any]:
        about = {"dataset": self.material.dataset.slug, "instrument": self.material.instrument.name}
        return super().parameters | about

    def _offer_columns(self, name: str, columns: Sequence[str]) -> None:
        """Let one of these columns be chosen, or none."""
        self._offer(name, [("", "None"), *((column, column) for column in columns)] if columns else [])

    def _offer_option(self, name: str, default: str) -> None:
        """Let one of the options of choices be chosen, the first one where the default is not among them."""
        codes = list(dict.fromkeys(code for question in self._asked("choice") for code in option_codes(question)))
        self._offer(name, [(code, code) for code in codes])
        self.fields[name].initial = default if default in codes else next(iter(codes), None)

    def _codes(self, *kinds: str) -> list[tuple[str, str]]:
        """The codes of the questions of these kinds with their texts, to choose from."""
        return [(question.code, f"{question.code}: {_short(question.text)}") for question in self._asked(*kinds)]

    def _asked(self, *kinds: str) -> list[Any]:
        return [question for question in self.material.instrument.questionnaire.questions if question.kind in kinds]


class ComparedForm(ModelForm):
    """For kinds with answers of people beside those of models. Parameters that need a decision have no default."""

    answered_by = tuple(kind for kind, _ in KINDS)
    needs = "This report needs answers of people to a question with options."
    usually: str = RespondentKind.PARTICIPANT  # whose answers enter where both kinds of people answered

    people = forms.ChoiceField(
        choices=PEOPLE,
        widget=forms.RadioSelect,
        help_text="Simulated people are bots: their answers say nothing about real people.",
    )
    kinds = forms.MultipleChoiceField(label="Answers of", choices=KINDS, widget=forms.CheckboxSelectMultiple)
    sessions = forms.ChoiceField(
        label="Sessions of participants",
        choices=SESSIONS,
        initial=_DEFAULTS["sessions"].default,
        widget=forms.RadioSelect,
        help_text="The report says how many people and answers are left out, and why. Annotators and imported people "
        "have no session and take part.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kinds"].initial = [self.usually]
        if len(self._kinds) == 1:
            del self.fields["kinds"]
        if RespondentKind.PARTICIPANT not in self._kinds:
            del self.fields["sessions"]

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kinds": self._kinds} | super().parameters

    @property
    def _kinds(self) -> list[str]:
        return [kind for kind in self.answered_by if kind in self.material.kinds]


def _short(text: str) -> str:
    return Truncator(text).chars(100)
