"""What a screen's template needs: fields with labels, options in the order of this person, given answers, errors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation.trans_real import parse_accept_lang_header

from materials.presentation import ends_of, field_value, given_places, limits_of, places_of
from materials.questions import TIE, apart_codes, draw_orders, option_codes, option_label
from materials.rich_text import render_rich_text
from projects.markdown import render_markdown
from responses.showing import value_text
from studies.models import Screen, Study
from studies.services.entry import id_ending
from studies.services.laying_out import earlier_answers, item_number, questions_of
from studies.translating import (
    Translated,
    choose_language,
    direction,
    language_name,
    phrase_languages,
    phrases_of,
    translated,
)

LONG_LIST = 12  # from this many options on, a drop-down list is easier to use than a column of them
SHORT_SCENARIO = 600  # characters that leave half of a large window for the questions
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


@dataclass(frozen=True)
class ScenarioPart:
    label: str
    text: str
    html: str = ""


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


def scenario(screen: Screen, words: Translated) -> list[ScenarioPart]:
    """The parts of the item that the design shows; a field that the item lacks is left out."""
    if screen.item is None:
        return []
    design = screen.session.study.parsed_design
    shown = map(words.item_field, design.fields_shown(design.levels(_level_codes(screen))))
    texts = [(entry, str(screen.item.content.get(entry.field, ""))) for entry in shown]
    return [
        ScenarioPart(entry.label, text, render_rich_text(text) if entry.format == "markdown" else "")
        for entry, text in texts
        if text
    ]


def _level_codes(screen: Screen) -> dict[str, str]:
    """The levels that the screen shows, by factor; none where it has no item."""
    return screen.session.cell | screen.factors if screen.item else {}


def framing(screen: Screen, words: Translated) -> list[SafeString]:
    """What the levels of the factors say above the scenario."""
    codes = _level_codes(screen)
    texts = [
        words.level_text(factor.name, level)
        for factor in screen.session.study.parsed_design.factors
        for level in factor.levels
        if codes.get(factor.name) == level.code
    ]
    return [render_markdown(text) for text in texts if text]


def is_short(parts: Sequence[ScenarioPart]) -> bool:
    """Whether the scenario can stay beside its questions in a large window, shown whole."""
    return sum(len(part.text) for part in parts) <= SHORT_SCENARIO


def prose(screen: Screen, words: Translated) -> SafeString | str:
    """The study's text for a screen that is there to be read."""
    by_kind = {
        Screen.Kind.CONSENT: words.texts.consent,
        Screen.Kind.INSTRUCTIONS: words.texts.instructions,
        Screen.Kind.COMPREHENSION: words.texts.instructions,
        Screen.Kind.DEBRIEF: words.texts.debrief,
    }
    return render_markdown(by_kind.get(Screen.Kind(screen.kind), ""))


def language_context(language: str, phrases: Mapping[str, str]) -> dict[str, Any]:
    """What every page needs to be in one language."""
    return {"phrases": phrases, "language_code": language, "text_direction": direction(language)}


def wanted_languages(request: HttpRequest, named: str) -> list[str]:
    """The language named by the address or the form, then those of the browser's settings, the most wanted first."""
    accepted = parse_accept_lang_header(request.headers.get("Accept-Language", "").lower())
    return [named, *(language for language, _ in accepted)]


def context_without_study(request: HttpRequest, named: str) -> dict[str, Any]:
    """`language_context` of a page that belongs to no study: in any language that the phrases are written in."""
    language = choose_language(["en", *phrase_languages()], wanted_languages(request, named))
    return language_context(language, phrases_of(language))


def languages_to_choose(study: Study) -> list[tuple[str, str]]:
    """The study's languages as (code, name); none where there is nothing to choose."""
    named = [(code, language_name(code, study.parsed_translations.get(code))) for code in study.languages]
    return named if len(named) > 1 else []


def screen_context(screen: Screen) -> dict[str, Any]:
    study = screen.session.study
    words = translated(study, screen.session.language)
    fields, parts = form_fields(screen, words), scenario(screen, words)
    errors = [{"text": f"{field.legend} {field.error}", "target": field.id} for field in fields if field.error]
    if "consent" in screen.refused.get("errors", {}):
        errors.append({"text": words.phrases["missing_consent"], "target": "consent"})
    return language_context(words.language, words.phrases) | {
        "study": study,
        "languages": languages_to_choose(study),
        "title": words.texts.title,
        "design": study.parsed_design,
        "screen": screen,
        "page_number": screen.position + 1,
        "page_count": study.page_count,
        "item_number": item_number(screen) if screen.item else None,
        "groups": in_matrices(fields),
        "framing": framing(screen, words),
        "id_ending": id_ending(screen.session) if screen.kind == Screen.Kind.PLATFORM_ID else "",
        "scenario": parts,
        "scenario_pinned": is_short(parts),
        "prose": prose(screen, words),
        "errors": errors,
    }


def stored_answers(screen: Screen) -> list[tuple[str, str]]:
    """What a screen's stored answers say, as (question, answer) in the session's language."""
    content = screen.item.content if screen.item else {}
    words = translated(screen.session.study, screen.session.language)
    if screen.kind == Screen.Kind.CONSENT:
        return [(words.texts.title, words.phrases["agree" if screen.answers["consent"] == "yes" else "disagree"])]
    return [
        (question.text, value_text(question, screen.answers[question.code], content))
        for question in map(words.question, questions_of(screen))
        if question.code in screen.answers
    ]
