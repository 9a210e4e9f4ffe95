"""The form of a new instrument, and what forms of materials share."""

from typing import Any

from django import forms

from materials.question_examples import ALONE
from materials.question_file import questions_json, read_questions, short_questions
from materials.question_rows import ItemQuestionRow, QuestionsField
from materials.questions import QuestionError, parse_questions
from materials.rows import MOST

MAX_UPLOAD_BYTES = 50 * 1024 * 1024
FORM, JSON = "questions", "json"  # the fields in which questions are written, one at a time


def short_name(what: str, **kwargs: Any) -> forms.SlugField:
    sentence = f"This cannot name {what}; use letters, digits, hyphens and underscores."
    return forms.SlugField(max_length=80, error_messages={"invalid": sentence}, **kwargs)


class InstrumentForm(forms.Form):
    """An instrument whose questions are written as a list of forms or as JSON, of which it has one field.

    In one that is not `finished` nothing is missing: what is blank is empty.
    """

    title = forms.CharField(max_length=200, help_text="What people see in lists and headings.")
    name = short_name(
        "an instrument", help_text="Short, without spaces. A name that is there gets a new version of its questions."
    )
    written = forms.ChoiceField(choices=[(way, way) for way in (FORM, JSON)], widget=forms.HiddenInput, initial=FORM)
    questions = QuestionsField(
        ItemQuestionRow,
        noun="Question",
        offers=ALONE,
        help_text="Participants see questions in a row that share their few short answers as one table: copy one, and "
        "change its words.",
    )
    json = forms.CharField(
        label="Questions as JSON",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "code-field", "spellcheck": "false"}),
        help_text="A list of questions as JSON, [ ... ]; the examples show one of each kind.",
    )

    def __init__(self, *args: Any, finished: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.finished = finished
        self.way = JSON if self["written"].value() == JSON else FORM
        del self.fields[FORM if self.way == JSON else JSON]
        self.fields[self.way].required = True

    def clean_questions(self) -> list[dict[str, Any]]:
        complete: list[dict[str, Any]] = parse_questions(self.cleaned_data[FORM]).model_dump(mode="json")["questions"]
        return complete

    def clean_json(self) -> list[dict[str, Any]]:
        try:
            return read_questions(self.cleaned_data[JSON])
        except QuestionError as error:
            raise forms.ValidationError(list(error.faults)) from error

    def clean(self) -> dict[str, Any]:
        blank = [name for name, faults in self.errors.items() if faults.as_data()[0].code == "required"]
        for name in blank if not self.finished else ():
            del self.errors[name]
        return self.cleaned_data

    @property
    def instrument(self) -> dict[str, Any]:
        """Title, name and questions, these complete with defaults, once the form is valid."""
        given = self.cleaned_data
        return {"title": given.get("title", ""), "name": given.get("name", ""), "questions": given.get(self.way, [])}

    def written_as(self, way: str) -> "InstrumentForm":
        """The valid form with its questions written in this way; this one, with the fault, when they cannot be."""
        instrument = self.instrument
        if way == FORM and len(instrument["questions"]) > MOST:
            self.add_error(JSON, f"A list of more than {MOST} questions can be written as JSON only.")
            return self
        return InstrumentForm(initial=initial_values(**instrument, way=way))


def initial_values(*, title: str, name: str, questions: list[dict[str, Any]], way: str = FORM) -> dict[str, Any]:
    """What the form holds of an instrument; JSON where it has more questions than forms can."""
    if way == JSON or len(questions) > MOST:
        return {"title": title, "name": name, "written": JSON, JSON: questions_json(questions) if questions else ""}
    return {"title": title, "name": name, "written": FORM, FORM: short_questions(questions)}
