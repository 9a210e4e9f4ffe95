"""The form of one question, and a list of such forms."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

from django import forms
from pydantic import TypeAdapter

from materials.form_fields import MarkdownField, ReadField
from materials.question_file import read_json
from materials.question_kinds import Question
from materials.question_lines import (
    read_condition,
    read_labels,
    read_options,
    typed_conditions,
    write_condition,
    write_labels,
    write_options,
)
from materials.questions import faults_between, option_codes
from materials.rows import EMPTY, KindRow, Row, RowsField

MODELS: dict[str, Any] = {model.model_fields["kind"].default: model for model in get_args(get_args(Question)[0])}
KIND_NAMES = {
    "choice": "One of some answers",
    "multi": "Several of some answers",
    "scale": "A number on a labelled scale",
    "pairwise": "Which of two texts of the item",
    "rank": "An order of some answers",
    "best_worst": "The best and the worst of some answers",
    "span": "Passages of one of the item's texts",
    "number": "Any number",
    "text": "An answer in words",
}
QUESTION: TypeAdapter[Any] = TypeAdapter(Question)
OPTIONS_HELP = (
    "One a line: a code and a text, such as “older | 40 or over”, or a text that is its own code. A key and words of "
    "help may follow, each after another “|”. A field of the item in braces, such as “a | {option_a}”, shows its text. "
    "“(apart)” at the end puts an answer after all others, such as “unsaid | I prefer not to say (apart)”."
)
WORDS = ("text", "help")  # of several lines, kept to the letter
KIND_LABELS = {
    ("multi", "minimum"): "Answers at least",
    ("multi", "maximum"): "Answers at most",
    ("scale", "minimum"): "Lowest number",
    ("scale", "maximum"): "Highest number",
}
Lines = tuple[Callable[[Any], str], Callable[[str], Any]]  # what writes a value as it is typed, and what reads it
_LINES: dict[str, Lines] = {
    "options": (write_options, read_options),
    "show_if": (write_condition, read_condition),
    "labels": ("\n".join, str.splitlines),
}


def _as_typed(name: str, value: Any, kind: Any) -> Any:
    """The value as it stands in its field; None where that would be read as something else."""
    if name in _LINES:
        write, read = (write_labels, read_labels) if (name, kind) == ("labels", "span") else _LINES[name]
        try:
            text = write(value)
            return text if _as_texts(read(text.strip())) == _as_texts(value) else None
        except ValueError:
            return None
    if not isinstance(value, str):
        return value
    fits = "\r" not in value if name in WORDS else value == value.strip() and len(value.splitlines()) < 2
    return value if fits else None


def _as_texts(value: Any) -> Any:
    """A condition with all answers as texts (`typed_conditions` knows which are numbers), anything else as it is."""
    return {**value, "any_of": list(map(str, value["any_of"]))} if isinstance(value, Mapping) else value


def _item_field(label: str) -> forms.CharField:
    return forms.CharField(label=label, widget=forms.TextInput(attrs={"list": "item-fields"}))


def _read_object(text: str) -> dict[str, Any]:
    data = read_json(text)
    if not isinstance(data, dict):
        raise ValueError("Give an object, such as { }.")
    return data


def _span_labels() -> ReadField:
    return ReadField(
        read_labels,
        empty=[],
        rows=4,
        required=True,
        label="What a passage can be marked as",
        help_text="One a line: a code and a text, such as “fact | A fact”; a key and words of help may follow.",
    )


class QuestionRow(KindRow):
    """A question of one kind, with the fields that this kind has. `more` is what they cannot hold."""

    models = MODELS
    folded: tuple[str, ...] = (
        "help",
        "required",
        "show_if",
        "labels",
        "randomise",
        "order_group",
        "multiline",
        "max_length",
        "top",
        "overlap",
        "most",
        "more",
    )
    can_be_copied = True
    kind = forms.ChoiceField(choices=[(kind, kind) for kind in MODELS], widget=forms.HiddenInput)
    text = MarkdownField(label="Question", rows=2, required=True)
    code = forms.RegexField(
        r"^[a-z][a-z0-9_]{0,59}$",
        strip=True,
        help_text="Its short name in rules and files.",
        error_messages={"invalid": "Begin with a lower-case letter, then use lower-case letters, digits and _ only."},
    )
    options = ReadField(read_options, empty=[], rows=5, required=True, label="Answers", help_text=OPTIONS_HELP)
    first_field = _item_field("Field of the item with the first text")
    second_field = _item_field("Field of the item with the second text")
    allow_tie = forms.BooleanField(required=False, label="“Both equally” is an answer too")
    field = _item_field("Field of the item in which passages are marked")
    minimum = forms.FloatField(required=False)
    maximum = forms.FloatField(required=False)
    low_label = forms.CharField(required=False, label="What the lowest means")
    high_label = forms.CharField(required=False, label="What the highest means")
    integer = forms.BooleanField(required=False, label="Whole numbers only")
    slider = forms.BooleanField(required=False, label="As a slider between minimum and maximum")
    reason = forms.CharField(required=False, label="Why it is asked", help_text="Shown beside the question.")
    required = forms.BooleanField(required=False, label="Must be answered")
    help = MarkdownField(rows=2, help_text="Smaller, under the question.")
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
    overlap = forms.BooleanField(required=False, label="Passages may overlap")
    most = forms.IntegerField(required=False, label="Passages at most")
    more = ReadField(_read_object, empty={}, rows=3, label="What this form has no field for", help_text="As JSON.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = str(self["kind"].value())
        if kind == "span":
            self.fields["labels"] = _span_labels()
            self.folded = tuple(name for name in self.folded if name != "labels")
        for name in self.fields:
            self.fields[name].label = KIND_LABELS.get((kind, name), self.fields[name].label)
        if self["more"].value() in EMPTY:
            del self.fields["more"]
            return
        for name in {"options", "first_field", "second_field", "field", "labels"} & self.fields.keys():
            self.fields[name].required = False  # `more` may hold it

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        typed = {
            name: _as_typed(name, value, entry["kind"]) if name in cls.base_fields else None
            for name, value in entry.items()
        }
        more = {name: value for name, value in entry.items() if typed[name] is None and value is not None}
        return typed | ({"more": json.dumps(more, ensure_ascii=False)} if more else {})

    @property
    def heading(self) -> str:
        return str(self["text"].value() or "") if "text" in self.fields else ""  # of an unknown kind

    @property
    def kind_name(self) -> str:
        return KIND_NAMES.get(str(self["kind"].value()), "")

    @property
    def entry(self) -> dict[str, Any]:
        return super().entry | self.cleaned_data.get("more", {})

    def read_question(self, data: Any) -> Any:
        """The question of the row's kind. Raises ValidationError, whose places begin with a field."""
        return MODELS[self.cleaned_data["kind"]].model_validate(data)

    def clean(self) -> dict[str, Any]:
        self.check_entry(self.read_question)
        return self.cleaned_data


class ItemQuestionRow(QuestionRow):
    """A question about an item, of which people are seldom told why it is asked."""

    folded = (*QuestionRow.folded, "reason")


class QuestionsField(RowsField):
    """A list of questions that fit together; each fault is at its row."""

    def clean(self, value: Sequence[Row]) -> list[dict[str, Any]]:
        entries = [dict(entry) for entry in typed_conditions(super().clean(value))]
        questions = [QUESTION.validate_python(entry) for entry in entries]
        for position, name, what in [*faults_between(questions), *_answers_nobody_gives(questions)]:
            row, starts_with_code = value[position], what.startswith(questions[position].code)
            sentence = f"{what}." if starts_with_code else f"{what[:1].upper()}{what[1:]}."
            row.add_error(name if name in row.fields else None, sentence)
        self.name_faults(value)
        return entries


def _answers_nobody_gives(questions: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Conditions on answers that the earlier question does not have, as `faults_between`."""
    codes = {question.code: option_codes(question) for question in questions}
    for position, question in enumerate(questions):
        rule = question.show_if
        for answer in map(str, rule.any_of) if rule else ():
            if codes.get(rule.question) and answer not in codes[rule.question]:
                yield position, "show_if", f"{question.code} depends on {answer}, which is no answer of {rule.question}"
