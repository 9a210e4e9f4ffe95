"""What a behaviour report is asked to compare; stored with it, seed included, so that it can be computed again.

Columns are named as exports name them: `cond_` and a factor of the condition, `attr_` and an attribute of the model's
respondent, `item_` and a field of the items.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evaluation.parameters import AskedColumn, ItemColumn, ModelParameters

MODEL = "attr_model"
ORDER = "cond_option_order"

AnyColumn = Annotated[str, Field(pattern=r"^(cond|attr|item)_.+$", max_length=200)]
Term = Annotated[str, Field(pattern=r"^(cond|attr|item)_[^:]+(:(cond|attr|item)_[^:]+)*$", max_length=400)]


class _Named(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Factor(_Named):
    """What the same items were asked under; `baseline` is the level that others are compared with, or the first."""

    name: AskedColumn
    baseline: str = ""


class Contrast(_Named):
    """Two levels of a column; the difference is that of `plus` minus that of `minus`."""

    name: AnyColumn
    plus: str
    minus: str


class Rule(_Named):
    """A kind of preference and the keywords in a text that make it one; of two that fit as well, the first counts."""

    name: str
    keywords: tuple[str, ...] = Field(min_length=1)


class BehaviourParameters(ModelParameters):
    """The parameters of a behaviour report.

    Of the options, `culture` is to follow the culture and `preference` to allow the preference; others are no decision.
    The `factors` together make a configuration. `base_instruct` are pairs of models. `maps` are one or two item fields
    each. `preferences` is the item field with the kind of preference, or with its text, of which `rules` make a
    kind. `deviance` are the terms of the regression, with interactions as `one:other`. `unit` is the item
    field that names what several items were made from; items with the same are drawn together for intervals.
    """

    questions: tuple[str, ...] = Field(min_length=1)
    culture: str = "culture"
    preference: str = "preference"
    factors: tuple[Factor, ...] = ()
    base_instruct: tuple[tuple[str, str], ...] = ()
    maps: tuple[tuple[ItemColumn] | tuple[ItemColumn, ItemColumn], ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    preferences: ItemColumn | None = None
    rules: tuple[Rule, ...] = ()
    deviance: tuple[Term, ...] = ()
    unit: ItemColumn | None = None

    @property
    def factor_names(self) -> tuple[str, ...]:
        return tuple(factor.name for factor in self.factors)

    @property
    def deviance_columns(self) -> tuple[str, ...]:
        """The columns of the terms, each once."""
        return tuple(dict.fromkeys(column for term in self.deviance for column in term.split(":")))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, each once; the model is always among them."""
        named = [MODEL, *self.factor_names, *(column for fields in self.maps for column in fields)]
        named += [contrast.name for contrast in self.contrasts]
        named += [column for column in (self.preferences, self.unit) if column]
        return tuple(dict.fromkeys([*named, *self.deviance_columns]))

    @property
    def explaining(self) -> tuple[str, ...]:
        """The columns whose association with the decision is measured, each once."""
        left_out = {self.unit} - {None}
        return tuple(column for column in self.columns if column not in left_out)
