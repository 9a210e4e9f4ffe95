"""The axes of a job's grid: what varies between its calls, and how to find the calls of one level by arithmetic.

A call's row holds the number of its cell; with each axis goes a stride, so that `cell / stride % size` is the level.
Nothing has to be stored or listed for a grid of any size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm.models import Job

PROMPT, ORDER, PERSONA = "prompt", "option_order", "persona"
NOUNS = {PROMPT: "prompts", ORDER: "option orders", PERSONA: "personas"}
NOBODY = "no persona"
LISTED = 8


@dataclass(frozen=True)
class Axis:
    """One factor of the grid with its levels in words. `name`: as in a condition; `title`: on a page."""

    name: str
    title: str
    stride: int
    levels: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.levels)

    def level(self, cell: int) -> int:
        """The level's position in the cell with this number."""
        return cell // self.stride % self.size

    def named(self, level: int) -> str:
        """The level in words that can stand beside those of other axes."""
        before = {PERSONA: "", PROMPT: "", ORDER: "options "}
        return before.get(self.name, f"{self.title} ") + self.levels[level]

    @property
    def words(self) -> str:
        """The first levels and how many more there are."""
        more = self.size - LISTED
        return "; ".join(self.levels[:LISTED]) + (f"; and {more:,} more" if more > 0 else "")


def axes_of(job: Job) -> list[Axis]:
    """All axes of the job's grid, in the order in which a reader thinks of them. Costs a query."""
    stride, found = 1, []
    parts: list[tuple[str, str, Sequence[str]]] = [
        (PERSONA, "Persona", [persona_words(persona) for persona in job.personas]),
        (ORDER, "Option order", order_words(job)),
        *[(f.name, f.name, [level.name for level in f.levels]) for f in reversed(job.grid.factors)],
        (PROMPT, "Prompt", [str(prompt) for prompt in job.prompt_list]),
    ]
    for name, title, levels in parts:
        found.append(Axis(name, title, stride, tuple(levels)))
        stride *= len(levels)
    persona, order, *factors, prompt = found
    return [prompt, *reversed(factors), order, persona]


def varying(axes: Sequence[Axis]) -> list[Axis]:
    """The axes that have something to choose."""
    return [axis for axis in axes if axis.size > 1]


def size_words(axes: Sequence[Axis]) -> str:
    """What multiplies to the number of conditions, "2 prompts × 3 levels of tone"; a factor stands there with one level
    too. Empty when there is one condition and no factor."""
    return " × ".join(_size(axis) for axis in axes if axis.size > 1 or axis.name not in NOUNS)


def cell_words(axes: Sequence[Axis], cell: int) -> str:
    """What is particular about the cell: its level on each axis that varies; empty when nothing does."""
    return ", ".join(axis.named(axis.level(cell)) for axis in varying(axes))


def condition_words(axes: Sequence[Axis], cell: int) -> str:
    """The same without the persona, which is who answers and no condition."""
    return cell_words([axis for axis in axes if axis.name != PERSONA], cell)


def persona_words(persona: Mapping[str, Any]) -> str:
    """A persona's attributes in one line."""
    return ", ".join(str(value) for value in persona.values()) or NOBODY


def order_words(job: Job) -> list[str]:
    if job.option_orders == Job.OptionOrders.BOTH and job.grid.orders > 1:
        return ["as written", "reversed"]
    if job.option_orders == Job.OptionOrders.ROTATED and job.grid.orders > 1:
        return [f"option {number + 1} first" for number in range(job.grid.orders)]
    return ["as written" if job.option_orders == Job.OptionOrders.WRITTEN else "drawn by the seed"]


def _size(axis: Axis) -> str:
    if axis.name == PERSONA and NOBODY in axis.levels:
        return f"({axis.size - 1:,} persona{'' if axis.size == 2 else 's'} + 1 without)"
    if axis.name in NOUNS:
        return f"{axis.size:,} {NOUNS[axis.name]}"
    return f"{axis.size:,} level{'' if axis.size == 1 else 's'} of {axis.name}"
