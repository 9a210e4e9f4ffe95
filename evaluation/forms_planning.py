"""The form that asks how large a study has to be."""

from django import forms

from evaluation.forms_alignment import AlignmentForm
from evaluation.planning_report.parameters import PlanningParameters

_DEFAULTS = PlanningParameters.model_fields


class PlanningForm(AlignmentForm):
    """The pilot, as in an alignment report, and what the study is to find."""

    field_order = (*AlignmentForm.field_order, "items_each", "calls_each", "width", "effect")
    folded = ("simulations", *AlignmentForm.folded)

    items_each = forms.IntegerField(
        label="Items a participant answers", min_value=1, max_value=500, initial=_DEFAULTS["items_each"].default
    )
    calls_each = forms.IntegerField(
        label="Calls of the model an item", min_value=1, max_value=100, initial=_DEFAULTS["calls_each"].default
    )
    width = forms.FloatField(
        label="Width of the interval",
        min_value=0.001,
        max_value=2,
        initial=_DEFAULTS["width"].default,
        help_text="Of the signed culture gap, which lies between −1 and 1.",
    )
    effect = forms.FloatField(
        label="Gap to be found",
        min_value=0.001,
        max_value=1,
        initial=_DEFAULTS["effect"].default,
        help_text="The smallest signed culture gap that matters to you: with enough data it is told from 0 four times "
        "out of five.",
    )
    simulations = forms.IntegerField(
        label="Simulated studies",
        min_value=100,
        max_value=5000,
        initial=_DEFAULTS["simulations"].default,
        help_text="For each row of the plan.",
    )
