"""How questions are shown to annotators: with their options, keys and limits, and what was answered so far."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from materials.keys import form_keys
from materials.questions import BEST, TIE, WORST, Questionnaire, draw_orders, option_codes, option_label
from materials.spans import write_spans

PREFIX = "answer_"  # of the names of form fields; codes are the instrument's to choose and may be any word
SIDES = ("A", "B")  # of a pair of texts
INLINE_LABEL = 10  # characters; longer options stand below one another


@dataclass(frozen=True, slots=True)
class ShownOption:
    code: str
    label: str
    hotkey: str = ""
    shared: bool = False  # another question has an option with this key
    help: str = ""
    given: tuple[str, ...] = ()  # its places, where each option has one


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    code: str
    name: str
    kind: str
    legend: str
    help: str
    optional: bool
    value: Any = field(hash=False)
    error: str = ""
    options: tuple[ShownOption, ...] = ()
    inline: bool = False
    ends: tuple[str, ...] = ()  # what the lowest and the highest point of a scale or slider mean
    places: tuple[str, ...] = ()  # of a ranking
    marked: str = ""  # the field of the item in which passages are marked
    multiline: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)  # attributes of a number or text field
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


def draws_sides(questionnaire: Questionnaire) -> bool:
    """Whether people see the texts of a pair on sides that are drawn for each of them."""
    return any(question.kind == "pairwise" and question.randomise for question in questionnaire.questions)


def codes_by_side(question: Any, orders: Mapping[str, list[str]]) -> list[str]:
    """The codes of the two texts of a pair, that of side A first."""
    return [code for code in orders.get(question.code) or option_codes(question) if code != TIE]


def side_of(question: Any, value: Any, orders: Mapping[str, list[str]]) -> str:
    """The side on which the chosen text of a pair is shown; "" for a tie and for other questions."""
    if question.kind != "pairwise" or value == TIE:
        return ""
    return SIDES[codes_by_side(question, orders).index(value)]


def shown_questions(
    questionnaire: Questionnaire,
    content: Mapping[str, Any],
    *,
    orders: Mapping[str, list[str]],
    answers: Mapping[str, Any],
    errors: Mapping[str, str],
) -> list[ShownQuestion]:
    """Every question in order; those with a condition carry it, and the page's script hides and shows them."""
    options_of = _options(questionnaire, content, orders, answers)
    return [
        ShownQuestion(
            code=question.code,
            name=PREFIX + question.code,
            kind=question.kind,
            legend=question.text,
            help=question.help,
            optional=not question.required,
            value=field_value(question, content, answers.get(question.code)),
            error=errors.get(question.code, ""),
            options=(options := options_of[question.code]),
            inline=question.kind == "pairwise"
            or max((len(option.label) for option in options), default=0) <= INLINE_LABEL,
            ends=ends_of(question),
            places=places_of(question),
            marked=getattr(question, "field", ""),
            multiline=getattr(question, "multiline", False),
            limits=limits_of(question),
            show_if=_show_if(question),
            condition=condition_of(question),
        )
        for question in questionnaire.questions
    ]


def field_value(question: Any, content: Mapping[str, Any], given: Any) -> Any:
    """The answer as its field holds it; passages as lines."""
    return (
        write_spans(given, question.text_of(content)) if question.kind == "span" and isinstance(given, list) else given
    )


def places_of(question: Any) -> tuple[str, ...]:
    """What an option can be given in a question that gives out places."""
    if question.kind == "best_worst":
        return BEST, WORST
    return tuple(str(place) for place in range(1, question.places + 1)) if question.kind == "rank" else ()


def given_places(question: Any, code: str, answer: Any) -> tuple[str, ...]:
    """The places of the option in an answer, which may be one that was refused."""
    if question.kind == "best_worst" and isinstance(answer, dict):
        return tuple(place for place, chosen in answer.items() if chosen == code)
    if question.kind != "rank" or not answer:
        return ()
    places = answer if isinstance(answer, dict) else {entry: place for place, entry in enumerate(answer, start=1)}
    return (str(places[code]),) if code in places else ()


def condition_of(question: Any) -> str:
    """When the question is asked, in words; "" for one that always is."""
    rule = question.show_if
    return f"Asked only when {rule.question} is {' or '.join(map(str, rule.any_of))}." if rule else ""


def _show_if(question: Any) -> str:
    rule = question.show_if
    return json.dumps({"name": PREFIX + rule.question, "any_of": list(map(str, rule.any_of))}) if rule else ""


def _options(
    questionnaire: Questionnaire,
    content: Mapping[str, Any],
    orders: Mapping[str, list[str]],
    answers: Mapping[str, Any],
) -> dict[str, tuple[ShownOption, ...]]:
    """By question code; keys are drawn over the whole form."""
    questions = questionnaire.questions
    codes = [_codes(question, orders) for question in questions]
    own = [{option.code: option.hotkey for option in _written(question)} for question in questions]
    wanted = [[hotkeys.get(code, "") for code in shown] for shown, hotkeys in zip(codes, own, strict=True)]
    keys = form_keys(list(zip(codes, wanted, strict=True)))
    times = Counter(key for given in keys for key in given)
    return {
        question.code: tuple(
            ShownOption(
                code,
                label,
                key,
                times[key] > 1,
                _option_help(question, code),
                given_places(question, code, answers.get(question.code)),
            )
            for code, label, key in zip(shown, _labels(question, content, shown), given, strict=True)
        )
        for question, shown, given in zip(questions, codes, keys, strict=True)
    }


def _written(question: Any) -> tuple[Any, ...]:
    """The options or labels that the instrument has written out."""
    return getattr(question, "options", ()) or (question.labels if question.kind == "span" else ())


def _codes(question: Any, orders: Mapping[str, list[str]]) -> list[str]:
    if question.kind == "span":
        return [label.code for label in question.labels]
    return orders.get(question.code) or list(option_codes(question))


def _option_help(question: Any, code: str) -> str:
    if ends := ends_of(question):
        return {question.minimum: ends[0], question.maximum: ends[1]}.get(int(code), "")
    return next((option.help for option in _written(question) if option.code == code), "")


def ends_of(question: Any) -> tuple[str, ...]:
    """What the ends of a scale without labels of its points, or of a slider, mean."""
    if (question.kind == "scale" and not question.labels) or getattr(question, "slider", False):
        return question.low_label, question.high_label
    return ()


def _labels(question: Any, content: Mapping[str, Any], codes: list[str]) -> list[str]:
    if question.kind == "pairwise":
        return [*SIDES, "Both equally"][: len(codes)]
    if question.kind == "span":
        return [label.text for label in question.labels]
    labels = [option_label(question, code, content) for code in codes]
    if question.kind == "scale" and question.labels:
        return [f"{code} · {label}" for code, label in zip(codes, labels, strict=True)]
    return labels


def limits_of(question: Any) -> dict[str, Any]:
    """The attributes of the question's text or number field, or what passages keep to."""
    if question.kind == "span":
        return {"overlap": question.overlap, "most": question.most}
    if question.kind == "text":
        return {"maxlength": question.max_length}
    if question.kind == "number":
        limits: dict[str, Any] = {
            "min": question.minimum,
            "max": question.maximum,
            "step": 1 if question.integer else "any",
        }
        slider = {"data-slider": ""} if question.slider else {}
        return {name: value for name, value in limits.items() if value is not None} | slider
    return {}
