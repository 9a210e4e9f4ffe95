"""The forms of the import page and of a new instrument."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from materials.question_file import read_questions
from materials.questions import QuestionError
from materials.reading import ID_COLUMN_WORDS

MAX_UPLOAD_BYTES = 50 * 1024 * 1024


def _short_name(what: str, **kwargs: Any) -> forms.SlugField:
    sentence = f"This cannot name {what}; use letters, digits, hyphens and underscores."
    return forms.SlugField(max_length=80, error_messages={"invalid": sentence}, **kwargs)


class ImportForm(forms.Form):
    dataset = _short_name(
        "a dataset",
        help_text="The short name of a dataset that is there, or of a new one: letters, digits, hyphens, underscores.",
    )
    file = forms.FileField(help_text="CSV, TSV or JSON lines in UTF-8, at most 50 MB.")
    id_columns = forms.CharField(
        label="ID column",
        required=False,
        help_text="The column that holds each item's ID, or several separated by commas. "
        f"Without it {ID_COLUMN_WORDS} is taken.",
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_UPLOAD_BYTES:
            raise forms.ValidationError(
                "The file is larger than 50 MB; use manage.py import_items, which takes any size."
            )
        return file

    def clean_id_columns(self) -> list[str]:
        return [column.strip() for column in self.cleaned_data["id_columns"].split(",") if column.strip()]


class InstrumentForm(forms.Form):
    """`questions` is cleaned to the list of questions."""

    title = forms.CharField(max_length=200, help_text="What people see in lists and headings.")
    name = _short_name(
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
            raise forms.ValidationError(str(error)) from error
