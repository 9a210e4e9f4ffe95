"""What annotators are shown: the item's parts, the pair of texts side by side, and the questions with their keys."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from materials.keys import form_keys
from materials.questions import Questionnaire, draw_orders, option_codes, option_label

PREFIX = "answer_"  # of the names of form fields; codes are the instrument's to choose and may be any word
SIDES = ("A", "B")
INLINE_LABEL = 10  # characters; longer options stand below one another


@dataclass(frozen=True, slots=True)
class Part:
    """A labelled piece of an item: lines of text, a list, or anything else as code."""

    label: str
    text: str = ""
    entries: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class ShownOption:
    code: str
    label: str
    hotkey: str = ""
    shared: bool = False  # another question has an option with this key
    help: str = ""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    code: str
    name: str
    kind: str
    legend: str
    help: str
    optional: bool
    value: Any
    error: str = ""
    options: tuple[ShownOption, ...] = ()
    inline: bool = False
    ends: tuple[str, ...] = ()  # of a scale without labels of its points: what the lowest and the highest mean
    multiline: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict)  # attributes of a number or text field
    show_if: str = ""  # JSON for the page's script
    condition: str = ""  # the same in words, for previews

    @property
    def multiple(self) -> bool:
        return self.kind == "multi"

    @property
    def selected(self) -> list[str]:
        if isinstance(self.value, list):
            return self.value
        return [] if self.value is None else [str(self.value)]


def item_parts(content: Mapping[str, Any], fields: Iterable[Any], *, without: Iterable[str] = ()) -> list[Part]:
    """The chosen fields in their order, or all of them; a chosen field that the item lacks is left out."""
    hidden = set(without)
    chosen = [(entry, "") if isinstance(entry, str) else (entry["field"], entry.get("label", "")) for entry in fields]
    return [
        _part(label or name.replace("_", " ").capitalize(), content[name])
        for name, label in chosen or [(name, "") for name in content]
        if name in content and name not in hidden
    ]


def _part(label: str, value: Any) -> Part:
    if isinstance(value, list) and all(isinstance(entry, str | int | float) for entry in value):
        return Part(label, entries=tuple(str(entry) for entry in value))
    if isinstance(value, dict | list):
        return Part(label, code=json.dumps(value, ensure_ascii=False, indent=2))
    return Part(label, text="" if value is None else str(value))


def pairs(
    questionnaire: Questionnaire, content: Mapping[str, Any], orders: Mapping[str, list[str]]
) -> dict[tuple[str, str], list[Part]]:
    """The two texts of each pair that is compared, by its fields, on the sides on which this annotator sees them."""
    shown: dict[tuple[str, str], list[Part]] = {}
    for question in questionnaire.questions:
        if question.kind != "pairwise":
            continue
        sides = [code for code in orders.get(question.code) or option_codes(question) if code != "tie"]
        texts = [option_label(question, code, content) for code in sides]
        shown.setdefault(
            (question.first_field, question.second_field),
            [Part(side, text=text) for side, text in zip(SIDES, texts, strict=True)],
        )
    return shown


def item_orders(questionnaire: Questionnaire, *, key: str) -> dict[str, list[str]]:
    """Option order by randomised question. Questions about one pair of texts share the sides of the first of them."""
    orders = draw_orders(questionnaire.questions, key=key)
    sides: dict[tuple[str, str], list[str] | None] = {}
    for question in questionnaire.questions:
        if question.kind != "pairwise":
            continue
        shared = sides.setdefault((question.first_field, question.second_field), orders.get(question.code))
        if shared is None:
            orders.pop(question.code, None)
        else:
            orders[question.code] = [code for code in shared if code != "tie"] + ["tie"] * question.allow_tie
    return orders


def shown_questions(
    questionnaire: Questionnaire,
    content: Mapping[str, Any],
    *,
    orders: Mapping[str, list[str]],
    answers: Mapping[str, Any],
    errors: Mapping[str, str],
) -> list[ShownQuestion]:
    """Every question in order; those with a condition carry it, and the page's script hides and shows them."""
    options_of = _options(questionnaire, content, orders)
    return [
        ShownQuestion(
            code=question.code,
            name=PREFIX + question.code,
            kind=question.kind,
            legend=question.text,
            help=question.help,
            optional=not question.required,
            value=answers.get(question.code),
            error=errors.get(question.code, ""),
            options=(options := options_of[question.code]),
            inline=question.kind == "pairwise"
            or max((len(option.label) for option in options), default=0) <= INLINE_LABEL,
            ends=_ends(question),
            multiline=getattr(question, "multiline", False),
            limits=_limits(question),
            **_condition(question),
        )
        for question in questionnaire.questions
    ]


def _condition(question: Any) -> dict[str, str]:
    if question.show_if is None:
        return {}
    earlier, values = question.show_if.question, [str(value) for value in question.show_if.any_of]
    return {
        "show_if": json.dumps({"name": PREFIX + earlier, "any_of": values}),
        "condition": f"Asked only when {earlier} is {' or '.join(values)}.",
    }


def _options(
    questionnaire: Questionnaire, content: Mapping[str, Any], orders: Mapping[str, list[str]]
) -> dict[str, tuple[ShownOption, ...]]:
    """By question code; keys are drawn over the whole form."""
    questions = questionnaire.questions
    codes = [orders.get(question.code) or list(option_codes(question)) for question in questions]
    own = [{option.code: option.hotkey for option in getattr(question, "options", ())} for question in questions]
    wanted = [[hotkeys.get(code, "") for code in shown] for shown, hotkeys in zip(codes, own, strict=True)]
    keys = form_keys(list(zip(codes, wanted, strict=True)))
    times = Counter(key for given in keys for key in given)
    return {
        question.code: tuple(
            ShownOption(code, label, key, times[key] > 1, _option_help(question, code))
            for code, label, key in zip(shown, _labels(question, content, shown), given, strict=True)
        )
        for question, shown, given in zip(questions, codes, keys, strict=True)
    }


def _option_help(question: Any, code: str) -> str:
    if ends := _ends(question):
        return {question.minimum: ends[0], question.maximum: ends[1]}.get(int(code), "")
    return next((option.help for option in getattr(question, "options", ()) if option.code == code), "")


def _ends(question: Any) -> tuple[str, ...]:
    if question.kind != "scale" or question.labels:
        return ()
    return question.low_label, question.high_label


def _labels(question: Any, content: Mapping[str, Any], codes: list[str]) -> list[str]:
    if question.kind == "pairwise":
        return [*SIDES, "Both equally"][: len(codes)]
    labels = [option_label(question, code, content) for code in codes]
    if question.kind == "scale" and question.labels:
        return [f"{code} · {label}" for code, label in zip(codes, labels, strict=True)]
    return labels


def _limits(question: Any) -> dict[str, Any]:
    if question.kind == "text":
        return {"maxlength": question.max_length}
    if question.kind == "number":
        limits = {"min": question.minimum, "max": question.maximum, "step": 1 if question.integer else "any"}
        return {name: value for name, value in limits.items() if value is not None}
    return {}
