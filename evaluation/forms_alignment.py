"""The form that asks for an alignment report."""

from typing import Any

from django import forms

from evaluation.forms import ComparedForm
from evaluation.parameters import AlignmentParameters
from materials.questions import option_codes

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

    field_order: tuple[str, ...] = ("title", "questions", "option")
    folded = ("model_rates", *ComparedForm.folded)

    questions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Both people and models must have been asked them.",
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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("questions", self._codes("choice"))
        self._offer_option("option", _DEFAULTS["option"].default)
        paired = {_DEFAULTS["personal_question"].default, _DEFAULTS["norm_question"].default}
        counted = [q.code for q in self._asked("choice") if self.fields["option"].initial in option_codes(q)]
        self.fields["questions"].initial = [code for code in counted if code in paired] or counted
