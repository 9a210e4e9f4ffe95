"""What a plan of a study is asked."""

from pydantic import Field

from evaluation.parameters import AlignmentParameters


class PlanningParameters(AlignmentParameters):
    """The parameters of a plan, whose pilot is chosen as in an alignment report.

    `items_each`: about how many items a participant answers the questions; `calls_each`: how often a model is called
    for an item. `width`: of the interval of the signed culture gap that is wanted. `effect`: the gap that is to be
    found, with a power of 0.8.
    """

    items_each: int = Field(default=7, ge=1, le=500)
    calls_each: int = Field(default=1, ge=1, le=100)
    width: float = Field(default=0.1, gt=0, le=2)
    effect: float = Field(default=0.1, gt=0, le=1)
    simulations: int = Field(default=500, ge=100, le=5000)
