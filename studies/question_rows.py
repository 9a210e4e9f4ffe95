"""The forms of one question: about the person, or one whose right answer is known."""

import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

from django import forms
from pydantic import TypeAdapter

from materials.question_file import read_json
from materials.question_kinds import Question
from studies.design_lines import read_names, write_names
from studies.form_fields import MarkdownField, ReadField
from studies.question_lines import read_condition, read_options, write_condition, write_options
from studies.rows import EMPTY, KindRow

MODELS: dict[str, Any] = {model.model_fields["kind"].default: model for model in get_args(get_args(Question)[0])}
KIND_NAMES = {
    "choice": "One of some answers",
    "multi": "Several of some answers",
    "scale": "A number on a labelled scale",
    "number": "Any number",
    "text": "An answer in words",
    "rank": "An order of some answers",
    "best_worst": "The best and the worst of some answers",
}
_QUESTION: TypeAdapter[Any] = TypeAdapter(Question)
_LINES: dict[str, Callable[[Any], str]] = {
    "options": write_options,
    "show_if": write_condition,
    "labels": lambda labels: "\n".join(map(str, labels)),
}
_READ: dict[str, Callable[[str], Any]] = {"options": read_options, "show_if": read_condition, "labels": str.splitlines}


def _as_lines(name: str, value: Any) -> str | None:
    """The value as it is typed; None where that would be read as something else."""
    text = _LINES[name](value)
    try:
        return text if _READ[name](text) == value else None
    except ValueError:
        return None


def _read_object(text: str) -> dict[str, Any]:
    data = read_json(text)
    if not isinstance(data, dict):
        raise ValueError("Give an object, such as { }.")
    return data


class QuestionRow(KindRow):
    """A question of one kind, with the fields that this kind has. `more` is what they cannot hold."""

    models = MODELS
    folded = (
        "help",
        "required",
        "show_if",
        "labels",
        "randomise",
        "order_group",
        "multiline",
        "max_length",
        "top",
        "more",
    )
    kind = forms.ChoiceField(choices=[(kind, kind) for kind in MODELS], widget=forms.HiddenInput)
    text = MarkdownField(label="Question", rows=2, required=True)
    code = forms.RegexField(
        r"^[a-z][a-z0-9_]{0,59}$",
        strip=True,
        help_text="Its short name in rules and files.",
        error_messages={"invalid": "Begin with a lower-case letter, then use lower-case letters, digits and _ only."},
    )
    options = ReadField(
        read_options,
        empty=[],
        rows=5,
        required=True,
        label="Answers",
        help_text="One a line: a code, a colon and the text, such as “older: 40 or over”, or a text that is its own "
        "code. “(apart)” at its end puts it after all others, as “I prefer not to say”.",
    )
    minimum = forms.FloatField(required=False)
    maximum = forms.FloatField(required=False)
    low_label = forms.CharField(required=False, label="What the lowest means")
    high_label = forms.CharField(required=False, label="What the highest means")
    integer = forms.BooleanField(required=False, label="Whole numbers only")
    slider = forms.BooleanField(required=False, label="As a slider between minimum and maximum")
    reason = forms.CharField(required=False, label="Why it is asked", help_text="Shown beside the question.")
    required = forms.BooleanField(required=False, label="Must be answered")
    help = forms.CharField(required=False, help_text="Smaller, under the question.")
    show_if = ReadField(
        read_condition,
        empty=None,
        rows=1,
        label="Asked only after",
        help_text="An earlier question's code and its answers, such as “usual: no”.",
    )
    labels = ReadField(
        str.splitlines, empty=[], label="Words for each point", help_text="One a line, from the lowest to the highest."
    )
    randomise = forms.BooleanField(required=False, label="Answers in random order")
    order_group = forms.CharField(
        required=False, label="Common order", help_text="Questions with the same word here share one random order."
    )
    multiline = forms.BooleanField(required=False, label="Room for several lines")
    max_length = forms.IntegerField(required=False, label="Characters at most")
    top = forms.IntegerField(required=False, label="Only so many of the best")
    more = ReadField(_read_object, empty={}, rows=3, label="What this form has no field for", help_text="As JSON.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self["more"].value() in EMPTY:
            del self.fields["more"]
        elif "options" in self.fields:  # which `more` may hold
            self.fields["options"].required = False

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        values, more = {}, {}
        for name, value in entry.items():
            if name not in cls.base_fields:
                more[name] = value
            elif name not in _LINES:
                values[name] = value
            elif (text := _as_lines(name, value)) is not None:
                values[name] = text
            else:
                more[name] = value
        return values | ({"more": json.dumps(more, ensure_ascii=False)} if more else {})

    @property
    def heading(self) -> str:
        return str(self["text"].value() or "") if "text" in self.fields else ""  # of an unknown kind

    @property
    def kind_name(self) -> str:
        return KIND_NAMES.get(str(self["kind"].value()), "")

    @property
    def entry(self) -> dict[str, Any]:
        return super().entry | self.cleaned_data.get("more", {})

    def clean(self) -> dict[str, Any]:
        self.check_entry(_QUESTION.validate_python)
        return self.cleaned_data


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
        self.check_entry(lambda entry: _QUESTION.validate_python(entry["question"]))
        return self.cleaned_data
