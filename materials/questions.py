"""The questions of an instrument: what may be asked and which answers are valid.

An instrument's JSON is parsed by `parse_questions`; every answer, whoever gave it, passes `check_value` before it is
stored. Stored values use stable option codes, never the letters or positions in which the options were shown.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator

Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
OptionCode = Annotated[str, Field(pattern=r"^[A-Za-z0-9_](?:[A-Za-z0-9_ .-]{0,58}[A-Za-z0-9_.])?$")]

FIRST, SECOND, TIE = "first", "second", "tie"


class AnswerError(ValueError):
    """A value that the question does not allow. `sentence` says what is; the text names the question as well."""

    def __init__(self, question: str, what: str) -> None:
        super().__init__(f"{question}: {what}")
        self.sentence = what[:1].upper() + what[1:]


class QuestionError(ValueError):
    """A question list that cannot be an instrument; the text says where and what to do."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Option(Frozen):
    """One answer to choose. Its text is fixed (`text`) or taken from a field of the item (`text_field`)."""

    code: OptionCode
    text: str = ""
    text_field: str = ""
    hotkey: str = Field(default="", max_length=1)
    help: str = ""

    @model_validator(mode="after")
    def _has_one_text(self) -> "Option":
        if bool(self.text) == bool(self.text_field):
            raise ValueError(f"option {self.code} needs either text or text_field")
        return self

    def label(self, content: Mapping[str, Any]) -> str:
        """The text to show for an item with this content."""
        return self.text or str(content.get(self.text_field, ""))


class ShowIf(Frozen):
    """Ask only when an earlier question has one of these values."""

    question: Code
    any_of: tuple[str | int, ...] = Field(min_length=1)


class BaseQuestion(Frozen):
    code: Code
    text: str = Field(min_length=1)
    help: str = ""
    reason: str = ""  # why a participant is asked this; shown beside demographic questions
    required: bool = True
    show_if: ShowIf | None = None


class ChoiceQuestion(BaseQuestion):
    """One of the options. Questions with the same `order_group` show their options in one common random order."""

    kind: Literal["choice"] = "choice"
    options: tuple[Option, ...] = Field(min_length=2)
    randomise: bool = False
    order_group: str = ""


class MultiQuestion(BaseQuestion):
    """Any number of the options between `minimum` and `maximum`."""

    kind: Literal["multi"] = "multi"
    options: tuple[Option, ...] = Field(min_length=2)
    randomise: bool = False
    order_group: str = ""
    minimum: int = Field(default=0, ge=0)
    maximum: int | None = None


class ScaleQuestion(BaseQuestion):
    """A whole number from `minimum` to `maximum`, with labelled ends."""

    kind: Literal["scale"] = "scale"
    minimum: int = 1
    maximum: int = 5
    low_label: str = ""
    high_label: str = ""
    labels: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_a_range(self) -> "ScaleQuestion":
        if not 1 <= self.maximum - self.minimum <= 100:
            raise ValueError("a scale needs a maximum 1 to 100 above its minimum")
        if self.labels and len(self.labels) != self.maximum - self.minimum + 1:
            raise ValueError("a scale with labels needs one for each point")
        return self

    @property
    def points(self) -> range:
        return range(self.minimum, self.maximum + 1)


class PairwiseQuestion(BaseQuestion):
    """Which of two texts of the item: `first` is the text in `first_field`, whichever side it was shown on."""

    kind: Literal["pairwise"] = "pairwise"
    first_field: str = Field(min_length=1)
    second_field: str = Field(min_length=1)
    allow_tie: bool = False
    randomise: bool = True
    order_group: str = ""


class TextQuestion(BaseQuestion):
    kind: Literal["text"] = "text"
    max_length: int = Field(default=5000, ge=1, le=100_000)
    multiline: bool = True


class NumberQuestion(BaseQuestion):
    kind: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    integer: bool = False


Question = Annotated[
    ChoiceQuestion | MultiQuestion | ScaleQuestion | PairwiseQuestion | TextQuestion | NumberQuestion,
    Field(discriminator="kind"),
]


class Questionnaire(Frozen):
    """The immutable content of an instrument version."""

    questions: tuple[Question, ...] = Field(min_length=1)

    @field_validator("questions")
    @classmethod
    def _codes_are_unique_and_conditions_look_back(cls, questions: tuple[Any, ...]) -> tuple[Any, ...]:
        seen: set[str] = set()
        for question in questions:
            if question.code in seen:
                raise ValueError(f"question code {question.code} is used twice")
            if question.show_if and question.show_if.question not in seen:
                raise ValueError(
                    f"{question.code} depends on {question.show_if.question}, which is not asked before it"
                )
            codes = [option.code for option in getattr(question, "options", ())]
            if len(set(codes)) != len(codes):
                raise ValueError(f"{question.code} has two options with the same code")
            seen.add(question.code)
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


def parse_questions(data: Any) -> Questionnaire:
    """A questionnaire from JSON-like data: a list of questions or an object with the key `questions`.

    Raises QuestionError naming the place of the first fault.
    """
    try:
        return _ADAPTER.validate_python({"questions": data} if isinstance(data, list | tuple) else data)
    except ValidationError as error:
        raise QuestionError(_fault(error.errors()[0])) from error


def _fault(error: Mapping[str, Any]) -> str:
    """One sentence with the place, which counts from 1 and leaves out the kind that pydantic puts into it."""
    names = [part for position, part in enumerate(error["loc"]) if position != 2 or part not in _CHECKS]
    place = " > ".join(str(part + 1) if isinstance(part, int) else part for part in names)
    what = error["msg"].removeprefix("Value error, ")
    if error["type"].startswith("union_tag"):
        given = f", not {error['ctx']['tag']}" if "tag" in error["ctx"] else ""
        what = f'a question needs a "kind" that is one of {", ".join(_CHECKS)}{given}'
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


def text_fields(questions: Iterable[Any]) -> list[str]:
    """The item's fields that options and pairs take their texts from, by name."""
    fields: set[str] = set()
    for question in questions:
        if isinstance(question, PairwiseQuestion):
            fields |= {question.first_field, question.second_field}
        fields |= {option.text_field for option in getattr(question, "options", ()) if option.text_field}
    return sorted(fields)


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
        codes = [code for code in option_codes(question) if code != TIE]
        seed = hashlib.sha256(f"{key}/{group or question.code}".encode()).digest()
        random.Random(seed).shuffle(codes)
        codes += [code for code in option_codes(question) if code == TIE]
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


def check_value(question: Any, value: Any) -> Any:
    """The value in the form in which it is stored; raises AnswerError with a sentence otherwise.

    choice, pairwise: an option code; multi: a list of option codes in the instrument's order; scale: int;
    number: int or float; text: str without surrounding white space. None or "" on an optional question is None.
    """
    if value is None or value == "" or (value == [] and question.kind != "multi"):
        if question.required:
            raise AnswerError(question.code, "an answer is required.")
        return None
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


_CHECKS: dict[str, Callable[[Any, Any], Any]] = {
    "choice": _check_choice,
    "pairwise": _check_choice,
    "multi": _check_multi,
    "scale": _check_scale,
    "number": _check_number,
    "text": _check_text,
}
