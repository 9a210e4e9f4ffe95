"""Fields of forms for texts that people type and that are read as data."""

import json
from collections.abc import Callable
from typing import Any

from django import forms

from materials.question_file import read_json


class ReadField(forms.CharField):
    """A text that `read` makes data of, or a ValueError with what is wrong; `empty` where nothing is typed."""

    def __init__(self, read: Callable[[str], Any], *, empty: Any, rows: int = 2, **kwargs: Any) -> None:
        options: dict[str, Any] = {"widget": forms.Textarea(attrs={"rows": rows}), "required": False}
        super().__init__(**options | kwargs)
        self.read, self.empty = read, empty

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return self.empty
        try:
            data = self.read(text)
        except ValueError as error:
            raise forms.ValidationError(list(getattr(error, "faults", (str(error),)))) from error
        if "\\u0000" in json.dumps(data).replace("\\\\", ""):
            raise forms.ValidationError("It holds a NUL character, which cannot be stored; remove it.")
        return data


class JsonField(ReadField):
    """A text of JSON."""

    def __init__(self, empty: Any, *, rows: int = 4, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "class": "code-field", "spellcheck": "false"})
        super().__init__(read_json, empty=empty, widget=widget, **kwargs)


class MarkdownField(forms.CharField):
    """A text of several lines, kept to the letter but for the line ends that browsers send."""

    def __init__(self, *, rows: int = 3, required: bool = False, **kwargs: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), required=required, strip=False, **kwargs)

    def to_python(self, value: Any) -> str:
        text = (super().to_python(value) or "").replace("\r\n", "\n")
        return text if text.strip() else ""
