"""The forms of a factor with its levels, and of a quality filter."""

from collections.abc import Mapping
from typing import Any

from django import forms

from materials.field_lines import HELP, read_field_lines, write_field_lines
from materials.form_fields import MarkdownField, ReadField
from materials.lines import read_names, write_names
from materials.rows import KindRow, Row, RowsField
from studies.design import Factor, Level
from studies.filters import FILTERS


class LevelRow(Row):
    code = forms.CharField(max_length=60, help_text="Its short name in files.")
    text = MarkdownField(label="Text above the scenario", rows=2)
    item_fields = ReadField(
        read_field_lines, empty=[], label="Fields of the item in place of those above", help_text=HELP
    )
    folded = ("item_fields",)

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**entry, "item_fields": write_field_lines(entry.get("item_fields", []))}

    @property
    def heading(self) -> str:
        return str(self["code"].value() or "")

    def clean(self) -> dict[str, Any]:
        self.check_entry(Level.model_validate)
        return self.cleaned_data


LEVELS = {"level": ("Level", {"code": "level", "text": ""})}


class FactorRow(Row):
    name = forms.CharField(max_length=60, help_text="Lower-case letters, digits and _, such as framing.")
    within = forms.BooleanField(
        required=False, label="Varies from item to item of one person; otherwise each person has one level"
    )
    levels = RowsField(LevelRow, noun="Level", offers=LEVELS)

    @property
    def heading(self) -> str:
        return str(self["name"].value() or "")

    @property
    def entry(self) -> dict[str, Any]:
        return {name: value for name, value in super().entry.items() if value is not False}

    def clean(self) -> dict[str, Any]:
        self.check_entry(Factor.model_validate)
        return self.cleaned_data


class FilterRow(KindRow):
    """A filter with the parameters that its kind has."""

    models = FILTERS
    kind = forms.ChoiceField(choices=[(kind, kind) for kind in FILTERS], widget=forms.HiddenInput)
    statuses = ReadField(read_names, empty=[], help_text="Those that let stay, as the platform writes them.")
    sd = forms.FloatField(required=False, label="Standard deviations")
    at_least = forms.IntegerField(required=False, label="Answers at least")
    questions = ReadField(read_names, empty=[], rows=1, help_text="Codes, with commas; all that can be when left out.")

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        lists = {name: write_names(value) for name, value in entry.items() if isinstance(value, list)}
        return {**entry, **lists}

    @property
    def heading(self) -> str:
        model = FILTERS.get(str(self["kind"].value()))
        return model.label if model else ""

    def clean(self) -> dict[str, Any]:
        self.check_entry(lambda entry: FILTERS[entry["kind"]].model_validate(entry))
        return self.cleaned_data
