"""What a report is asked to compare; stored with it, seed included, so that it can be computed again."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PersonKind = Literal["participant", "annotator"]
People = Literal["all", "real", "simulated"]
Sessions = Literal["completed", "passed", "all"]

# Columns as exports name them: a factor of the condition, an attribute of the respondent, a field of the items.
FactorColumn = Annotated[str, Field(pattern=r"^cond_.+$", max_length=200)]
AskedColumn = Annotated[str, Field(pattern=r"^(cond|attr)_.+$", max_length=200)]
ItemColumn = Annotated[str, Field(pattern=r"^item_.+$", max_length=200)]


class ReportError(ValueError):
    """A report that cannot be computed as asked; the text says why and what to do."""


class ReportParameters(BaseModel):
    """What every kind of report is asked: draws behind an interval, their seed, and the smallest n that strangers see.

    In a report that is shared, what rests on fewer than `min_n` people, items or answers is masked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    resamples: int = Field(default=2000, ge=100, le=20_000)
    seed: int = Field(default=1, ge=0, lt=2**63)
    min_n: int = Field(default=5, ge=1, le=1000)

    @classmethod
    def parse(cls, data: object) -> Self:
        """The parameters with their defaults; raises ReportError with the place of the first fault."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            place, fault = " > ".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, ")
            raise ReportError(f"Report parameters{f', at {place}' if place else ''}: {fault}.") from error


class ModelParameters(ReportParameters):
    """What kinds are asked that read answers of models. Without `models` all that answered take part."""

    dataset: str  # slug
    instrument: str  # name; answers to all its versions enter
    models: tuple[str, ...] = ()


class ComparedParameters(ModelParameters):
    """What kinds are asked that hold answers of people beside those of models.

    `people` has no default: nobody pools simulated with real people unaware. `sessions` leaves out participants who did
    not finish or failed the attention check, or with "passed" whom the quality filters of their study stop; annotators
    and imported people have no session and stay.
    """

    people: People
    kinds: tuple[PersonKind, ...] = Field(default=("participant",), min_length=1)
    sessions: Sessions = "completed"


class AlignmentParameters(ComparedParameters):
    """The parameters of an alignment report.

    `option` is the code that is counted as culture; every other option is the preference. Of the questions,
    `personal_question` and `norm_question` make the gap of the people. The factor `relation` says how an item stands to
    a person, as studies record it. A model's rate on an item is the share of its answers with the option, or with
    "probabilities" the mean probability that the tokens of its answers gave to it.
    """

    questions: tuple[str, ...] = Field(min_length=1)
    option: str = "culture"
    personal_question: str = "personal"
    norm_question: str = "norm"
    relation: FactorColumn = "cond_relation"
    model_rates: Literal["answers", "probabilities"] = "answers"
    splits: int = Field(default=200, ge=10, le=5000)
