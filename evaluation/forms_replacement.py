"""The form that asks for a report on replacing annotators."""

from typing import Any

from django import forms

from evaluation.forms import ComparedForm
from evaluation.replacement_report.parameters import ReplacementParameters
from evaluation.replacement_report.selecting import KINDS
from responses.models import RespondentKind

_DEFAULTS = ReplacementParameters.model_fields


class ReplacementForm(ComparedForm):
    """Which question, and how much better than the model an annotator may be."""

    asks = KINDS
    usually = RespondentKind.ANNOTATOR
    field_order = ("title", "question", "epsilon", "min_items")

    question = forms.ChoiceField(help_text="The question whose labels a model may give in place of people.")
    epsilon = forms.FloatField(
        min_value=0,
        max_value=0.5,
        initial=_DEFAULTS["epsilon"].default,
        help_text="How much more often than the model an annotator may be close to the others and still be replaced, "
        "because a model is cheaper: 0.2 in place of experts, 0.15 of trained people, 0.1 of a crowd.",
    )
    min_items = forms.IntegerField(
        label="Items of an annotator, at least",
        min_value=2,
        max_value=10_000,
        initial=_DEFAULTS["min_items"].default,
        help_text="Annotators who share fewer with the model and others are left out; below 30 the test has no ground.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offer("question", self._codes(*self.asks))
