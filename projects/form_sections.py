"""Long forms in sections."""

from collections.abc import Sequence
from dataclasses import dataclass

from django import forms
from django.forms import BoundField


@dataclass(frozen=True)
class Section:
    """Some fields of the form under one title, with a sentence about them."""

    title: str
    about: str
    fields: list[BoundField]

    @property
    def wrong(self) -> bool:
        return any(field.errors for field in self.fields)


def sections_of(form: forms.BaseForm, sections: Sequence[tuple[str, str, Sequence[str]]]) -> list[Section]:
    """The form in sections that are given as title, sentence and names of fields."""
    return [Section(title, about, [form[name] for name in names]) for title, about, names in sections]
