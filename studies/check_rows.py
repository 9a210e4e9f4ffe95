"""The form of a question whose right answer is known."""

from collections.abc import Mapping
from typing import Any

from django import forms

from materials.lines import read_names, write_names
from materials.question_rows import QuestionRow


class CheckRow(QuestionRow):
    """A question that has a right answer; the entry is `{"question": ..., "expected": ...}`."""

    expected = forms.CharField(
        label="The right answer", help_text="The code of an answer, the number, or the word; several with commas."
    )

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        expected = entry["expected"]
        text = write_names(map(str, expected)) if isinstance(expected, list) else expected
        return super().values_of(entry["question"]) | {"expected": text}

    @property
    def entry(self) -> dict[str, Any]:
        return {"question": super().entry, "expected": self._expected(self.cleaned_data["expected"])}

    def _expected(self, text: str) -> Any:
        kind = self.cleaned_data["kind"]
        if kind in ("multi", "rank"):
            return read_names(text)
        digits = text.removeprefix("-")
        is_number = kind in ("scale", "number") and digits.isascii() and digits.isdecimal() and len(digits) < 10
        return int(text) if is_number else text

    def clean(self) -> dict[str, Any]:
        self.check_entry(lambda entry: self.read_question(entry["question"]))
        return self.cleaned_data
