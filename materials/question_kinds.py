"""The kinds of questions: what an instrument says of each. Answers to them are checked in `materials.questions`."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
OptionCode = Annotated[str, Field(pattern=r"^[A-Za-z0-9_](?:[A-Za-z0-9_ .-]{0,58}[A-Za-z0-9_.])?$")]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Option(Frozen):
    """One answer to choose. Its text is fixed (`text`) or taken from a field of the item (`text_field`).

    One that stands `apart`, such as "I prefer not to say", stays at the end of every order and excludes all others.
    """

    code: OptionCode
    text: str = ""
    text_field: str = ""
    hotkey: str = Field(default="", max_length=1)
    help: str = ""
    apart: bool = False

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
    maximum: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _can_be_answered(self) -> "MultiQuestion":
        together = sum(not option.apart for option in self.options)
        if self.minimum > together:
            raise ValueError(f"the minimum is {self.minimum}, but {together} options can be chosen together")
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError("the maximum is below the minimum")
        return self


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
    """Any number; as a `slider` one between two ends, which may say what they mean."""

    kind: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    integer: bool = False
    slider: bool = False
    low_label: str = ""
    high_label: str = ""

    @model_validator(mode="after")
    def _can_be_answered(self) -> "NumberQuestion":
        if self.minimum is None or self.maximum is None:
            return self
        if self.maximum < self.minimum:
            raise ValueError("the maximum is below the minimum")
        if self.integer and math.ceil(self.minimum) > math.floor(self.maximum):
            raise ValueError("there is no whole number from the minimum to the maximum")
        return self

    @model_validator(mode="after")
    def _slider_has_ends(self) -> "NumberQuestion":
        if self.slider and not (self.minimum is not None and self.maximum is not None and self.minimum < self.maximum):
            raise ValueError("a slider needs a minimum and a maximum above it")
        if (self.low_label or self.high_label) and not self.slider:
            raise ValueError("only a slider has labels at its ends")
        return self


class RankQuestion(BaseQuestion):
    """All options in order, the best first, or only the best `top` of them. There are no ties."""

    kind: Literal["rank"] = "rank"
    options: tuple[Option, ...] = Field(min_length=2)
    top: int | None = Field(default=None, ge=1)
    randomise: bool = False
    order_group: str = ""

    @model_validator(mode="after")
    def _has_options_for_each_place(self) -> "RankQuestion":
        if self.places > len(self.options):
            raise ValueError(f"there are {len(self.options)} options for {self.places} places")
        return self

    @property
    def places(self) -> int:
        return self.top or len(self.options)


class BestWorstQuestion(BaseQuestion):
    """The best and the worst of the options."""

    kind: Literal["best_worst"] = "best_worst"
    options: tuple[Option, ...] = Field(min_length=2)
    randomise: bool = False
    order_group: str = ""


class Label(Frozen):
    """What a passage can be marked as."""

    code: OptionCode
    text: str = Field(min_length=1)
    hotkey: str = Field(default="", max_length=1)
    help: str = ""


class SpanQuestion(BaseQuestion):
    """Passages of the item's text in `field`, each with one of the labels; at most `most`."""

    kind: Literal["span"] = "span"
    field: str = Field(min_length=1)
    labels: tuple[Label, ...] = Field(min_length=1)
    overlap: bool = False
    most: int | None = Field(default=None, ge=1)

    @field_validator("labels")
    @classmethod
    def _labels_can_be_told_apart(cls, labels: tuple[Label, ...]) -> tuple[Label, ...]:
        names = [name for label in labels for name in {label.code.casefold(), label.text.casefold()}]
        if len(set(names)) < len(names):
            raise ValueError("two labels have the same code or text")
        return labels

    def text_of(self, content: Mapping[str, Any]) -> str:
        """The text to mark in an item with this content; empty where the field holds none."""
        text = content.get(self.field)
        return text if isinstance(text, str) else ""


Question = Annotated[
    ChoiceQuestion
    | MultiQuestion
    | ScaleQuestion
    | PairwiseQuestion
    | RankQuestion
    | BestWorstQuestion
    | SpanQuestion
    | TextQuestion
    | NumberQuestion,
    Field(discriminator="kind"),
]
