"""What a report on reactions is asked."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from evaluation.parameters import ComparedParameters, FactorColumn, ItemColumn, PersonKind

Attitude = Annotated[float, Field(ge=-1, le=1)]
ATTITUDES = {"negative": -1.0, "neutral": 0.0, "mixed": 0.0, "positive": 1.0}


class ReactionsParameters(ComparedParameters):
    """The parameters of a report on reactions.

    Answers of people are observed reactions, those of models simulated ones. `tone` is the question with the tones,
    `attitude` the one with the attitude, which may be the same: `attitudes` says where between -1 (negative) and 1
    (positive) an option stands; points of a scale stand there themselves. `post` and `community` are the items' fields
    that name what is reacted to and where, without `post` every item is one; `topic` and `place` say what a community
    is about and where it is. Of the factor `condition`, the levels `blind` and `informed` are compared, with so many
    `swaps` of a permutation test. The human ceiling is a mean over so many `splits` of people's reactions.

    `keyphrases` is the dataset of the keyphrases by which posts were chosen: `salience`, `frequency`, `sparsity`, and
    whether each was `chosen`.
    """

    tone: str
    attitude: str
    kinds: tuple[PersonKind, ...] = ("annotator",)
    attitudes: dict[str, Attitude] = Field(default=ATTITUDES, min_length=1)
    post: ItemColumn | None = None
    community: ItemColumn | None = None
    topic: ItemColumn | None = None
    place: ItemColumn | None = None
    keyphrases: str = ""  # slug
    condition: FactorColumn = "cond_setting"
    blind: str = "blind"
    informed: str = "informed"
    swaps: int = Field(default=10_000, ge=100, le=100_000)
    splits: int = Field(default=50, ge=10, le=1000)

    @model_validator(mode="after")
    def _compares_two(self) -> Self:
        if self.blind == self.informed:
            raise ValueError("blind and informed must be two levels of the condition")
        return self

    @property
    def joint(self) -> bool:
        """Whether communities can be counted by topic and place."""
        return bool(self.community and self.topic and self.place)

    @property
    def questions(self) -> tuple[str, ...]:
        """Tone and attitude, once where they are the same."""
        return tuple(dict.fromkeys((self.tone, self.attitude)))
