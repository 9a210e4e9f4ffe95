"""Forms for running a study: whom to delete, and when the platform ids go."""

from typing import Any

from django import forms

from studies.models import Session
from studies.services.entry import usable_id


class SessionsForm(forms.Form):
    """Which sessions to show; `chosen` are the filters of the model."""

    WHO = {
        "people": {"simulated": False, "pilot": False},
        "simulated": {"simulated": True},
        "trials": {"pilot": True},
    }

    who = forms.ChoiceField(
        label="Who",
        required=False,
        choices=[
            ("", "People and simulated people"),
            ("people", "People"),
            ("simulated", "Simulated people"),
            ("trials", "Who tried it out"),
        ],
    )
    state = forms.ChoiceField(label="State", required=False, choices=[("", "All"), *Session.Status.choices])

    @property
    def chosen(self) -> dict[str, Any]:
        """Of a valid form."""
        state = self.cleaned_data["state"]
        return self.WHO.get(self.cleaned_data["who"], {"pilot": False}) | ({"status": state} if state else {})


class DeletionForm(forms.Form):
    """One person, by one of the two."""

    participant_id = forms.CharField(
        label="Platform id",
        required=False,
        max_length=64,
        help_text="As the person tells it. It is not stored and stands in no log.",
    )
    number = forms.IntegerField(
        label="Session number", required=False, min_value=1, help_text="As it stands on the study's page."
    )
    sure = forms.BooleanField(
        label="Delete this person for ever",
        error_messages={"required": "Tick this to say that it is meant: nothing brings the answers back."},
    )

    def clean_participant_id(self) -> str:
        given = str(self.cleaned_data["participant_id"]).strip()
        if given and not usable_id(given):
            raise forms.ValidationError("This cannot be an id of the platform; copy it once more.")
        return given

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not self.errors and bool(given["participant_id"]) == (given["number"] is not None):
            raise forms.ValidationError("Say whom to delete: by the platform id or by the session number, not by both.")
        return given


class RetentionForm(forms.Form):
    retain_until = forms.DateField(
        label="Delete platform ids on",
        required=False,
        help_text="Without a date they stay until somebody asks. Answers stay in any case.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
