"""What a report on judges is asked."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import model_validator

from evaluation.parameters import AskedColumn, ComparedParameters, FactorColumn, ItemColumn, PersonKind

Part = Literal["dev", "test", "crossed", "ranked"]


class JudgingParameters(ComparedParameters):
    """The parameters of a report on judges.

    `preferences` is the factor whose levels are preferences under which a judge votes. `person` is the factor, or the
    attribute of a persona, that names the person, by the key of the respondent or what stands behind the colon in it,
    whose own labels are then right; without it the people's majority is. `first_author` and `second_author` are the
    fields that say who wrote the two responses, `topic` the one with the topic; without them there is no ranking, and
    no accuracy by topic. `reference` ranks authors, the best first; with an `anchor` they are also ranked by battles
    with that author alone.

    `dev` and `test` are datasets of labelled pairs under preferences of the people who labelled them, one of each for
    every run: on dev pairs the preferences are selected that judge best together (with `difference_penalty` less the
    difference between both orders), on test pairs they are tried. `crossed` are test pairs under preferences of another
    topic, `ranked` pairs under preferences of several people, and `verdicts` those of judges that were asked elsewhere.
    """

    question: str
    kinds: tuple[PersonKind, ...] = ("annotator",)
    preferences: FactorColumn | None = None
    person: AskedColumn | None = None
    topic: ItemColumn | None = None
    first_author: ItemColumn | None = None
    second_author: ItemColumn | None = None
    reference: tuple[str, ...] = ()
    anchor: str = ""
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    difference_penalty: bool = False
    crossed: str = ""
    ranked: str = ""
    verdicts: str = ""

    @property
    def parts(self) -> Iterator[tuple[Part, int, str]]:
        """The datasets of pairs under preferences: what they are, the run, from 1, and the slug."""
        for run, (dev, test) in enumerate(zip(self.dev, self.test, strict=True), start=1):
            yield "dev", run, dev
            yield "test", run, test
        if self.crossed:
            yield "crossed", 1, self.crossed
        if self.ranked:
            yield "ranked", 1, self.ranked

    @model_validator(mode="after")
    def _can_rank(self) -> Self:
        if (self.first_author is None) != (self.second_author is None):
            raise ValueError("a ranking needs the fields with both authors, of the first and of the second response")
        if len(set(self.reference)) < len(self.reference):
            raise ValueError("the reference ranking names an author twice")
        if len(self.dev) != len(self.test):
            raise ValueError("dev and test pairs belong together: name as many datasets of the one as of the other")
        return self
