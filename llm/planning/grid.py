"""The conditions under which a job asks about each item: prompts x factors x option orders x personas.

Pure code. Nothing is expanded: a cell is made from its number, so that a grid of any size costs nothing.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

MAX_LEVELS = 1000
NAME_CHARACTERS = 60
RESERVED = frozenset({"prompt", "option_order", "temperature", "top_p", "seed", "answer_mode"})


class GridError(ValueError):
    """Factors that make no grid; the text says which and what to do."""


@dataclass(frozen=True)
class Level:
    """One value of a factor: its name stands in the condition, its value is what a template sees."""

    name: str
    value: Any


@dataclass(frozen=True)
class Factor:
    """A named set of levels. Raises GridError when a name is missing, taken or used twice."""

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or len(self.name) > NAME_CHARACTERS:
            raise GridError(f"The factor {self.name!r} needs a name of letters, digits and underscores.")
        if self.name in RESERVED:
            raise GridError(f"The factor {self.name} has a name that Concord uses itself; choose another one.")
        names = [level.name for level in self.levels]
        if not names or len(names) > MAX_LEVELS:
            raise GridError(f"The factor {self.name} has {len(names):,} levels; give 1 to {MAX_LEVELS:,}.")
        for name in names:
            if not name.strip() or len(name) > NAME_CHARACTERS:
                raise GridError(f"{self.name}: a level's name has 1 to {NAME_CHARACTERS} characters, not {name!r}.")
        if len(set(names)) != len(names):
            raise GridError(f"The factor {self.name} has a level twice; name each once.")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """From `{"name": ..., "levels": ["a", {"name": "b", "value": ...}]}`; a bare level is its own value."""
        try:
            levels = [
                Level(str(level["name"]), level.get("value", level["name"]))
                if isinstance(level, Mapping)
                else Level(str(level), level)
                for level in data["levels"]
            ]
            return cls(str(data["name"]), tuple(levels))
        except (KeyError, TypeError, AttributeError) as error:
            raise GridError('A factor is {"name": ..., "levels": [...]}; a level is a text or has a name.') from error

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "levels": [{"name": level.name, "value": level.value} for level in self.levels]}


@dataclass(frozen=True)
class Cell:
    """One combination: positions of the prompt and of the option order, the persona, and the factors' levels."""

    number: int
    prompt: int
    order: int
    persona: Mapping[str, Any]
    levels: tuple[tuple[str, Level], ...]

    @property
    def names(self) -> dict[str, str]:
        """The level's name by factor, as the condition records it."""
        return {factor: level.name for factor, level in self.levels}

    @property
    def values(self) -> dict[str, Any]:
        """The level's value by factor, as a template sees it."""
        return {factor: level.value for factor, level in self.levels}


@dataclass(frozen=True)
class Grid:
    """All combinations of the given numbers of prompts and option orders with personas and factors.

    `per_item`: how many cells each item is asked under, or None for all. Which ones is drawn by `seed` in blocks of as
    many items as there are cells: within each block every cell is used equally often, and never twice for one item (an
    incomplete block design).

    >>> factor = Factor.from_json({"name": "c", "levels": ["x", "y"]})
    >>> grid = Grid(prompts=1, personas=[{}], factors=(factor,), orders=2)
    >>> len(grid), grid[3].names, grid[3].order
    (4, {'c': 'y'}, 1)
    """

    prompts: int
    personas: Sequence[Mapping[str, Any]]
    factors: tuple[Factor, ...] = ()
    orders: int = 1
    per_item: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.prompts < 1 or self.orders < 1 or not self.personas:
            raise GridError("A grid needs at least one prompt, one option order and one persona ({} for none).")
        names = [factor.name for factor in self.factors]
        if len(set(names)) != len(names):
            raise GridError("A factor is named twice; name each once.")
        if self.per_item is not None and not 1 <= self.per_item <= len(self):
            raise GridError(f"There are {len(self):,} conditions; ask each item under 1 to {len(self):,} of them.")

    def __len__(self) -> int:
        size = self.prompts * self.orders * len(self.personas)
        for factor in self.factors:
            size *= len(factor.levels)
        return size

    def __getitem__(self, number: int) -> Cell:
        """The cell with this number: personas change fastest, then option orders, the last factor, ..., prompts."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        rest, persona = divmod(number, len(self.personas))
        rest, order = divmod(rest, self.orders)
        levels: list[tuple[str, Level]] = []
        for factor in reversed(self.factors):
            rest, position = divmod(rest, len(factor.levels))
            levels.append((factor.name, factor.levels[position]))
        return Cell(number, rest, order, self.personas[persona], tuple(reversed(levels)))

    @property
    def cells_per_item(self) -> int:
        return len(self) if self.per_item is None else self.per_item

    def of_item(self, rank: int) -> Sequence[int]:
        """Numbers of the cells under which the item is asked that is the job's number `rank` (from 0)."""
        size = len(self)
        if self.per_item is None or self.per_item == size:
            return range(size)
        block, place = divmod(rank, size)
        cells, starts = _block(self.seed, block, size)
        return sorted(cells[(starts[place] + step) % size] for step in range(self.per_item))

    def spread(self, items: int, n: int) -> Iterator[tuple[int, int]]:
        """`n` different (rank, cell) pairs of a job with so many items, spread over items and cells alike: a pilot."""
        n = min(n, items * self.cells_per_item)
        rng = random.Random(f"{self.seed}/pilot")
        starts = rng.sample(range(self.cells_per_item), self.cells_per_item) if self.cells_per_item < 10_000 else [0]
        taken: set[tuple[int, int]] = set()
        for number in range(n):
            rank = number * items // n if n <= items else number % items
            cells = self.of_item(rank)
            step = starts[number % len(starts)]
            while (rank, cells[step % len(cells)]) in taken:
                step += 1
            taken.add((rank, cells[step % len(cells)]))
            yield rank, cells[step % len(cells)]


@lru_cache(maxsize=4)
def _block(seed: int, block: int, size: int) -> tuple[list[int], list[int]]:
    """An order of the cells, and for each item of the block where in it the item starts."""
    rng = random.Random(f"{seed}/block {block}")
    return rng.sample(range(size), size), rng.sample(range(size), size)
