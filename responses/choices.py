"""What an export shall hold, as asked for in a page or in a command."""

from django import forms
from django.http import QueryDict

from responses.export_table import Choices

SHAPES = [("tidy", "One row an answer"), ("wide", "One row an item and respondent, one column a question")]


class ChoicesForm(forms.Form):
    """Without a shape one row an answer. `fields` are the names of the items' fields that can be chosen."""

    shape = forms.ChoiceField(label="Rows", choices=SHAPES, initial="tidy", widget=forms.RadioSelect)
    item_field = forms.MultipleChoiceField(
        label="Texts of the items",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="A column each, character by character as imported.",
    )
    superseded = forms.BooleanField(
        label="History",
        required=False,
        help_text="Answers that were replaced, taken back or left out, and why they were; one row an answer only.",
    )
    durations = forms.BooleanField(label="Durations", required=False, help_text="Seconds an answer took.")
    known = forms.BooleanField(
        label="Training and checks", required=False, help_text="Answers to items whose right answers are known."
    )
    bom = forms.BooleanField(
        label="Byte order mark", required=False, help_text="CSV only: Excel then reads accents and other scripts right."
    )

    def __init__(self, data: QueryDict, *, fields: list[str]) -> None:
        given = data.copy()
        given.setdefault("shape", "tidy")
        super().__init__(given, label_suffix="")
        chosen = self.fields["item_field"]
        assert isinstance(chosen, forms.MultipleChoiceField)
        chosen.choices = [(name, name) for name in fields]
        known = ", ".join(fields) or "none"
        chosen.error_messages["invalid_choice"] = f"The items have no field %(value)s; they have {known}."
        self.fields["shape"].error_messages |= {"invalid_choice": "%(value)s is not a shape; take tidy or wide."}

    @property
    def switches(self) -> list[forms.BoundField]:
        return [self[name] for name in ("superseded", "durations", "known", "bom")]

    @property
    def choices(self) -> Choices:
        """Of a valid form."""
        given = self.cleaned_data
        return Choices(
            shape=given["shape"],
            item_fields=tuple(given["item_field"]),
            superseded=given["superseded"],
            durations=given["durations"],
            known=given["known"],
        )

    @property
    def problem(self) -> str:
        """What is wrong with the first wrong parameter, as one sentence."""
        return next((f"{name}: {errors[0]}" for name, errors in self.errors.items()), "")
