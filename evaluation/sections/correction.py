"""The people's rates over all items, from few labelled items and a model's answers to all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evaluation.figures import interval_dots
from evaluation.metrics.correction import PredictionPowered, prediction_powered_rate
from evaluation.metrics.result import Estimate
from evaluation.parameters import AlignmentParameters
from evaluation.sections.comparison import Comparison, Frames, Setting
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals
from evaluation.sections.what_was_compared import what_was_compared

COLUMNS = (
    Column("question", "Question", shown=False),
    Column("setting", "Answers as", "name"),
    Column("model", "Model", "name"),
    Column("against", "Rate of", "name"),
    Column("labelled", "Items with both", "count", "n"),
    Column("alone", "Items with the model alone", "count", "n"),
    Column("people", "People alone", "estimate", "0 to 1"),
    Column("model_alone", "Model alone", "estimate", "0 to 1"),
    Column("corrected", "Corrected", "estimate", "0 to 1"),
    Column("power", "Use of the model", "estimate", "0 to 1"),
    Column("worth", "Worth", "estimate", "labelled items"),
)
PARAGRAPHS = (
    "The corrected rate is the people's mean culture rate over all items that the model answered, although people "
    "answered only some of them: the model's mean over the others, moved by how far the model is from the people on "
    "the items that have both (prediction-powered inference, Angelopoulos and others 2023). Its 95 % interval is valid "
    "however wrong the model is; the model alone has an interval, too, which says nothing about how wrong it is.",
    "How much of the model is used is estimated: 0 is the plain mean of the people, as with a model that says the same "
    "of every item. “Worth” is how many items people would have to answer for an interval as short without the model.",
    "It cannot show anything about items unlike those that people answered: these have to be a random sample of all. "
    "Intervals are over items, which people answered is taken as it is, and what would be beyond 0 or 1, where no rate "
    "can be, is cut there.",
)


def correction_sections(
    data: Mapping[str, pd.DataFrame], parameters: AlignmentParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.frames`."""
    comparison = Comparison(Frames(**data), parameters)
    return [partial(section, comparison) for section in (what_was_compared, correction)]


@dataclass(frozen=True, slots=True)
class Result:
    question: str
    setting: Setting
    found: PredictionPowered


def correction(comparison: Comparison) -> Section | None:
    """A table and a figure for each question; None without models."""
    if not comparison.settings:
        return None
    results = [
        Result(question, setting, prediction_powered_rate(comparison.items(question, setting)))
        for question in comparison.questions
        for setting in comparison.settings
    ]
    by_question = [[r for r in results if r.question == question] for question in comparison.questions]
    return Section(
        code="correction",
        title="Rates of people over all items",
        paragraphs=PARAGRAPHS,
        tables=tuple(_table(comparison, found) for found in by_question),
        figures=tuple(figure for found in by_question if (figure := _figure(comparison, found))),
    )


def _table(comparison: Comparison, results: Sequence[Result]) -> Table:
    question, named = results[0].question, f" Model: {comparison.models_in_words}." if comparison.one_model else ""
    return Table(
        code=f"correction_{question}",
        title=f"Question “{question}”",
        caption=f"Mean culture rate of people on the question {question}, with 95 % intervals over items.{named}",
        columns=tuple(replace(c, shown=not comparison.one_model) if c.key == "model" else c for c in COLUMNS),
        rows=tuple(_row(comparison, result) for result in results),
    )


def _row(comparison: Comparison, result: Result) -> Row:
    found, setting = result.found, result.setting
    power = Estimate(found.power, found.corrected.n) if found.corrected.defined else found.corrected
    return Row(
        cells={
            "question": result.question,
            "setting": setting.name,
            "model": comparison.label(setting),
            "against": setting.against,
            "labelled": found.people.n,
            "alone": found.n_alone,
            "people": estimate_cell(_as_rate(found.people)),
            "model_alone": estimate_cell(_as_rate(found.model)),
            "corrected": estimate_cell(_as_rate(found.corrected)),
            "power": estimate_cell(power),
            "worth": estimate_cell(Estimate(found.worth, found.corrected.n)),
        },
        marks=(*comparison.who.people_marks, setting.mark),
        answers=comparison.answers_of_model(result.question, setting),
        n_answers=int(comparison.model(result.question, setting)["n"].sum()),
        n_people=comparison.n_people(setting.countries),
    )


def _figure(comparison: Comparison, results: Sequence[Result]) -> Figure | None:
    defined = [result for result in results if result.found.corrected.defined]
    if not defined:
        return None
    question = results[0].question
    return Figure(
        code=f"correction_{question}",
        title=f"Culture rate of people over all items: {question}",
        caption="Mean culture rate by the people's answers alone, by the model alone, and by the model corrected where "
        f"people answered, with 95 % intervals over items; n counts items. {comparison.who.legend}",
        source=comparison.source,
        spec=interval_dots(
            [dot for result in defined for dot in _dots(comparison, result)],
            who=list(dict.fromkeys(comparison.line(result.setting) for result in defined)),
            x_title="Culture rate",
            domain=(0, 1),
            caution=comparison.who.caution,
        ),
    )


def _dots(comparison: Comparison, result: Result) -> Iterator[dict[str, Any]]:
    setting, people = result.setting, comparison.who.people_mark
    for way in ("people", "model", "corrected"):
        estimate = _as_rate(getattr(result.found, way))
        yield {
            "who": comparison.line(setting),
            "question": way,
            "mark": people if way == "people" else setting.mark,
            "label": f"{way} {two_decimals(estimate.value)}",
            **estimate_cell(estimate),
            "people": comparison.n_people(setting.countries),
            **comparison.who.marked(*comparison.who.people_marks, setting.mark),
        }


def _as_rate(estimate: Estimate) -> Estimate:
    """The estimate and its interval cut to [0, 1], where the rate lies."""
    value, low, high = (float(np.clip(end, 0, 1)) for end in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high)
