"""What a report on judges is asked."""

from typing import Self

from pydantic import model_validator

from evaluation.parameters import AskedColumn, ComparedParameters, FactorColumn, ItemColumn, PersonKind


class JudgingParameters(ComparedParameters):
    """The parameters of a report on judges.

    `preferences` is the factor whose levels are preferences under which a judge votes. `person` is the factor, or the
    attribute of a persona, that names the person, by the key of the respondent or what stands behind the colon in it,
    whose own labels are then right; without it the people's majority is. `first_author` and `second_author` are the
    fields that say who wrote the two responses, `topic` the one with the topic; without them there is no ranking, and
    no accuracy by topic. `reference` ranks authors, the best first.
    """

    question: str
    kinds: tuple[PersonKind, ...] = ("annotator",)
    preferences: FactorColumn | None = None
    person: AskedColumn | None = None
    topic: ItemColumn | None = None
    first_author: ItemColumn | None = None
    second_author: ItemColumn | None = None
    reference: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_rank(self) -> Self:
        if (self.first_author is None) != (self.second_author is None):
            raise ValueError("a ranking needs the fields with both authors, of the first and of the second response")
        if len(set(self.reference)) < len(self.reference):
            raise ValueError("the reference ranking names an author twice")
        return self
