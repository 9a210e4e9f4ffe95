"""What a model is asked: each dyad under every preference configuration, demographic condition and prompt condition.

Configurations (PACT, section 3): in C1 the actor holds the preference and the receiver favours the norm; in C2 the two
are swapped; in C3 both hold the preference and the norm stays as context.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from protocols.pact.countries import Country
from protocols.pact.draws import draw_index
from protocols.pact.dyads import AGES, GENDERS, Dyad, count_dyads, dyad_at

Side = Literal["culture", "preference"]
OptionOrder = tuple[Side, Side]
ORDERS: tuple[OptionOrder, ...] = (("culture", "preference"), ("preference", "culture"))


@dataclass(frozen=True)
class Config:
    """Which side each of the two people is on, and the configuration's name in the authors' files."""

    actor: Side
    receiver: Side
    published_name: str


CONFIGS: Mapping[str, Config] = {
    "C1": Config(actor="preference", receiver="culture", published_name="actor_pref_only"),
    "C2": Config(actor="culture", receiver="preference", published_name="swapped"),
    "C3": Config(actor="preference", receiver="preference", published_name="both_prefs"),
}

# Which of a person's attributes the prompt names; countries are always named.
DEMOGRAPHIC_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "full_demo": ("age", "gender"),
    "age_only": ("age",),
    "gender_only": ("gender",),
    "no_demo": (),
}
PROMPT_CONDITIONS = ("no_balance", "balance")


def _check_levels(factor: str, chosen: Sequence[str], known: Iterable[str]) -> None:
    allowed = tuple(known)
    if not chosen or len(set(chosen)) != len(chosen) or not set(chosen) <= set(allowed):
        raise ValueError(
            f"{factor}: give one or more of {', '.join(allowed)}, each once, not {', '.join(chosen) or 'none'}."
        )


@dataclass(frozen=True)
class Grid:
    """The factors to cross, each a choice of the published levels."""

    configs: tuple[str, ...] = tuple(CONFIGS)
    demographic_conditions: tuple[str, ...] = tuple(DEMOGRAPHIC_CONDITIONS)
    prompt_conditions: tuple[str, ...] = PROMPT_CONDITIONS

    def __post_init__(self) -> None:
        _check_levels("configs", self.configs, CONFIGS)
        _check_levels("demographic_conditions", self.demographic_conditions, DEMOGRAPHIC_CONDITIONS)
        _check_levels("prompt_conditions", self.prompt_conditions, PROMPT_CONDITIONS)

    @property
    def cells(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(product(self.configs, self.demographic_conditions, self.prompt_conditions))


FULL_GRID = Grid()


@dataclass(frozen=True)
class PromptCase:
    """One question to a model. `option_order` is the order in which the two options are shown."""

    dyad: Dyad
    config: str
    demographic_condition: str
    prompt_condition: str
    option_order: OptionOrder

    @property
    def key(self) -> str:
        return _key(self.dyad, (self.config, self.demographic_condition, self.prompt_condition))


def count_cases(n_dyads: int, grid: Grid = FULL_GRID) -> int:
    """How many cases this many dyads give, without making them."""
    return n_dyads * len(grid.cells)


def expand_cases(dyads: Iterable[Dyad], *, seed: int, grid: Grid = FULL_GRID) -> Iterator[PromptCase]:
    """Every case, one at a time; all cases of a dyad follow each other."""
    for dyad in dyads:
        for cell in grid.cells:
            yield _case(dyad, cell, seed)


def sample_cases(
    scenarios: Sequence[Mapping[str, Any]], n: int, *, pool: Sequence[Country], seed: int, grid: Grid = FULL_GRID
) -> Iterator[PromptCase]:
    """n different cases, uniform over all cases of these scenarios, in the order of :func:`expand_cases`.

    Only the cases drawn are made. Raises ValueError when n is negative or more than there are.
    """
    total = count_cases(count_dyads(len(scenarios)), grid)
    if not 0 <= n <= total:
        raise ValueError(f"Cannot draw {n} cases: there are {total}; ask for 0 to {total}.")
    countries = tuple(pool)
    indices = sorted(random.Random(seed).sample(range(total), n))
    return (_case_at(scenarios, index, countries, seed, grid) for index in indices)


def personas(
    countries: Iterable[str], *, ages: Sequence[str] = AGES, genders: Sequence[str] = GENDERS
) -> list[dict[str, str]]:
    """One persona for each country, age group and gender, in the words of respondents' attributes."""
    return [
        {"country": country, "age_group": age, "gender": gender}
        for country, age, gender in product(countries, ages, genders)
    ]


def _case_at(
    scenarios: Sequence[Mapping[str, Any]], index: int, pool: tuple[Country, ...], seed: int, grid: Grid
) -> PromptCase:
    dyad_index, cell = divmod(index, len(grid.cells))
    return _case(dyad_at(scenarios, dyad_index, pool=pool, seed=seed), grid.cells[cell], seed)


def _case(dyad: Dyad, cell: tuple[str, str, str], seed: int) -> PromptCase:
    order = ORDERS[draw_index(len(ORDERS), seed=seed, key=f"order/{_key(dyad, cell)}")]
    return PromptCase(dyad, *cell, option_order=order)


def _key(dyad: Dyad, cell: tuple[str, str, str]) -> str:
    return "/".join((dyad.key, *cell))
