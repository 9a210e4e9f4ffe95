"""A stage's settings as a form: what each type of setting is asked as, and what comes back."""

from typing import Literal

from django import forms
from pydantic import Field

from projects.models import Project
from protocols.forms import SettingsForm
from protocols.stages import StageSettings


class Every(StageSettings):
    many: int = Field(3, ge=1, le=5, description="How many.")
    most: int | None = None
    share: float = 0.5
    ask: bool = True
    way: Literal["drawn", "both"] = "drawn"
    levels: tuple[Literal["C1", "C2"], ...] = ("C1", "C2")
    words: tuple[str, ...] = ("one",)
    note: str = ""


GIVEN = {"many": "4", "most": "", "share": "0.25", "way": "both", "levels": ["C2"], "words": "a\n\n b ", "note": "n"}


def test_each_setting_has_a_field_of_its_kind_with_what_it_is_now():
    form = SettingsForm(settings=Every(), project=Project())
    kinds = {name: type(field) for name, field in form.fields.items()}
    assert kinds == {
        "many": forms.IntegerField,
        "most": forms.IntegerField,
        "share": forms.FloatField,
        "ask": forms.BooleanField,
        "way": forms.ChoiceField,
        "levels": forms.MultipleChoiceField,
        "words": forms.CharField,
        "note": forms.CharField,
    }
    assert form.fields["many"].help_text == "How many."
    assert (form.fields["words"].initial, form.fields["levels"].initial) == ("one", ["C1", "C2"])


def test_what_is_given_makes_settings_again():
    form = SettingsForm(GIVEN, settings=Every(), project=Project())
    assert form.is_valid(), form.errors
    made = Every.model_validate(form.values)
    assert made == Every(many=4, share=0.25, ask=False, way="both", levels=("C2",), words=("a", "b"), note="n")


def test_wrong_values_are_named_at_their_field():
    form = SettingsForm({**GIVEN, "many": "6", "levels": []}, settings=Every(), project=Project())
    assert set(form.errors) == {"many", "levels"}
