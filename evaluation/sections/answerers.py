"""Whose answers a report shows: marks of people and models, words for them, and what to read before any number."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np
import pandas as pd

from evaluation.marks import Mark


class Asked(Protocol):
    """A model as it was asked: at an endpoint, with a prompt and a temperature."""

    @property
    def model(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def temperature(self) -> str: ...


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model as it was asked, by which answers are told apart; `demo_model` marks the embedded one."""

    model: str
    endpoint: str
    prompt: str
    temperature: str
    demo_model: bool

    @property
    def mark(self) -> Mark:
        return "demo-model" if self.demo_model else "model"

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows of this model in a frame with these columns."""
        return rows[np.logical_and.reduce([rows[name] == getattr(self, name) for name in _ASKED])]


_ASKED = [field.name for field in fields(AskedModel)]


def asked_models(rows: pd.DataFrame) -> tuple[AskedModel, ...]:
    """The models of a frame with the columns of an AskedModel, in the order of all tables and figures."""
    found = rows[_ASKED].drop_duplicates().sort_values(_ASKED)
    return tuple(AskedModel(*row) for row in found.itertuples(index=False, name=None))


def label_among(asked: Asked, all_asked: Iterable[Asked]) -> str:
    """The model's name, with endpoint, prompt and temperature where the name alone is ambiguous among all of them."""
    others = [other for other in all_asked if other.model == asked.model]
    parts = [asked.model]
    if len({other.endpoint for other in others}) > 1:
        parts.append(f"at {asked.endpoint}")
    if len({other.prompt for other in others}) > 1:
        parts.append(f"({asked.prompt or 'prompt not recorded'})")
    if len({other.temperature for other in others}) > 1:
        parts.append(f"at temperature {asked.temperature or 'not recorded'}")
    return " ".join(parts)


def in_two_lines(label: str) -> str:
    """A label for the axis of a figure, which breaks it where it has a middle dot.

    >>> in_two_lines("tiny (judge v1)"), in_two_lines("tiny")
    ('tiny · (judge v1)', 'tiny')
    """
    return label.replace(" (", " · (", 1)


@dataclass(frozen=True)
class Answerers:
    """`persons` has for each group of people how many they are and whether `simulated`; `models` for each group of
    answers the `model` and whether it is a `demo_model`.
    """

    persons: pd.DataFrame
    models: pd.DataFrame

    @cached_property
    def people_marks(self) -> tuple[Mark, ...]:
        """Whether the people are real, simulated or both."""
        simulated = self.persons["simulated"].astype(bool)
        real: tuple[Mark, ...] = () if simulated.all() else ("human",)
        return (*real, "simulated") if simulated.any() else real

    @property
    def n_people(self) -> int:
        """How many people are in the report."""
        return int(self.persons["persons"].sum())

    @property
    def people_mark(self) -> Mark:
        """The mark of the people in figures: simulated as soon as some of them are."""
        return "simulated" if "simulated" in self.people_marks else "human"

    @cached_property
    def demo_models(self) -> tuple[str, ...]:
        """The names of the demo models, in order."""
        return tuple(sorted(set(self.models.loc[self.models["demo_model"].astype(bool), "model"])))

    @property
    def legend(self) -> str:
        """What outlined marks mean in this report, as a sentence; empty when no mark is outlined."""
        outlined = [
            *(["simulated people (warm)"] if "simulated" in self.people_marks else []),
            *(["demo models (cool)"] if self.demo_models else []),
        ]
        return f"Outlined marks: {', '.join(outlined)}." if outlined else ""

    @property
    def caution(self) -> str:
        """The words that a figure itself carries about simulated people and demo models; empty when there are none."""
        people = {("simulated",): "Simulated people", ("human", "simulated"): "People partly simulated"}
        demo = "demo model" if self.demo_models else ""
        words = ", ".join(part for part in (people.get(self.people_marks, ""), demo) if part)
        return words[:1].upper() + words[1:]

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What must be read before any number: sentences about simulated people and demo models."""
        counts = self.persons.groupby("simulated")["persons"].sum()
        simulated, real = int(counts.get(True, 0)), int(counts.get(False, 0))
        said = []
        if simulated and not real:
            said.append(
                f"The people in this report are simulated: bots gave all answers of its {simulated} people, so its "
                "numbers say nothing about real people."
            )
        elif simulated:
            said.append(
                f"This report pools {real} real with {simulated} simulated people: bots gave the answers of the "
                "simulated ones, so its numbers are not those of the real people alone."
            )
        if self.demo_models:
            several = len(self.demo_models) > 1
            said.append(
                f"{' and '.join(self.demo_models)} {'are demo models' if several else 'is a demo model'}: tiny, and at "
                "chance as a judge. The numbers show that the path works, not how well language models align."
            )
        return tuple(said)

    def marked(self, *marks: Mark) -> dict[str, bool]:
        """The columns of a figure's row that say whose answers are in it."""
        return {"simulated": "simulated" in marks, "demo_model": "demo-model" in marks}
