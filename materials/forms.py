"""The form of the import page."""

from django import forms
from django.core.files.uploadedfile import UploadedFile

MAX_UPLOAD_BYTES = 50 * 1024 * 1024


class ImportForm(forms.Form):
    dataset = forms.SlugField(
        max_length=80, help_text="The short name of a dataset that is there, or of a new one: letters, digits, hyphens."
    )
    file = forms.FileField(help_text="CSV, TSV or JSON lines in UTF-8, at most 50 MB.")
    id_columns = forms.CharField(
        label="Id column",
        required=False,
        help_text="The column that holds each item's id, or several separated by commas. "
        "Without it external_id, id or item_id is taken.",
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
