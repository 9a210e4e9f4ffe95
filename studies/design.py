"""What a study is made of besides its instrument: no database, no clock. Who gets what of it: `studies.dealing`.

A study's `design` is JSON of this form (only `items_each`, `item_template` and `minutes` are needed):

    {
      "items_each": 7,                      items shown to each person
      "item_template": {"item_fields": ["situation", {"field": "cultural_expectation", "label": "Usual there"}]},
      "minutes": 6,                         how long it takes, told before consent
      "seed": 1,                            every draw of the study derives from it
      "contact": "the.team@example.org",    whom to ask, and who deletes on request
      "language": "en",                     of the texts and questions; others are in the study's translations
      "questions": ["personal", "norm"],    codes of the instrument to ask; all of them when left out
      "groups": [["personal", "norm"], ["importance"]],   the pages that each item takes; all on one when left out
      "asked_on": {"why": 2},               a question that is asked about so many of a person's items only
      "balance": ["relation", "setting"],   fields of the items, or the relation, whose levels are even within a person
      "strata": ["country"],                questions about people: places are dealt apart within each combination
      "relation": {"name": "relation", "attribute": "country", "field": "receiver_country",
                   "close": {"India": ["Nepal"]}},        how an item stands to the person: same, close or far
      "factors": [{"name": "framing", "within": true, "levels": [{"code": "a", "text": "..."}, {"code": "b"}]}],
      "attention_checks": [{"question": {"kind": "choice", "code": "attention", ...}, "expected": "blue"}],
      "attention_limit": 1,                 so many failed checks fail the person
      "screening": [{"question": "country", "allowed": ["India"]}],
      "quotas": [{"attributes": {"country": "India"}, "most": 40}],
      "comprehension": {"questions": [...], "expected": {"about": "customs"}, "tries": 2},
      "confirm_platform_id": true
    }

`texts` holds `title` and, in Markdown, `consent`, `instructions`, `debrief`, and what is said at each end; only `title`
and `consent` are needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from materials.question_kinds import Code, Frozen, OptionCode, Question
from materials.questions import AnswerError, Questionnaire, check_value

MOST_STRATA = 3
LANGUAGE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,7}){0,2}$"  # as HTML's `lang` has it, in at most 20 characters
OWN_FACTORS = ("option_order", "language")  # of a response's condition, besides those of the design
Model = TypeVar("Model", "Design", "Texts")


class DesignError(ValueError):
    """A design or a set of texts that cannot be used; the text says where and what to do."""


class ItemField(Frozen):
    """A field of the item's content, shown as a part of the scenario, with a heading where it needs one.

    The format "markdown" draws its texts as Markdown with LaTeX.
    """

    field: str = Field(min_length=1)
    label: str = ""
    format: Literal["text", "markdown"] = "text"


def _as_fields(entries: Any) -> Any:
    return [{"field": entry} if isinstance(entry, str) else entry for entry in entries]


class ItemTemplate(Frozen):
    item_fields: tuple[ItemField, ...] = Field(min_length=1)

    @field_validator("item_fields", mode="before")
    @classmethod
    def _names_are_fields(cls, fields: Any) -> Any:
        return _as_fields(fields)


class Relation(Frozen):
    """How an item stands to the person: by an option chosen about oneself and the text in a field of the item."""

    name: Code = "relation"
    attribute: Code
    field: str = Field(min_length=1)
    close: dict[str, tuple[str, ...]] = {}

    def level(self, attributes: Mapping[str, Any], content: Mapping[str, Any]) -> str:
        """ "same", "close" (what the design lists for the person's option), or "far"."""
        own, other = str(attributes.get(self.attribute, "")), str(content.get(self.field, ""))
        if own == other:
            return "same"
        return "close" if other in self.close.get(own, ()) else "far"


class Level(Frozen):
    """One level of a factor: a text in Markdown above the scenario, or other fields of the item, or both."""

    code: OptionCode
    text: str = ""
    item_fields: tuple[ItemField, ...] = ()

    @field_validator("item_fields", mode="before")
    @classmethod
    def _names_are_fields(cls, fields: Any) -> Any:
        return _as_fields(fields)


class Factor(Frozen):
    """Between people, who see one level each, or within, where each item of a person has a level."""

    name: Code
    within: bool = False
    levels: tuple[Level, ...] = Field(min_length=2)

    @field_validator("levels")
    @classmethod
    def _can_be_told_apart(cls, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        if len({level.code for level in levels}) < len(levels):
            raise ValueError("two levels have the same code")
        return levels


class AttentionCheck(Frozen):
    """An instructed item: the question itself says which answer to give."""

    question: Question
    expected: str | int

    @model_validator(mode="after")
    def _can_be_passed(self) -> "AttentionCheck":
        if self.question.kind not in ("choice", "scale", "text", "number") or not self.question.required:
            raise ValueError("an attention check is a required choice, scale, text or number question")
        _check_expected(self.question, self.expected)
        return self

    def is_passed(self, value: Any) -> bool:
        """Whether a checked value is the expected one; letter case does not matter."""
        return _is_same(value, self.expected)


class Comprehension(Questionnaire):
    """Questions about the instructions, with the right answers; who fails the last of the tries is asked to return."""

    expected: dict[Code, Any]
    tries: int = Field(default=2, ge=1, le=10)

    @model_validator(mode="after")
    def _can_be_passed(self) -> "Comprehension":
        codes = {question.code for question in self.questions}
        if unlike := codes ^ set(self.expected):
            raise ValueError(f"each question needs one expected answer; look at {', '.join(sorted(unlike))}")
        for question in self.questions:
            if not question.required or question.show_if:
                raise ValueError(f"{question.code} must be required and without a condition")
            _check_expected(question, self.expected[question.code])
        return self

    def wrong(self, values: Mapping[str, Any]) -> list[str]:
        """The codes of the questions with another answer than the expected one."""
        right = {q.code: check_value(q, self.expected[q.code]) for q in self.questions}
        return [code for code, expected in right.items() if not _is_same(values.get(code), expected)]


def _check_expected(question: Any, expected: Any) -> None:
    try:
        check_value(question, expected)
    except AnswerError as error:
        raise ValueError(f"the expected answer is not allowed ({error})") from error


def _is_same(value: Any, expected: Any) -> bool:
    return str(value).strip().casefold() == str(expected).strip().casefold()


class Screening(Frozen):
    """Who may go on: people with one of these answers to a question about themselves."""

    question: Code
    allowed: tuple[str | int, ...] = Field(min_length=1)


class Quota(Frozen):
    """At most so many people with these attributes; without any, people altogether."""

    attributes: dict[Code, str | int] = {}
    most: int = Field(ge=0)

    def covers(self, attributes: Mapping[str, Any]) -> bool:
        return self.attributes.items() <= attributes.items()


class Design(Frozen):
    items_each: int = Field(ge=1, le=1000)
    item_template: ItemTemplate
    minutes: int = Field(ge=1, le=600)
    seed: int = 0
    contact: str = ""
    language: str = Field(default="en", pattern=LANGUAGE)
    questions: tuple[Code, ...] = ()
    groups: tuple[tuple[Code, ...], ...] = ()
    asked_on: dict[Code, int] = {}
    balance: tuple[str, ...] = ()
    strata: tuple[Code, ...] = ()
    relation: Relation | None = None
    factors: tuple[Factor, ...] = ()
    attention_checks: tuple[AttentionCheck, ...] = ()
    attention_limit: int = Field(default=1, ge=1)
    screening: tuple[Screening, ...] = ()
    quotas: tuple[Quota, ...] = ()
    comprehension: Comprehension | None = None
    confirm_platform_id: bool = False

    @model_validator(mode="after")
    def _fits_together(self) -> "Design":
        if faults := list(self._faults()):
            raise ValueError("; ".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        if self.items_each <= len(self.attention_checks):
            yield "attention checks stand between items, so items_each must be at least one more than they are"
        if self.attention_checks and self.attention_limit > len(self.attention_checks):
            yield f"attention_limit is more than the {len(self.attention_checks)} checks, so nobody could fail"
        grouped = [code for group in self.groups for code in group]
        if len(set(grouped)) < len(grouped) or not all(self.groups):
            yield "groups must not be empty, and no question may stand in two of them"
        if self.questions and self.groups and set(grouped) != set(self.questions):
            yield "groups must hold the same codes as questions"
        for code, n in self.asked_on.items():
            if not 1 <= n <= self.items_each:
                yield f"asked_on {code} must be 1 to {self.items_each}, the items of a person"
        names = [factor.name for factor in self.factors] + ([self.relation.name] if self.relation else [])
        if len({*names, *OWN_FACTORS}) < len(names) + len(OWN_FACTORS):
            yield f"factors and the relation need names of their own, other than {' and '.join(OWN_FACTORS)}"
        if len(set(self.balance)) < len(self.balance):
            yield "balance names something twice"
        if len(self.dealt_apart) > MOST_STRATA:
            yield f"there can be {MOST_STRATA} strata, the relation's attribute among them"

    @property
    def dealt_apart(self) -> tuple[str, ...]:
        """The attributes that make a stratum; that of the relation too, on which depends who can get what."""
        own = (self.relation.attribute,) if self.relation else ()
        return tuple(dict.fromkeys((*self.strata, *own)))

    @property
    def between(self) -> tuple[Factor, ...]:
        return tuple(factor for factor in self.factors if not factor.within)

    @property
    def within(self) -> tuple[Factor, ...]:
        return tuple(factor for factor in self.factors if factor.within)

    @property
    def balance_fields(self) -> tuple[str, ...]:
        """The fields of the items that `balance` names."""
        return tuple(name for name in self.balance if not self.relation or name != self.relation.name)

    def levels(self, codes: Mapping[str, str]) -> list[Level]:
        """The levels with these codes by factor; what is no factor of the design, as the relation, is left out."""
        return [level for factor in self.factors for level in factor.levels if codes.get(factor.name) == level.code]

    def fields_shown(self, levels: Sequence[Level]) -> tuple[ItemField, ...]:
        """The fields of the item that are the scenario: a level's own where it has some, else the template's."""
        return next((level.item_fields for level in levels if level.item_fields), self.item_template.item_fields)

    def pages(self, codes: Sequence[str]) -> list[list[str]]:
        """The codes of the questions on each page of an item; `codes` are all those asked, in their order.

        Raises DesignError when the groups leave out one of them or name another.
        """
        if not self.groups:
            return [list(codes)]
        grouped = {code for group in self.groups for code in group}
        faults = [f"{code} is not asked" for code in sorted(grouped - set(codes))]
        faults += [f"{code} is on no page" for code in codes if code not in grouped]
        if faults:
            raise DesignError(f"Design, at groups, the pages of an item: {', '.join(faults)}.")
        return [[code for code in codes if code in group] for group in self.groups]


class Texts(Frozen):
    title: str = Field(min_length=1)
    consent: str = Field(min_length=1)
    instructions: str = ""
    debrief: str = ""
    completed: str = ""
    no_consent: str = ""
    screened_out: str = ""
    quota_full: str = ""
    failed_comprehension: str = ""
    failed_attention: str = ""
    closed: str = ""


def parse_design(data: Any) -> Design:
    """The design from JSON-like data; raises DesignError with every fault and its place."""
    return _parse(Design, data, "Design")


def parse_texts(data: Any) -> Texts:
    """The texts from JSON-like data; raises DesignError with every fault and its place."""
    return _parse(Texts, data, "Texts")


def _parse(model: type[Model], data: Any, name: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        places = [(" > ".join(str(part) for part in fault["loc"]), fault["msg"]) for fault in error.errors()]
        raise DesignError(" ".join(f"{name}, at {place or 'top'}: {what}." for place, what in places)) from error
