"""The one shape in which a metric answers."""

import math
from dataclasses import dataclass
from typing import Self

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, how many units it rests on, its interval, and what a reader must know about it.

    `n` counts the units that entered (items unless the metric says otherwise). `low` and `high` bound the interval and
    are NaN where none was computed or it is undefined. `reason` says why the value is undefined; for a defined value it
    says what was left out, and is empty when nothing was.

    >>> Estimate(0.5, n=4).defined
    True
    >>> Estimate.undefined("no item has two ratings").reason
    'no item has two ratings'
    """

    value: float
    n: int
    low: float = NAN
    high: float = NAN
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, *, n: int = 0) -> Self:
        """An estimate without a value; `n` units were there but do not determine it."""
        return cls(NAN, n, reason=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


def mean_of_defined(estimates: list[Estimate], *, what: str) -> Estimate:
    """Unweighted mean over the defined estimates; `n` counts them and `reason` says how many were left out.

    >>> mean_of_defined([Estimate(0.5, 3), Estimate.undefined("empty")], what="subgroups")
    Estimate(value=0.5, n=1, low=nan, high=nan, reason='1 of 2 subgroups left out: undefined')
    """
    values = [estimate.value for estimate in estimates if estimate.defined]
    if not values:
        return Estimate.undefined(f"none of {len(estimates)} {what} has a value")
    left_out = len(estimates) - len(values)
    reason = f"{left_out} of {len(estimates)} {what} left out: undefined" if left_out else ""
    return Estimate(math.fsum(values) / len(values), len(values), reason=reason)
