"""What a report on replacing annotators is asked."""

from pydantic import Field

from evaluation.parameters import ComparedParameters, PersonKind


class ReplacementParameters(ComparedParameters):
    """The parameters of a report on replacing annotators.

    `epsilon` is how much better than the model an annotator may be and still be replaced. Annotators with fewer than
    `min_items` items that others and the model labelled are left out.
    """

    question: str
    kinds: tuple[PersonKind, ...] = ("annotator",)
    epsilon: float = Field(default=0.1, ge=0, le=0.5)
    min_items: int = Field(default=30, ge=2, le=10_000)
