"""What people would do themselves against what they hold to be the norm, by country."""

import numpy as np
import pandas as pd

from evaluation.figures import interval_dots
from evaluation.metrics.gap import NormPersonalGap, norm_personal_gap
from evaluation.metrics.rates import pooled_culture_rate
from evaluation.metrics.result import Estimate
from evaluation.sections.comparison import Comparison
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

COLUMNS = (
    Column("country", "Country", "name"),
    Column("people", "People", "count", "n"),
    Column("pairs", "Pairs", "count", "n"),
    Column("personal", "Allow rate, personal", "estimate", "0 to 1"),
    Column("norm", "Allow rate, norm", "estimate", "0 to 1"),
    Column("gap", "Norm-personal gap", "estimate", "−1 to 1"),
    Column("mcnemar_p", "McNemar, exact", "estimate", "p", shown=False),
)


def human_gap(comparison: Comparison) -> Section | None:
    """None when the report does not ask both questions or nobody answered both about one item."""
    pairs, parameters = comparison.frames.pairs, comparison.parameters
    asked = {parameters.personal_question, parameters.norm_question} <= set(parameters.questions)
    if not asked or pairs.empty:
        return None
    countries = sorted(set(pairs["country"]))
    rows = [_row(comparison, country, pairs[pairs["country"] == country]) for country in countries]
    if len(countries) > 1:
        rows.append(_row(comparison, None, pairs))
    return Section(
        code="human_gap",
        title="What people do and what they expect",
        paragraphs=(
            f"Each pair is one person's answers to {parameters.personal_question} and {parameters.norm_question} about "
            f"one item. The allow rate is the share of answers that do not choose “{parameters.option}”; the gap is "
            "that of the personal question minus that of the norm question: positive when people allow more for "
            "themselves than they see as the norm.",
            "The answers of one person depend on each other, so all intervals take people as drawn, not answers: "
            f"those of the two rates are 95 % bootstrap intervals over people ({parameters.resamples} resamples, seed "
            f"{parameters.seed}), that of the gap is normal with a standard error clustered by person. McNemar's exact "
            "p-value, in the download, takes all pairs for independent and can be too small where people gave several.",
        ),
        tables=(
            Table("human_gap", "Norm-personal gap of the people", "People who answered both.", COLUMNS, tuple(rows)),
        ),
        figures=(_figure(comparison, rows),),
    )


def _row(comparison: Comparison, country: str | None, pairs: pd.DataFrame) -> Row:
    """The people of one country ("" where they stated none), or of all."""
    gap, parameters = _gap(pairs), comparison.parameters
    personal, norm = parameters.personal_question, parameters.norm_question
    return Row(
        cells={
            "country": "All" if country is None else country or "Not stated",
            "people": int(pairs["respondent"].nunique()),
            "pairs": gap.paired.n,
            "personal": estimate_cell(_allow_rate(comparison, pairs, "personal")),
            "norm": estimate_cell(_allow_rate(comparison, pairs, "norm")),
            "gap": estimate_cell(gap.paired),
            "mcnemar_p": estimate_cell(Estimate(gap.mcnemar_p, gap.paired.n)),
        },
        marks=comparison.who.people_marks,
        answers=comparison.answers_of_people(personal, country, also=norm),
        n_answers=gap.paired.n,
    )


def _figure(comparison: Comparison, rows: list[Row]) -> Figure:
    dots = []
    for row in rows:
        cell, country = row.cells["gap"], str(row.cells["country"])
        if isinstance(cell, dict) and cell["value"] is not None:
            who = {"who": country, "question": "gap", "mark": comparison.who.people_mark}
            people = {"people": row.cells["people"], "label": f"{two_decimals(cell['value'])} (n = {cell['n']})"}
            dots.append({**who, **people, **cell, **comparison.who.marked(*row.marks)})
    return Figure(
        code="human_gap",
        title="Norm-personal gap of the people by country",
        caption="Allow rate of the personal question minus that of the norm question, with 95 % interval clustered by "
        "person; n counts pairs. Right of zero people allow more for themselves than they see as the norm. "
        f"{comparison.who.legend}",
        source=comparison.source,
        spec=interval_dots(
            dots,
            who=[dot["who"] for dot in dots],
            x_title="Norm-personal gap (personal − norm)",
            domain=(-1, 1),
            caution=comparison.who.caution,
        ),
    )


def _allow_rate(comparison: Comparison, pairs: pd.DataFrame, question: str) -> Estimate:
    """The share of answers that do not choose culture, with its interval over people."""
    given = pd.DataFrame({"n": pairs["n"], "n_culture": pairs["n"] * pairs[question]})
    people, parameters = given.groupby(pairs["respondent"]).sum(), comparison.parameters
    culture = pooled_culture_rate(people, n_resamples=parameters.resamples, seed=parameters.seed)
    reason = "an interval needs two people" if culture.reason else ""
    return Estimate(1 - culture.value, culture.n, 1 - culture.high, 1 - culture.low, reason)


def _gap(pairs: pd.DataFrame) -> NormPersonalGap:
    """The counts spread out again; to allow the preference is not to choose culture."""
    personal, norm, respondents = (
        np.repeat(pairs[name].to_numpy(), pairs["n"]) for name in ("personal", "norm", "respondent")
    )
    return norm_personal_gap(1 - personal, 1 - norm, respondents=respondents)
