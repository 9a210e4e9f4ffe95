"""Which answers to show or export: the query parameters of the responses page, its exports and the REST interface."""

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, Q, QuerySet
from django.http import QueryDict
from django.utils.text import Truncator

from projects.models import Project
from responses.models import Outcome, RespondentKind, Response
from responses.querysets import of_completed_sessions, same_occasion, text_of

# attr_country=Japan, cond_prompt=balance v1: attributes of the respondent and factors of the condition. An empty value
# asks for those without it.
_NAMED = re.compile(r"(attr|cond)_([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")
_PATHS = {"attr": "respondent__attributes", "cond": "condition__factors"}
_WORDS = {"attr": "attribute", "cond": "factor"}

Choice = tuple[str, str]
SEVERAL = "In several instruments"
QUESTION_LENGTH = 70  # characters of a question in a list
CURSORS = ("before", "after")
PEOPLE = "people"  # of either kind
KINDS = [("", "Everybody"), (PEOPLE, "People"), *RespondentKind.choices]
_MODEL = Q(respondent__kind=RespondentKind.MODEL)
_MARKED = {
    "human": ("Real people", ~_MODEL & Q(respondent__simulated=False)),
    "simulated": ("Simulated people", Q(respondent__simulated=True)),
    "model": ("Models except the demo model", _MODEL & Q(respondent__demo_model=False)),
    "demo-model": ("Demo model", Q(respondent__demo_model=True)),
}
MARKS = [("", "All"), *((mark, words) for mark, (words, _) in _MARKED.items())]
COUNTED = "counted"  # as reports count them unless asked otherwise
SESSIONS = [("", "All"), (COUNTED, "Completed, or without a session"), *Outcome.choices]
PERSONAS = [("", "With or without"), ("true", "With a persona"), ("false", "Without persona")]


def is_named(parameter: str) -> bool:
    """Whether the parameter names an attribute or a factor, where an empty value means something."""
    return _NAMED.fullmatch(parameter) is not None


def query_string(data: QueryDict, **cursor: int) -> str:
    """The parameters as a query string, with another place to go on from; an empty field filters nothing."""
    given = [(name, value) for name, values in data.lists() for value in values if value or is_named(name)]
    return urlencode([*((name, value) for name, value in given if name not in CURSORS), *cursor.items()])


def question_choices(versions: Iterable[tuple[str, str, list[dict[str, Any]]]]) -> list[tuple[str, list[Choice]]]:
    """The questions by the title of their instrument, each code once, those of several instruments last.

    `versions` are (name, title, questions) of instruments, later versions after earlier ones, whose words count.

    >>> question_choices([("a", "A", [{"code": "x", "text": "X?"}]), ("a", "Ages", [{"code": "x", "text": "Why?"}])])
    [('Ages', [('x', 'x · Why?')])]
    """
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    asked_in: dict[str, set[str]] = {}
    for name, title, questions in versions:
        titles[name] = title
        for question in questions:
            texts[question["code"]] = question["text"]
            asked_in.setdefault(question["code"], set()).add(name)
    groups: dict[str, list[Choice]] = {name: [] for name in sorted(titles, key=titles.__getitem__)}
    shared: list[Choice] = []
    for code, names in sorted(asked_in.items()):
        group = shared if len(names) > 1 else groups[min(names)]
        group.append((code, Truncator(f"{code} · {texts[code]}").chars(QUESTION_LENGTH)))
    found = [*((titles[name], choices) for name, choices in groups.items()), (SEVERAL, shared)]
    return [(title, choices) for title, choices in found if choices]


class ResponseFilterForm(forms.Form):
    """All fields are optional. What superseded answers were is shown on request only."""

    kind = forms.ChoiceField(label="By", choices=KINDS, required=False)
    mark = forms.ChoiceField(label="Real or simulated", choices=MARKS, required=False)
    sessions = forms.ChoiceField(choices=SESSIONS, required=False)
    dataset = forms.ChoiceField(required=False)
    instrument_name = forms.ChoiceField(label="Instrument", required=False)
    question = forms.ChoiceField(required=False)
    also = forms.ChoiceField(label="Also answered", required=False)
    persona = forms.ChoiceField(choices=PERSONAS, required=False)
    superseded = forms.BooleanField(label="With superseded answers", required=False)
    item = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    instrument = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)
    respondent = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, *, project: Project) -> None:
        super().__init__(data, label_suffix="")
        self.project = project
        datasets = project.datasets.values_list("slug", "name")
        self._offer("dataset", [("", "All datasets"), *datasets])
        versions = list(project.instruments.order_by("version").values_list("name", "title", "questions"))
        titles = {name: title for name, title, _ in versions}
        self._offer("instrument_name", [("", "All instruments"), *titles.items()])
        questions = question_choices(versions)
        self._offer("question", [("", "All questions"), *questions])
        self._offer("also", [("", "Any or none"), *questions])
        for field in self.fields.values():
            if isinstance(field, forms.ChoiceField):
                field.error_messages["invalid_choice"] = "%(value)s is not in this project; choose one of the list."

    @property
    def foremost(self) -> list[forms.BoundField]:
        return [self[name] for name in ("kind", "mark", "sessions", "dataset", "question")]

    @property
    def others(self) -> list[forms.BoundField]:
        return [self[name] for name in ("instrument_name", "also", "persona")]

    @property
    def narrowed(self) -> bool:
        """Whether a filter is in use that is not among the foremost."""
        return any(field.data for field in [*self.others, self["superseded"]])

    def _offer(self, name: str, choices: Sequence[tuple[str, str | list[tuple[str, str]]]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def queryset(self) -> QuerySet[Response]:
        """The answers of a valid form, in no particular order."""
        given = self.cleaned_data
        answers = Response.objects.filter(project=self.project)
        if not given["superseded"]:
            answers = answers.filter(superseded_by=None)
        wanted = {
            "respondent__kind": "" if given["kind"] == PEOPLE else given["kind"],
            "item__dataset__slug": given["dataset"],
            "instrument__name": given["instrument_name"],
            "question": given["question"],
            "item_id": given["item"],
            "instrument_id": given["instrument"],
            "respondent_id": given["respondent"],
        }
        answers = answers.filter(**{path: value for path, value in wanted.items() if value})
        return self._with_texts(self._of_respondents(answers))

    def _of_respondents(self, answers: QuerySet[Response]) -> QuerySet[Response]:
        given = self.cleaned_data
        if given["kind"] == PEOPLE:
            answers = answers.exclude(_MODEL)
        if given["mark"]:
            answers = answers.filter(_MARKED[given["mark"]][1])
        if given["also"]:
            answers = answers.filter(Exists(same_occasion(given["also"])))
        if given["persona"]:
            answers = answers.alias(persona=text_of("respondent__attributes", "persona"))
            answers = answers.filter(Q(persona="true") if given["persona"] == "true" else ~Q(persona="true"))
        return of_completed_sessions(answers) if given["sessions"] == COUNTED else answers

    def _with_texts(self, answers: QuerySet[Response]) -> QuerySet[Response]:
        wanted = dict(self.named)
        if self.cleaned_data["sessions"] not in {"", COUNTED}:
            wanted["attr_outcome"] = self.cleaned_data["sessions"]
        for place, (parameter, value) in enumerate(wanted.items()):
            path, name = _PATHS[parameter[:4]], parameter[5:]
            answers = answers.alias(**{f"text_{place}": text_of(path, name)}).filter(**{f"text_{place}": value})
        return answers

    @property
    def named(self) -> dict[str, str]:
        """The attribute and condition parameters as given, for showing and for links."""
        return {name: value for name, value in self.data.items() if is_named(name)}

    @property
    def named_in_words(self) -> list[str]:
        """The same for reading."""
        return [
            f"{_WORDS[name[:4]]} {name[5:].replace('_', ' ')} is {value}"
            if value
            else f"without the {_WORDS[name[:4]]} {name[5:].replace('_', ' ')}"
            for name, value in self.named.items()
        ]

    @property
    def problem(self) -> str:
        """What is wrong with the first wrong parameter, as one sentence."""
        return next((f"{name}: {errors[0]}" for name, errors in self.errors.items()), "")
