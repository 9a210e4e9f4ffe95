"""A screen's questions as form fields: options in the order of this person, given answers, errors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from materials.presentation import ends_of, field_value, given_places, limits_of, places_of
from materials.questions import TIE, apart_codes, draw_orders, option_codes, option_label
from studies.models import Screen
from studies.services.laying_out import earlier_answers, questions_of
from studies.translating import Translated

LONG_LIST = 12  # from this many options on, a drop-down list is easier to use than a column of them
MATRIX_COLUMNS, MATRIX_LABEL = 7, 24  # at most: columns, and characters of an option that heads one


@dataclass(frozen=True)
class Choice:
    code: str
    label: str
    help: str = ""
    given: tuple[str, ...] = ()  # its places, where each option has one
    apart: bool = False  # from the other options


@dataclass(frozen=True)
class FormField:
    """A question as a form field. `widget` is choices, select, rank, best_worst, span, text, textarea or number."""

    name: str
    legend: str
    widget: str
    help: str
    why: str
    required: bool
    options: list[Choice]
    selected: list[str]
    multiple: bool = False
    ends: tuple[str, ...] = ()  # what the lowest and the highest point of a scale or slider mean
    places: tuple[str, ...] = ()  # of a ranking, or best and worst
    labels: tuple[Choice, ...] = ()  # what a passage can be marked as
    limits: Mapping[str, Any] = field(default_factory=dict)  # attributes of a slider
    value: str = ""
    max_length: int | None = None
    error: str = ""
    show_if: str = ""  # JSON for the page's script: the answer on the same page that leads to this question
    columns: tuple[tuple[str, str], ...] = ()  # codes and labels of options that can head a matrix

    @property
    def id(self) -> str:
        """Question codes are the study's to choose, so they get a prefix that no other element of the page has."""
        return f"q-{self.name}"

    @property
    def label_names(self) -> str:
        return ", ".join(label.label for label in self.labels)

    @property
    def described_by(self) -> str:
        """The ids of what a screen reader should read after the question."""
        present = {"help": self.help, "why": self.why, "error": self.error}
        return " ".join(f"{self.id}-{part}" for part, text in present.items() if text)


def form_fields(screen: Screen, words: Translated) -> list[FormField]:
    """The screen's questions; nothing is chosen beforehand but what the person sent and must mend, or typed before.

    Those to which an answer on the same page may lead come with it as `show_if`.
    """
    content = screen.item.content if screen.item else {}
    given = screen.draft or screen.refused.get("given", {})
    errors, answers = screen.refused.get("errors", {}), earlier_answers(screen) | given
    on_page = {question.code for question in questions_of(screen)}
    fields = []
    for question in map(words.question, questions_of(screen)):
        rule = question.show_if
        if rule and not _leads_to(question, answers) and rule.question not in on_page:
            continue
        error = words.fault(errors[question.code], question.kind) if question.code in errors else ""
        order = screen.orders.get(question.code)
        later = "" if _leads_to(question, answers) else _as_json(rule)
        fields.append(_field(question, content, order, given.get(question.code), words, error=error, show_if=later))
    return fields


def _leads_to(question: Any, answers: Mapping[str, Any]) -> bool:
    """As materials.questions.is_shown, for answers as a form sends them: points of scales are texts there."""
    if question.show_if is None:
        return True
    given = answers.get(question.show_if.question)
    chosen = {str(value) for value in (given if isinstance(given, list) else [given])}
    return not chosen.isdisjoint(map(str, question.show_if.any_of))


def _as_json(rule: Any) -> str:
    return json.dumps({"name": rule.question, "any_of": [str(value) for value in rule.any_of]})


def preview_fields(questions: Sequence[Any], content: Mapping[str, Any]) -> list[FormField]:
    """All questions about an item with this content, with their options in one drawn order."""
    orders = draw_orders(questions, key="preview")
    return [_field(question, content, orders.get(question.code), None) for question in questions]


def in_matrices(fields: Sequence[FormField]) -> list[list[FormField]]:
    """The fields in order, those in a row that share their few short options together: they make a matrix."""

    def key(numbered: tuple[int, FormField]) -> Any:
        number, field = numbered
        return (field.columns, field.ends) if field.columns else number

    return [[field for _, field in group] for _, group in groupby(enumerate(fields), key=key)]


def _field(
    question: Any,
    content: Mapping[str, Any],
    order: list[str] | None,
    given: Any,
    words: Translated | None = None,
    *,
    error: str = "",
    show_if: str = "",
) -> FormField:
    codes, apart = order or list(option_codes(question)), apart_codes(question)
    options = [
        Choice(
            code,
            words.phrases["both_equally"]
            if words and question.kind == "pairwise" and code == TIE
            else option_label(question, code, content),
            _option_help(question, code),
            given_places(question, code, given),
            code in apart,
        )
        for code in codes
    ]
    given = field_value(question, content, given)
    values = [str(value) for value in given] if isinstance(given, list) else [str(given)] if given else []
    return FormField(
        name=question.code,
        legend=question.text,
        widget=_widget(question, options),
        help=question.help,
        why=question.reason,
        required=question.required,
        options=options,
        selected=values,
        multiple=question.kind == "multi",
        ends=ends_of(question),
        places=places_of(question),
        labels=tuple(Choice(label.code, label.text) for label in question.labels) if question.kind == "span" else (),
        limits=limits_of(question) if getattr(question, "slider", False) else {},
        value=values[0] if values else "",
        max_length=getattr(question, "max_length", None),
        error=error,
        show_if=show_if,
        columns=() if show_if else _columns(question, options),
    )


def _columns(question: Any, options: Sequence[Choice]) -> tuple[tuple[str, str], ...]:
    """The options as columns of a matrix; none where they are long, many, explained, or the item's."""
    fixed = question.kind == "scale" or (
        question.kind == "choice" and not any(option.text_field or option.help for option in question.options)
    )
    fits = len(options) <= MATRIX_COLUMNS and all(len(option.label) <= MATRIX_LABEL for option in options)
    return tuple((option.code, option.label) for option in options) if fixed and fits else ()


def _widget(question: Any, options: list[Choice]) -> str:
    if question.kind == "text":
        return "textarea" if question.multiline else "text"
    if question.kind in ("number", "rank", "best_worst", "span"):
        return str(question.kind)
    return "select" if len(options) > LONG_LIST and question.kind == "choice" else "choices"


def _option_help(question: Any, code: str) -> str:
    if question.kind == "scale":
        ends = {question.minimum: question.low_label, question.maximum: question.high_label}
        return ends.get(int(code), "")
    return next((option.help for option in getattr(question, "options", ()) if option.code == code), "")
