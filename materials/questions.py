"""The questions of an instrument: what may be asked and which answers are valid.

An instrument's JSON is parsed by `parse_questions`; every answer, whoever gave it, passes `check_value` before it is
stored. Stored values use stable option codes, never the letters or positions in which the options were shown.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from materials.question_kinds import (
    BestWorstQuestion,
    Frozen,
    MultiQuestion,
    NumberQuestion,
    PairwiseQuestion,
    Question,
    RankQuestion,
    ScaleQuestion,
    SpanQuestion,
    TextQuestion,
)
from materials.spans import check_spans, read_spans

FIRST, SECOND, TIE = "first", "second", "tie"
BEST, WORST = "best", "worst"
NO_CONTENT: Mapping[str, Any] = {}
NOT_ONE_VALUE = ("rank", "best_worst", "span")  # what they answer cannot be named in a condition


class AnswerError(ValueError):
    """A value that the question does not allow. `sentence` says what is; the text names the question as well."""

    def __init__(self, question: str, what: str) -> None:
        super().__init__(f"{question}: {what}")
        self.sentence = what[:1].upper() + what[1:]


class QuestionError(ValueError):
    """A question list that cannot be an instrument; each of `faults` is a sentence that says where and what to do."""

    def __init__(self, *faults: str) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


class Questionnaire(Frozen):
    """The immutable content of an instrument version."""

    questions: tuple[Question, ...] = Field(min_length=1)

    @field_validator("questions")
    @classmethod
    def _fit_together(cls, questions: tuple[Any, ...]) -> tuple[Any, ...]:
        if faults := [what for _, _, what in faults_between(questions)]:
            raise ValueError("; ".join(faults))
        return questions

    def __getitem__(self, code: str) -> Any:
        for question in self.questions:
            if question.code == code:
                return question
        raise KeyError(code)

    def only(self, codes: Iterable[str]) -> "Questionnaire":
        """The questions with these codes, in their own order; all of them when `codes` is empty."""
        wanted = set(codes)
        unknown = wanted - {question.code for question in self.questions}
        if unknown:
            raise QuestionError(f"The instrument has no question {', '.join(sorted(unknown))}.")
        return Questionnaire(questions=tuple(q for q in self.questions if not wanted or q.code in wanted))


_ADAPTER = TypeAdapter(Questionnaire)
_QUESTION: TypeAdapter[Any] = TypeAdapter(Question)


def parse_questions(data: Any) -> Questionnaire:
    """A questionnaire from JSON-like data: a list of questions or an object with the key `questions`.

    Raises QuestionError with every fault and its place. What depends on several fields of a question is looked at once
    each of them is right.
    """
    wrapped = {"questions": data} if isinstance(data, list | tuple) else data
    try:
        return _ADAPTER.validate_python(wrapped)
    except ValidationError as error:
        errors = error.errors()
        faults = [_fault(entry) for entry in errors if entry["loc"] != ("questions",)]
        if isinstance(wrapped, Mapping) and isinstance(wrapped.get("questions"), list | tuple):
            outlines = [_outline(question) for question in wrapped["questions"]]
            faults += [f"Instrument, at questions: {what}." for _, _, what in faults_between(filter(None, outlines))]
        raise QuestionError(*(faults or map(_fault, errors))) from error


def _outline(data: Any) -> Any:
    """The question, or of one that has faults what others may refer to; None without a code."""
    try:
        return _QUESTION.validate_python(data)
    except ValidationError:
        if not isinstance(data, Mapping) or "code" not in data:
            return None
        return SimpleNamespace(code=str(data["code"]), kind=str(data.get("kind")), show_if=None)


def faults_between(questions: Iterable[Any]) -> Iterator[tuple[int, str, str]]:
    """What is wrong among the codes of questions and options, and with conditions on earlier answers.

    Each fault comes with the question's position, which counts from 0, and the name of its field.
    """
    seen: dict[str, str] = {}
    for position, question in enumerate(questions):
        if question.code in seen:
            yield position, "code", f"question code {question.code} is used twice"
        earlier = question.show_if.question if question.show_if else None
        if earlier and earlier not in seen:
            yield position, "show_if", f"{question.code} depends on {earlier}, which is not asked before it"
        elif earlier and seen[earlier] in NOT_ONE_VALUE:
            yield position, "show_if", f"{question.code} cannot depend on {earlier}, a {seen[earlier]} question"
        codes = [option.code for option in getattr(question, "options", ())]
        if question.kind in ("rank", "best_worst") and apart_codes(question):
            yield position, "options", f"{question.code} puts its options in order, so none of them can stand apart"
        if len(set(codes)) != len(codes):
            yield position, "options", f"{question.code} has two options with the same code"
        seen[question.code] = question.kind


def _fault(error: Mapping[str, Any]) -> str:
    """One sentence with the place, which counts from 1 and leaves out the kind that pydantic puts into it."""
    names = [part for position, part in enumerate(error["loc"]) if position != 2 or part not in KINDS]
    place = " > ".join(str(part + 1) if isinstance(part, int) else part for part in names)
    what = error["msg"].removeprefix("Value error, ")
    if error["type"].startswith("union_tag"):
        given = f", not {error['ctx']['tag']}" if "tag" in error["ctx"] else ""
        what = f'a question needs a "kind" that is one of {", ".join(KINDS)}{given}'
    return f"Instrument, at {place or 'top'}: {what[:1].lower()}{what[1:]}."


def option_codes(question: Any) -> tuple[str, ...]:
    """The codes one can choose among; empty for open questions."""
    if isinstance(question, PairwiseQuestion):
        return (FIRST, SECOND, TIE) if question.allow_tie else (FIRST, SECOND)
    if isinstance(question, ScaleQuestion):
        return tuple(str(point) for point in question.points)
    return tuple(option.code for option in getattr(question, "options", ()))


def option_label(question: Any, code: str, content: Mapping[str, Any]) -> str:
    """The text shown for an option code, for an item with this content."""
    if isinstance(question, PairwiseQuestion):
        fields = {FIRST: question.first_field, SECOND: question.second_field}
        return str(content.get(fields[code], "")) if code in fields else "Both equally"
    if isinstance(question, ScaleQuestion):
        return question.labels[int(code) - question.minimum] if question.labels else code
    return next(str(option.label(content)) for option in question.options if option.code == code)


def apart_codes(question: Any) -> set[str]:
    """The options that exclude all others."""
    return {option.code for option in getattr(question, "options", ()) if option.apart}


def last_codes(question: Any) -> list[str]:
    """The options that stay at the end in every order: a tie, and those that stand apart."""
    apart = apart_codes(question)
    return [code for code in option_codes(question) if code == TIE or code in apart]


def counted(question: Any, value: Any) -> list[str]:
    """What of a stored answer counts in a table of its options: the chosen ones, of a ranking the first.

    The best and the worst are counted apart, as "best:code" and "worst:code".
    """
    if question.kind == "rank":
        return [str(code) for code in value[:1]]
    if question.kind == "best_worst":
        return [f"{place}:{code}" for place, code in value.items()]
    return [str(entry) for entry in value] if question.kind == "multi" else [str(value)]


def count_rows(question: Any, content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rows of that table: what is counted, and its words; none for open questions."""
    labels = [(code, option_label(question, code, content) or code) for code in option_codes(question)]
    if question.kind == "best_worst":
        return [(f"{place}:{code}", f"{place}: {label}") for place in (BEST, WORST) for code, label in labels]
    return [(code, f"first: {label}") for code, label in labels] if question.kind == "rank" else labels


def text_fields(questions: Iterable[Any]) -> list[str]:
    """The item's fields that options and pairs take their texts from or in which passages are marked, by name."""
    fields = set(span_fields(questions := list(questions)))
    for question in questions:
        if isinstance(question, PairwiseQuestion):
            fields |= {question.first_field, question.second_field}
        fields |= {option.text_field for option in getattr(question, "options", ()) if option.text_field}
    return sorted(fields)


def span_fields(questions: Iterable[Any]) -> list[str]:
    """The item's fields whose texts are marked, by name."""
    return sorted({question.field for question in questions if isinstance(question, SpanQuestion)})


def draw_orders(questions: Sequence[Any], *, key: str) -> dict[str, list[str]]:
    """Option order by question code for every randomised question: a function of `key` alone.

    The key names whom and what the order is for (for example "study seed/session/item"), so that the order can be drawn
    again anywhere. Questions of one `order_group` get the order of the group's first question.
    """
    orders: dict[str, list[str]] = {}
    by_group: dict[str, list[str]] = {}
    for question in questions:
        if not getattr(question, "randomise", False):
            continue
        group = question.order_group
        if group in by_group and set(by_group[group]) == set(option_codes(question)):
            orders[question.code] = list(by_group[group])
            continue
        last = last_codes(question)
        codes = [code for code in option_codes(question) if code not in last]
        seed = hashlib.sha256(f"{key}/{group or question.code}".encode()).digest()
        random.Random(seed).shuffle(codes)
        codes += last
        orders[question.code] = codes
        if group:
            by_group[group] = codes
    return orders


def order_factor(orders: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The option orders as a condition's factor: {} when nothing was randomised, one order when all questions share it.

    >>> order_factor({"personal": ["b", "a"], "norm": ["b", "a"]})
    {'option_order': 'b|a'}
    """
    texts = {code: "|".join(order) for code, order in orders.items()}
    if len(set(texts.values())) <= 1:
        return {"option_order": next(iter(texts.values()))} if texts else {}
    return {"option_order": "; ".join(f"{code}: {text}" for code, text in sorted(texts.items()))}


def is_shown(question: Any, answers: Mapping[str, Any]) -> bool:
    """Whether the question is asked, given the answers so far."""
    rule = question.show_if
    if rule is None:
        return True
    given = answers.get(rule.question)
    return any(value in rule.any_of for value in (given if isinstance(given, list) else [given]))


def check_value(question: Any, value: Any, content: Mapping[str, Any] = NO_CONTENT) -> Any:
    """The value in the form in which it is stored; raises AnswerError with a sentence otherwise.

    choice, pairwise: an option code; multi: a list of option codes in the instrument's order; scale: int;
    number: int or float; text: str without surrounding white space; rank: a list of option codes, the best first, made
    from that or from a place for each code; best_worst: {"best": code, "worst": code}; span: a list of {"start", "end",
    "label"} in code points of the text, made from that or from the lines of `materials.spans`, for which `content` is
    needed. None or "" on an optional question is None; an empty list of options or passages says that none fits.
    """
    if value is None or value == "" or (value in ([], {}) and question.kind not in ("multi", "span")):
        if question.required:
            raise AnswerError(question.code, "an answer is required.")
        return None
    if isinstance(question, SpanQuestion):
        return _check_span(question, value, question.text_of(content))
    return _CHECKS[question.kind](question, value)


def _check_choice(question: Any, value: Any) -> str:
    codes = option_codes(question)
    if not isinstance(value, str) or value not in codes:
        raise AnswerError(question.code, f"{str(value)[:80]!r} is not an option; use one of {', '.join(codes)}.")
    return value


def _check_multi(question: MultiQuestion, value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        raise AnswerError(question.code, "give a list of options.")
    chosen = {_check_choice(question, entry) for entry in value}
    if apart := chosen & apart_codes(question):
        if len(chosen) > 1:
            words = option_label(question, min(apart), NO_CONTENT)
            raise AnswerError(question.code, f"choose either {words!r} or other options.")
        return list(apart)
    highest = question.maximum if question.maximum is not None else len(question.options)
    lowest = max(question.minimum, 1 if question.required else 0)
    if not lowest <= len(chosen) <= highest:
        raise AnswerError(question.code, f"choose {lowest} to {highest} options, not {len(chosen)}.")
    return [code for code in option_codes(question) if code in chosen]


def _check_scale(question: ScaleQuestion, value: Any) -> int:
    number = _check_finite(question, value)
    if number != int(number) or int(number) not in question.points:
        raise AnswerError(question.code, f"give a whole number from {question.minimum} to {question.maximum}.")
    return int(number)


def _check_number(question: NumberQuestion, value: Any) -> int | float:
    number = _check_finite(question, value)
    if question.integer and number != int(number):
        raise AnswerError(question.code, "give a whole number.")
    if question.minimum is not None and number < question.minimum:
        raise AnswerError(question.code, f"give a number of at least {question.minimum:g}.")
    if question.maximum is not None and number > question.maximum:
        raise AnswerError(question.code, f"give a number of at most {question.maximum:g}.")
    return int(number) if number == int(number) else number


def _check_finite(question: Any, value: Any) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not -1e15 < number < 1e15:
        raise AnswerError(question.code, f"{str(value)[:80]!r} is not a number.")
    return number


def _check_text(question: TextQuestion, value: Any) -> str | None:
    if not isinstance(value, str):
        raise AnswerError(question.code, "give a text.")
    # PostgreSQL stores neither NUL nor half a surrogate pair, and neither is a character.
    text = value.replace("\x00", "").encode("utf-8", "ignore").decode().strip()
    if not text and question.required:
        raise AnswerError(question.code, "an answer is required.")
    if len(text) > question.max_length:
        raise AnswerError(question.code, f"{len(text)} characters are more than the {question.max_length} allowed.")
    return text or None


def _check_rank(question: RankQuestion, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        value = _in_order(question, value)
    if not isinstance(value, list | tuple):
        raise AnswerError(question.code, "give a list of options, the best first.")
    ranked = [_check_choice(question, entry) for entry in value]
    if len(set(ranked)) < len(ranked):
        raise AnswerError(question.code, "an option has two places.")
    if len(ranked) != question.places:
        raise AnswerError(question.code, f"put {question.places} options in order, not {len(ranked)}.")
    return ranked


def _in_order(question: RankQuestion, places: Mapping[str, Any]) -> list[str]:
    wanted = [str(place) for place in range(1, question.places + 1)]
    by_place: dict[str, str] = {}
    for code, given in places.items():
        place = str(given)[:80]
        if place not in wanted:
            raise AnswerError(question.code, f"{place!r} is not a place from 1 to {question.places}.")
        if place in by_place:
            raise AnswerError(question.code, f"two options have place {place}.")
        by_place[place] = code
    if missing := [place for place in wanted if place not in by_place]:
        raise AnswerError(question.code, f"no option has place {' or '.join(missing)}.")
    return [by_place[place] for place in wanted]


def _check_best_worst(question: BestWorstQuestion, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not set(value) <= {BEST, WORST}:
        raise AnswerError(question.code, "give the best and the worst option.")
    for place in (BEST, WORST):
        if place not in value:
            raise AnswerError(question.code, f"choose the {place} option as well.")
    chosen = {place: _check_choice(question, value[place]) for place in (BEST, WORST)}
    if chosen[BEST] == chosen[WORST]:
        raise AnswerError(question.code, "one option cannot be both the best and the worst.")
    return chosen


def _check_span(question: SpanQuestion, value: Any, text: str) -> list[dict[str, Any]]:
    codes = [label.code for label in question.labels]
    try:
        if isinstance(value, str):
            names = {name: label.code for label in question.labels for name in (label.text, label.code)}
            value = read_spans(value, text, names)
        if not isinstance(value, list | tuple):
            raise ValueError("give a list of passages.")
        spans = check_spans(value, text, codes, overlap=question.overlap)
    except ValueError as error:
        raise AnswerError(question.code, str(error)) from error
    if not spans and question.required:
        raise AnswerError(question.code, "mark at least one passage.")
    if question.most is not None and len(spans) > question.most:
        raise AnswerError(question.code, f"mark at most {question.most} passages, not {len(spans)}.")
    return spans


_CHECKS: dict[str, Callable[[Any, Any], Any]] = {
    "choice": _check_choice,
    "pairwise": _check_choice,
    "multi": _check_multi,
    "rank": _check_rank,
    "best_worst": _check_best_worst,
    "scale": _check_scale,
    "number": _check_number,
    "text": _check_text,
}
KINDS = (*_CHECKS, "span")
