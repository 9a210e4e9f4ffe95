"""How often people of each country choose culture, and how often models do in their place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaluation.figures import rate_bars
from evaluation.marks import Mark
from evaluation.metrics.rates import pooled_culture_rate
from evaluation.metrics.result import Estimate
from evaluation.sections.comparison import Comparison
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell

COLUMNS = (
    Column("question", "Question"),
    Column("country", "Country", "name"),
    Column("who", "Who", "name"),
    Column("answers", "Answers", "count", "n"),
    Column("items", "Items", "count", "n"),
    Column("rate", "Culture rate", "estimate", "0 to 1"),
)

PEOPLE = "People"


@dataclass(frozen=True, slots=True)
class Rate:
    question: str
    country: str
    who: str
    mark: Mark  # in the figure
    items: int
    estimate: Estimate  # n counts answers
    row_marks: tuple[Mark, ...]
    answers: dict[str, str]
    n_people: int | None  # None for a model


def by_country(comparison: Comparison) -> Section | None:
    """None when no person stated a country."""
    people = comparison.frames.people
    countries = sorted(set(people["country"]) - {""})
    if not countries:
        return None
    rates = [rate for question in comparison.questions for rate in _rates(comparison, question, countries)]
    return Section(
        code="by_country",
        title="Rates by country",
        paragraphs=(
            f"The culture rate is the share of answers that choose “{comparison.parameters.option}”. A model stands "
            "beside the people of the country whose persona it was given. Brackets are 95 % bootstrap intervals over "
            "items, which take the people as they are. Where all answers are the same, an interval has no width: it "
            "cannot say what other items would show.",
        ),
        tables=(
            Table(
                "by_country",
                "Culture rate by country",
                "People and the personas of the same country.",
                COLUMNS,
                tuple(_row(rate) for rate in rates),
            ),
        ),
        figures=tuple(_figure(comparison, question, rates) for question in comparison.questions),
    )


def _rates(comparison: Comparison, question: str, countries: Sequence[str]) -> list[Rate]:
    return [rate for country in countries for rate in _rates_of(comparison, question, country)]


def _rates_of(comparison: Comparison, question: str, country: str) -> Iterator[Rate]:
    def rate(who: str, mark: Mark, counts: pd.DataFrame, marks: tuple[Mark, ...], answers: dict[str, str]) -> Rate:
        parameters = comparison.parameters
        items = counts.groupby("item")[["n", "n_culture"]].sum()
        estimate = pooled_culture_rate(items, n_resamples=parameters.resamples, seed=parameters.seed)
        n_people = comparison.n_people([country]) if who == PEOPLE else None
        return Rate(question, country, who, mark, len(items), estimate, marks, answers, n_people)

    people, shown = comparison.people(question, [country]), comparison.answers_of_people(question, country)
    yield rate(PEOPLE, comparison.who.people_mark, people, comparison.who.people_marks, shown)
    for setting in comparison.settings:
        if setting.persona == "country" and setting.countries == (country,):
            model, shown = comparison.model(question, setting), comparison.answers_of_model(question, setting)
            yield rate(comparison.label(setting), setting.mark, model, (setting.mark,), shown)


def _row(rate: Rate) -> Row:
    return Row(
        cells={
            "question": rate.question,
            "country": rate.country,
            "who": rate.who,
            "answers": rate.estimate.n,
            "items": rate.items,
            "rate": estimate_cell(rate.estimate),
        },
        marks=rate.row_marks,
        answers=rate.answers,
        n_answers=rate.estimate.n,
        n_people=rate.n_people,
    )


def _figure(comparison: Comparison, question: str, rates: Sequence[Rate]) -> Figure:
    shown = [rate for rate in rates if rate.question == question and rate.estimate.defined]
    return Figure(
        code=f"by_country_{question}",
        title=f"Culture rate by country: {question}",
        caption=f"Share of answers that choose culture, with 95 % bootstrap interval over items; n counts answers. "
        f"{comparison.who.legend}",
        source=comparison.source,
        spec=rate_bars(
            [_bar(comparison, rate) | comparison.who.marked(*rate.row_marks) for rate in shown],
            countries=list(dict.fromkeys(rate.country for rate in shown)),
            who=list(dict.fromkeys(rate.who for rate in shown)),
            caution=comparison.who.caution,
        ),
    )


def _bar(comparison: Comparison, rate: Rate) -> dict[str, Any]:
    who = "Model" if comparison.one_model and rate.who != PEOPLE else rate.who
    label = f"{rate.estimate.value:.2f} (n = {rate.estimate.n}) {who}"
    return {
        "country": rate.country,
        "who": rate.who,
        "mark": rate.mark,
        "label": label,
        "people": rate.n_people,
        **estimate_cell(rate.estimate),
    }
