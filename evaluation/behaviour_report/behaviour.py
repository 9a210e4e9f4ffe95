"""The data of a behaviour report and what it was asked, with the words, marks and rates of all sections. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from evaluation.behaviour_report.cells import COUNTS
from evaluation.behaviour_report.parameters import MODEL, BehaviourParameters
from evaluation.marks import Mark
from evaluation.metrics.rates import pooled_culture_rate
from evaluation.metrics.result import Estimate
from evaluation.sections.answerers import Answerers

ALL_MODELS = "all models"


@dataclass(frozen=True, slots=True)
class Rate:
    """The answers at one combination of levels: `n_rows` in all, and the culture rate of the decisions among them.

    `n_units` units have a decision; they are what its interval draws.
    """

    levels: Mapping[str, str]
    n_rows: int
    n_units: int
    culture: Estimate

    @property
    def allow(self) -> Estimate:
        """The share of decisions that allow the preference."""
        return complement(self.culture)


@dataclass(frozen=True)
class Behaviour:
    """`data` has the frames of `evaluation.behaviour_report.frames.read_frames` by name.

    Frames of counts have the levels and `n_rows`, `n`, `n_culture`; those with `units` say of how many units these are.
    """

    data: Mapping[str, pd.DataFrame]
    parameters: BehaviourParameters

    @property
    def questions(self) -> tuple[str, ...]:
        return self.parameters.questions

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order that all tables and figures keep."""
        return tuple(sorted(set(self.data["by_model"][MODEL])))

    @cached_property
    def who(self) -> Answerers:
        """Marks, words and warnings of the models that answered; there are no people."""
        models = self.data["models"]
        answered = models[models["model"].isin(self.models)]
        return Answerers(pd.DataFrame({"persons": [], "simulated": []}), answered)

    def mark(self, model: str) -> Mark:
        return "demo-model" if model in self.who.demo_models else "model"

    def marks(self, models: Sequence[str]) -> tuple[Mark, ...]:
        """The marks of these models, each once."""
        return tuple(dict.fromkeys(self.mark(model) for model in models))

    @property
    def dataset(self) -> str:
        return str(self.data["asked"]["dataset"].iloc[0])

    @property
    def unit(self) -> str:
        """What an interval draws, in words."""
        return f"groups of items with the same {words(self.parameters.unit)}" if self.parameters.unit else "items"

    @property
    def source(self) -> str:
        """Whose answers the report shows, for figures that travel alone."""
        asked = self.data["asked"].iloc[0]
        models = f"Dataset {self.dataset}, instrument {asked['instrument']}. Models: {', '.join(self.models)}."
        return " ".join([models, *self.who.warnings])

    def rates(self, frame: str, by: Sequence[str]) -> Iterator[Rate]:
        """The rates of a frame with units by some of its columns, in order, with intervals over units."""
        for levels, rows in self._groups(frame, by):
            n_units = int(rows.loc[rows["n"] > 0, "units"].sum())
            culture = self._share(rows, of="n", counted=rows["n_culture"])
            yield Rate(levels, int((rows["n_rows"] * rows["units"]).sum()), n_units, culture)

    def unknown_rates(self) -> Iterator[tuple[dict[str, str], Estimate]]:
        """For each question and model the share of answers that are no decision."""
        for levels, rows in self._groups("by_model", ["question", MODEL]):
            yield levels, self._share(rows, of="n_rows", counted=rows["n_rows"] - rows["n"])

    def _groups(self, frame: str, by: Sequence[str]) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
        for levels, rows in self.data[frame].groupby(list(by), sort=True):
            yield dict(zip(by, map(str, levels), strict=True)), rows

    def _share(self, rows: pd.DataFrame, *, of: str, counted: "pd.Series[int]") -> Estimate:
        counts = pd.DataFrame({"n": rows[of], "n_culture": counted})
        units = counts.loc[counts.index.repeat(rows["units"])].reset_index(drop=True)
        return pooled_culture_rate(units, **self.drawn)

    @property
    def drawn(self) -> dict[str, int]:
        """How metrics with intervals over units are to draw them."""
        return {"n_resamples": self.parameters.resamples, "seed": self.parameters.seed}

    def counts(self, frame: str) -> pd.DataFrame:
        """The frame as a counts frame of `evaluation.metrics.behaviour`, whether it has units or not."""
        found = self.data[frame]
        if "units" not in found:
            return found
        totals = {name: found[name] * found["units"] for name in COUNTS}
        return found.assign(**totals).drop(columns="units")

    def answers(self, question: str, model: str, levels: Mapping[str, str] | None = None) -> dict[str, str]:
        """Parameters of the responses page that show a model's answers at these levels, and no others."""
        return {
            "dataset": self.parameters.dataset,
            "instrument_name": self.parameters.instrument,
            "question": question,
            "kind": "model",
            "attr_model": model,
            **(levels or {}),
        }


def words(column: str | None) -> str:
    """A column's name without what it is a column of, as a reader would say it.

    >>> words("item_actor_region")
    'actor region'
    """
    return (column or "").partition("_")[2].replace("_", " ")


def complement(rate: Estimate) -> Estimate:
    """The rate of the other decision.

    >>> complement(Estimate(0.25, 4, 0.125, 0.5))
    Estimate(value=0.75, n=4, low=0.5, high=0.875, reason='')
    """
    return Estimate(1 - rate.value, rate.n, 1 - rate.high, 1 - rate.low, rate.reason)


def percent_points(value: float) -> str:
    """
    >>> percent_points(-3.25)
    '−3.2 pp'
    """
    return f"{value:z.1f} pp".replace("-", "−")
