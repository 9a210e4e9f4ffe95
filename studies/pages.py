"""What a screen's template needs: fields with labels, options in the order of this person, given answers, errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString

from materials.presentation import ends_of, field_value, given_places, limits_of, places_of
from materials.questions import draw_orders, is_shown, option_codes, option_label
from materials.rich_text import render_rich_text
from projects.markdown import render_markdown
from responses.showing import value_text
from studies.design import Level
from studies.models import Screen
from studies.services.entry import id_ending
from studies.services.laying_out import earlier_answers, item_number, questions_of

LONG_LIST = 12  # from this many options on, a drop-down list is easier to use than a column of them
SHORT_SCENARIO = 600  # characters that leave half of a large window for the questions


@dataclass(frozen=True)
class Choice:
    code: str
    label: str
    help: str = ""
    given: tuple[str, ...] = ()  # its places, where each option has one


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

    @property
    def id(self) -> str:
        """Question codes are the study's to choose, so they get a prefix that no other element of the page has."""
        return f"q-{self.name}"

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


def form_fields(screen: Screen) -> list[FormField]:
    """The screen's questions; nothing is chosen beforehand but what the person sent and must mend."""
    content = screen.item.content if screen.item else {}
    given, errors = screen.refused.get("given", screen.draft), screen.refused.get("errors", {})
    earlier = earlier_answers(screen)
    shown = [question for question in questions_of(screen) if is_shown(question, earlier | given)]
    return [
        _field(question, content, screen.orders.get(question.code), given.get(question.code), errors)
        for question in shown
    ]


def preview_fields(questions: Sequence[Any], content: Mapping[str, Any]) -> list[FormField]:
    """All questions about an item with this content, with their options in one drawn order."""
    orders = draw_orders(questions, key="preview")
    return [_field(question, content, orders.get(question.code), None, {}) for question in questions]


def _field(
    question: Any, content: Mapping[str, Any], order: list[str] | None, given: Any, errors: Mapping[str, str]
) -> FormField:
    codes = order or list(option_codes(question))
    options = [
        Choice(
            code,
            option_label(question, code, content),
            _option_help(question, code),
            given_places(question, code, given),
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
        error=errors.get(question.code, ""),
    )


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


def scenario(screen: Screen) -> list[ScenarioPart]:
    """The parts of the item that the design shows; a field that the item lacks is left out."""
    if screen.item is None:
        return []
    fields = screen.session.study.parsed_design.fields_shown(levels_of(screen))
    texts = [(entry, str(screen.item.content.get(entry.field, ""))) for entry in fields]
    return [
        ScenarioPart(entry.label, text, render_rich_text(text) if entry.format == "markdown" else "")
        for entry, text in texts
        if text
    ]


def levels_of(screen: Screen) -> list[Level]:
    """The levels of the design's factors that this screen shows."""
    return screen.session.study.parsed_design.levels(screen.session.cell | screen.factors) if screen.item else []


def framing(screen: Screen) -> list[SafeString]:
    """What the levels say above the scenario."""
    return [render_markdown(level.text) for level in levels_of(screen) if level.text]


def is_short(parts: Sequence[ScenarioPart]) -> bool:
    """Whether the scenario can stay beside its questions in a large window, shown whole."""
    return sum(len(part.text) for part in parts) <= SHORT_SCENARIO


def prose(screen: Screen) -> SafeString | str:
    """The study's text for a screen that is there to be read."""
    texts = screen.session.study.parsed_texts
    by_kind = {
        Screen.Kind.CONSENT: texts.consent,
        Screen.Kind.INSTRUCTIONS: texts.instructions,
        Screen.Kind.COMPREHENSION: texts.instructions,
        Screen.Kind.DEBRIEF: texts.debrief,
    }
    return render_markdown(by_kind.get(Screen.Kind(screen.kind), ""))


def screen_context(screen: Screen) -> dict[str, Any]:
    study = screen.session.study
    fields, parts = form_fields(screen), scenario(screen)
    errors = [{"text": f"{field.legend} {field.error}", "target": field.id} for field in fields if field.error]
    if "consent" in screen.refused.get("errors", {}):
        errors.append({"text": screen.refused["errors"]["consent"], "target": "consent"})
    return {
        "study": study,
        "title": study.parsed_texts.title,
        "design": study.parsed_design,
        "screen": screen,
        "page_number": screen.position + 1,
        "page_count": study.page_count,
        "item_number": item_number(screen) if screen.item else None,
        "fields": fields,
        "framing": framing(screen),
        "id_ending": id_ending(screen.session) if screen.kind == Screen.Kind.PLATFORM_ID else "",
        "scenario": parts,
        "scenario_pinned": is_short(parts),
        "prose": prose(screen),
        "errors": errors,
    }


def stored_answers(screen: Screen) -> list[tuple[str, str]]:
    """What a screen's stored answers say, as (question, answer) in the words the person saw."""
    content = screen.item.content if screen.item else {}
    return [
        (question.text, value_text(question, screen.answers[question.code], content))
        for question in questions_of(screen)
        if question.code in screen.answers
    ]
