"""What was promised, what was measured, and whether the one keeps the other."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A figure with its bound; a figure that could not be measured is NaN and never holds."""

    name: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{self.name} {self.value:,.2f} (target {sign} {self.bound:g}): {word(self.holds)}"


@dataclass(frozen=True)
class Part:
    """What a part of the benchmark says, and what it holds against the targets."""

    line: str
    targets: tuple[Target, ...] = ()


def word(holds: bool) -> str:
    return "holds" if holds else "falls short"


def verdict(targets: Sequence[Target]) -> list[str]:
    """The lines to end with: what falls short, one a line, and last all figures with one word for all.

    Without any target nothing is claimed, and the list is empty.
    """
    if not targets:
        return []
    missed = [str(target) for target in targets if not target.holds]
    figures = ", ".join(f"{target.name} {target.value:,.2f}" for target in targets)
    return [*missed, f"{figures}: {word(not missed)}"]


def spread(small: float, large: float) -> float:
    """How many times as much the large one is; NaN when the small one is not positive."""
    return large / small if small > 0 else float("nan")
