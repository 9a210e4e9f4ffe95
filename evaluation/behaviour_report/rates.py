"""How often each model follows culture, overall and under each configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.behaviour_report.behaviour import Behaviour, Rate, words
from evaluation.behaviour_report.parameters import MODEL
from evaluation.figures import interval_dots
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

RATES = (
    Column("answers", "Answers", "count", "n"),
    Column("decisions", "Decisions", "count", "n"),
    Column("units", "Units", "count", "n"),
    Column("culture_rate", "Culture rate", "estimate", "0 to 1"),
    Column("allow_rate", "Allow rate", "estimate", "0 to 1"),
)
ASKED = (Column("question", "Question"), Column("model", "Model", "name"))
X_TITLE = "Allow rate"


def rates(behaviour: Behaviour) -> Section:
    """Model tendencies, and the profile of each model over the configurations where there are several."""
    tendencies = list(behaviour.rates("by_model", ["question", MODEL]))
    factors = behaviour.parameters.factor_names
    profiles = list(behaviour.rates("by_configuration", ["question", MODEL, *factors])) if factors else []
    tables, figures = [_tendency_table(behaviour, tendencies)], [_tendency_figure(behaviour, tendencies)]
    if profiles:
        tables.append(_profile_table(behaviour, profiles))
        figures += [_profile_figure(behaviour, profiles, question) for question in behaviour.questions]
    return Section(
        code="rates",
        title="How often models follow culture",
        paragraphs=(
            "The culture rate is the share of a model's decisions that follow the culture, the allow rate the share "
            "that allow the preference; together they are 1. A configuration is a combination of the factors' levels.",
            "The rates cannot show which of the two is right, nor what moves a model inside a configuration.",
        ),
        tables=tuple(tables),
        figures=tuple(figure for figure in figures if figure.spec["data"]["values"]),
    )


def rate_cells(rate: Rate) -> dict[str, Any]:
    """The cells of RATES."""
    return {
        "answers": rate.n_rows,
        "decisions": rate.culture.n,
        "units": rate.n_units,
        "culture_rate": estimate_cell(rate.culture),
        "allow_rate": estimate_cell(rate.allow),
    }


def rate_dot(behaviour: Behaviour, rate: Rate, *, who: str, question: str, label: str) -> dict[str, Any]:
    """The allow rate as a row of `interval_dots`."""
    mark = behaviour.mark(rate.levels[MODEL])
    words_beside = f"{label} {two_decimals(rate.allow.value)}".strip()
    dot = {"who": who, "question": question, "mark": mark, "label": words_beside, **estimate_cell(rate.allow)}
    return {**dot, "units": rate.n_units, **behaviour.who.marked(mark)}


def _tendency_table(behaviour: Behaviour, found: Sequence[Rate]) -> Table:
    rows = tuple(_row(behaviour, rate, {}) for rate in found)
    caption = f"All configurations together; units are {behaviour.unit}, which intervals draw."
    return Table("rates_by_model", "Rates by model", caption, (*ASKED, *RATES), rows)


def _profile_table(behaviour: Behaviour, found: Sequence[Rate]) -> Table:
    factors = behaviour.parameters.factor_names
    rows = tuple(_row(behaviour, rate, {name: rate.levels[name] for name in factors}) for rate in found)
    columns = (*ASKED, *(Column(name, words(name).capitalize(), "name") for name in factors), *RATES)
    caption = f"Each model under each configuration; units are {behaviour.unit}, which intervals draw."
    return Table("rates_by_configuration", "Rates by configuration", caption, columns, rows)


def _row(behaviour: Behaviour, rate: Rate, levels: Mapping[str, str]) -> Row:
    question, model = rate.levels["question"], rate.levels[MODEL]
    return Row(
        cells={
            "question": question,
            "model": model,
            **{name: level or "none" for name, level in levels.items()},
            **rate_cells(rate),
        },
        marks=(behaviour.mark(model),),
        answers=behaviour.answers(question, model, levels),
        n_answers=rate.n_rows,
    )


def _tendency_figure(behaviour: Behaviour, found: Sequence[Rate]) -> Figure:
    several = len(behaviour.questions) > 1
    dots = [
        rate_dot(
            behaviour,
            rate,
            who=rate.levels[MODEL],
            question=rate.levels["question"],
            label=rate.levels["question"] if several else "",
        )
        for rate in found
        if rate.culture.defined
    ]
    return Figure(
        code="tendencies",
        title=f"How often models allow the preference: {' and '.join(behaviour.questions)}",
        caption=f"Share of decisions that allow the preference, all configurations together, with 95 % bootstrap "
        f"interval over {behaviour.unit}. {behaviour.who.legend}".strip(),
        source=behaviour.source,
        spec=interval_dots(dots, who=behaviour.models, x_title=X_TITLE, domain=(0, 1), caution=behaviour.who.caution),
    )


def _profile_figure(behaviour: Behaviour, found: Sequence[Rate], question: str) -> Figure:
    factors = behaviour.parameters.factor_names
    dots = []
    for rate in found:
        if rate.levels["question"] == question and rate.culture.defined:
            name = ", ".join(rate.levels[factor] or "none" for factor in factors)
            dots.append(rate_dot(behaviour, rate, who=rate.levels[MODEL], question=name, label=name))
    return Figure(
        code=f"profiles_{question}",
        title=f"How often models allow the preference in each configuration: {question}",
        caption=f"Share of decisions that allow the preference, by {', '.join(map(words, factors))}, with 95 % "
        f"bootstrap interval over {behaviour.unit}. {behaviour.who.legend}".strip(),
        source=behaviour.source,
        spec=interval_dots(dots, who=behaviour.models, x_title=X_TITLE, domain=(0, 1), caution=behaviour.who.caution),
    )
