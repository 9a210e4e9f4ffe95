"""The form that asks for an alignment report."""

from typing import Any

from django import forms

from evaluation.forms import ComparedForm
from evaluation.parameters import AlignmentParameters
from materials.questions import option_codes
from projects.models import Project

_DEFAULTS = AlignmentParameters.model_fields
MODEL_RATES = [
    ("answers", "The share of its answers, over all samples"),
    (
        "probabilities",
        "The probability of the option by the tokens' log probabilities; answers without them are left out",
    ),
]


class AlignmentForm(ComparedForm):
    """Which questions, and which option is culture."""

    field_order: tuple[str, ...] = ("title", "dataset", "instrument", "questions", "option", "model_rates")

    questions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Choose questions of the instrument; models must have been asked them too. Questions with the codes "
        f"{_DEFAULTS['personal_question'].default} and {_DEFAULTS['norm_question'].default} are ticked already.",
    )
    option = forms.ChoiceField(
        label="Option counted as culture",
        help_text="A rate is the share of answers that chose it; every other option is the preference.",
    )

    model_rates = forms.ChoiceField(
        label="A model's rate on an item",
        choices=MODEL_RATES,
        initial=_DEFAULTS["model_rates"].default,
        widget=forms.RadioSelect,
        help_text="One answer is all or nothing: whether a model wavers shows in several samples or in probabilities.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, project=project, **kwargs)
        asked = [question for question in self._questions if question.kind == "choice"]
        options = dict.fromkeys(code for question in asked for code in option_codes(question))
        self._offer("questions", self._codes("choice"))
        self._offer("option", [(code, code) for code in options])
        wanted = (_DEFAULTS["personal_question"].default, _DEFAULTS["norm_question"].default)
        self.fields["questions"].initial = [code for code, _ in self._codes("choice") if code in wanted]
        self.fields["option"].initial = _DEFAULTS["option"].default
