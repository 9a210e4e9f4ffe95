"""What a study is made of besides its instrument, and who gets which items: no database, no clock.

A study's `design` is JSON of this form (only `items_each`, `item_template` and `minutes` are needed):

    {
      "items_each": 7,                      items shown to each person
      "seed": 1,                            every draw of the study derives from it
      "balance_field": "relation",          content field to balance within each person
      "questions": ["personal", "norm"],    codes of the instrument to ask; all of them when left out
      "item_template": {"item_fields": ["situation", {"field": "cultural_expectation", "label": "Usual there"}]},
      "attention_check": {"question": {"kind": "choice", "code": "attention", ...}, "expected": "blue"},
      "minutes": 6,                         how long it takes, told before consent
      "contact": "the.team@example.org"     whom to ask, and who deletes on request
    }

`texts` holds `title` and, in Markdown, `consent`, `instructions`, `debrief`, and what is said at each end: `completed`,
`no_consent`, `failed_attention`, `closed` (each optional but `title` and `consent`).
"""

import random
from collections.abc import Hashable, Sequence
from math import gcd
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from materials.question_kinds import Code, Frozen, Question
from materials.questions import AnswerError, check_value


class DesignError(ValueError):
    """A design or a set of texts that cannot be used; the text says where and what to do."""


class ItemField(Frozen):
    """A field of the item's content, shown as a part of the scenario, with a heading where it needs one.

    The format "markdown" draws its texts as Markdown with LaTeX.
    """

    field: str = Field(min_length=1)
    label: str = ""
    format: Literal["text", "markdown"] = "text"


class ItemTemplate(Frozen):
    item_fields: tuple[ItemField, ...] = Field(min_length=1)

    @field_validator("item_fields", mode="before")
    @classmethod
    def _names_are_fields(cls, fields: Any) -> Any:
        return [{"field": entry} if isinstance(entry, str) else entry for entry in fields]


class AttentionCheck(Frozen):
    """An instructed item: the question itself says which answer to give."""

    question: Question
    expected: str | int

    @model_validator(mode="after")
    def _can_be_passed(self) -> "AttentionCheck":
        if self.question.kind not in ("choice", "scale", "text", "number") or not self.question.required:
            raise ValueError("an attention check is a required choice, scale, text or number question")
        try:
            check_value(self.question, self.expected)
        except AnswerError as error:
            raise ValueError(f"the expected answer is not allowed ({error})") from error
        return self

    def is_passed(self, value: Any) -> bool:
        """Whether a checked value is the expected one; letter case does not matter."""
        return str(value).strip().casefold() == str(self.expected).strip().casefold()


class Design(Frozen):
    items_each: int = Field(ge=1, le=1000)
    item_template: ItemTemplate
    minutes: int = Field(ge=1, le=600)
    seed: int = 0
    balance_field: str = ""
    questions: tuple[Code, ...] = ()
    attention_check: AttentionCheck | None = None
    contact: str = ""

    @model_validator(mode="after")
    def _has_a_place_for_the_check(self) -> "Design":
        if self.attention_check and self.items_each < 2:
            raise ValueError("an attention check stands between two items, so items_each must be at least 2")
        return self


class Texts(Frozen):
    title: str = Field(min_length=1)
    consent: str = Field(min_length=1)
    instructions: str = ""
    debrief: str = ""
    completed: str = ""
    no_consent: str = ""
    failed_attention: str = ""
    closed: str = ""


Model = TypeVar("Model", Design, Texts)


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


def assign_items(strata: Sequence[Hashable], *, items_each: int, number: int, seed: int) -> list[int]:
    """The items of the person with this number (1, 2, ...), as indices into `strata`, in the order to show them.

    `strata` gives for each item the level to balance within a person (one level for all: no balancing). No item comes
    twice to one person. Over the persons 1 to n, for every n, any two items are used equally often or once more. A
    person's share of each level is in proportion to the items of that level: with c_s items drawn of N_s, there is one
    L with |c_s - L * N_s| < 1 for every level s; so levels of equal size differ by at most one. Raises DesignError
    when there are fewer than `items_each` items.
    """
    n_items = len(strata)
    if not 1 <= items_each <= n_items:
        raise DesignError(f"There are {n_items} items, and each person needs {items_each}; add items or ask for fewer.")
    # A block is the shortest run of persons in which every item can be used equally often; each has its own deck.
    block, place = divmod(number - 1, n_items // gcd(n_items, items_each))
    deck = _interleave(strata, random.Random(f"{seed}/deck/{block}"))
    chosen = [deck[(place * items_each + step) % n_items] for step in range(items_each)]
    random.Random(f"{seed}/order/{number}").shuffle(chosen)
    return chosen


def _interleave(strata: Sequence[Hashable], rng: random.Random) -> list[int]:
    """All indices on a circle, each level at even distances from a random start, so that any arc holds its share."""
    by_level: dict[Hashable, list[int]] = {}
    for index, level in enumerate(strata):
        by_level.setdefault(level, []).append(index)
    spots: list[tuple[float, int]] = []
    for members in by_level.values():
        rng.shuffle(members)
        start = rng.random()
        spots += [((step + start) / len(members), index) for step, index in enumerate(members)]
    return [index for _, index in sorted(spots)]


def attention_place(*, items_each: int, number: int, seed: int) -> int:
    """How many items come before the attention check of the person with this number: 1 to items_each - 1."""
    return random.Random(f"{seed}/attention/{number}").randint(1, items_each - 1)
