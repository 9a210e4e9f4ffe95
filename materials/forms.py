"""The form of a new instrument, and what forms of materials share."""

from typing import Any

from django import forms

from materials.question_file import read_questions
from materials.questions import QuestionError

MAX_UPLOAD_BYTES = 50 * 1024 * 1024


def short_name(what: str, **kwargs: Any) -> forms.SlugField:
    sentence = f"This cannot name {what}; use letters, digits, hyphens and underscores."
    return forms.SlugField(max_length=80, error_messages={"invalid": sentence}, **kwargs)


class InstrumentForm(forms.Form):
    """`questions` is cleaned to the list of questions."""

    title = forms.CharField(max_length=200, help_text="What people see in lists and headings.")
    name = short_name(
        "an instrument", help_text="Short, without spaces. A name that is there gets a new version of its questions."
    )
    questions = forms.CharField(
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "code-field", "spellcheck": "false"}),
        help_text="A list of questions as JSON, [ ... ]; the examples show one of each kind.",
    )

    def clean_questions(self) -> list[dict[str, Any]]:
        try:
            return read_questions(self.cleaned_data["questions"])
        except QuestionError as error:
            raise forms.ValidationError(list(error.faults)) from error
