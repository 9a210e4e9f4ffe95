"""How much of the decisions each column explains: association one by one, and deviance with the others held."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from evaluation.behaviour_report.behaviour import Behaviour, words
from evaluation.metrics.association import chi_square, cramers_v, cramers_v_corrected
from evaluation.metrics.behaviour import decision_rates
from evaluation.metrics.deviance import DropOneDeviance, drop_one_deviance
from evaluation.metrics.result import Estimate
from evaluation.sections.shape import Cell, Column, Row, Section, Table, estimate_cell

ASSOCIATIONS = (
    Column("question", "Question"),
    Column("column", "Column", "name"),
    Column("levels", "Levels"),
    Column("decisions", "Decisions", "count", "n"),
    Column("v", "Cramér's V", "estimate", "0 to 1"),
    Column("v_corrected", "Corrected for bias", "estimate", "0 to 1"),
    Column("chi2", "Chi-square", "estimate"),
    Column("df", "df"),
    Column("p", "Chi-square test", "estimate", "p"),
    Column("log10_p", "Chi-square test", "estimate", "log10 p", shown=False),
)
DEVIANCE = (
    Column("question", "Question"),
    Column("term", "Left out", "name"),
    Column("drop", "Drop in deviance", "estimate"),
    Column("df", "df"),
    Column("p", "Likelihood ratio", "estimate", "p"),
    Column("q", "Benjamini–Hochberg", "estimate", "q"),
)
# Numbers in the design of a regression: 80 MB each time it is copied.
MOST_NUMBERS = 10_000_000


def associations(behaviour: Behaviour) -> Section | None:
    """Cramér's V of every column that was named with the decision; None when nothing has two levels."""
    rows = tuple(row for question in behaviour.questions for row in _associations(behaviour, question))
    if not rows:
        return None
    caption = "All models together; columns with one level only are left out."
    return Section(
        code="associations",
        title="What goes with the decision",
        paragraphs=(
            "Cramér's V says how strongly the decision goes with the level of a column: 0 not at all, 1 when the level "
            "gives it away. The corrected form takes out what small tables show by chance.",
            "Each column is looked at alone, so V cannot show an effect that another column hides or brings along.",
        ),
        tables=(Table("associations", "Association with the decision", caption, ASSOCIATIONS, rows),),
    )


def deviance(behaviour: Behaviour) -> Section | None:
    """Drop-one deviance for each question; None when no terms are named."""
    terms = behaviour.parameters.deviance
    if not terms:
        return None
    rows: list[Row] = []
    notes: list[str] = []
    for question in behaviour.questions:
        counts = behaviour.data["deviance"]
        own = counts[counts["question"] == question]
        if (
            size := len(own) * sum(own[name].nunique() for name in behaviour.parameters.deviance_columns)
        ) > MOST_NUMBERS:
            notes.append(
                f"{question}: not computed, because {len(own):,} combinations of levels make a design of {size:,} "
                "numbers; name fewer terms, or fields with fewer levels."
            )
            continue
        found = _fit(own, terms)
        rows += _deviance_rows(behaviour, question, found)
        notes.append(_fit_in_words(question, found))
    caption = "One logistic regression for each question, all models together; q is over its terms."
    return Section(
        code="deviance",
        title="What each factor explains beside the others",
        paragraphs=(
            "How much worse a logistic regression of following the culture fits without a term: the drop in deviance, "
            "tested against chi-square. A main effect is compared without the interactions that contain it (Type II).",
            "The test takes decisions to be independent, which those about variants of one item are not, and a drop "
            "cannot show in which direction a term works.",
            *notes,
        ),
        tables=(Table("deviance", "Drop-one deviance", caption, DEVIANCE, tuple(rows)),) if rows else (),
    )


def _associations(behaviour: Behaviour, question: str) -> Iterator[Row]:
    found = behaviour.data["associations"]
    for column in behaviour.parameters.explaining:
        own = found[(found["question"] == question) & (found["column"] == column)]
        table = decision_rates(own, by=["level"])[["n_culture", "n_preference"]].to_numpy()
        if len(table) < 2:
            continue
        test = chi_square(table)
        cells: dict[str, Cell] = {
            "question": question,
            "column": words(column),
            "levels": str(len(table)),
            "decisions": test.n,
            "v": estimate_cell(cramers_v(table)),
            "v_corrected": estimate_cell(cramers_v_corrected(table)),
            "chi2": estimate_cell(Estimate(test.chi2, test.n, reason=test.reason)),
            "df": "" if test.dof is None else str(test.dof),
            "p": estimate_cell(Estimate(test.p, test.n, reason=test.reason)),
            "log10_p": estimate_cell(Estimate(test.log10_p, test.n, reason=test.reason)),
        }
        yield Row(cells, behaviour.marks(behaviour.models))


def _fit(counts: pd.DataFrame, terms: tuple[str, ...]) -> DropOneDeviance:
    """The regression of the counted decisions: a row for those that follow and one for the others."""
    sides = [counts.assign(follow=1.0, times=counts["n_culture"])]
    sides += [counts.assign(follow=0.0, times=counts["n"] - counts["n_culture"])]
    unknown = counts.assign(follow=np.nan, times=counts["n_rows"] - counts["n"])
    return drop_one_deviance(
        pd.concat([*sides, unknown], ignore_index=True),
        outcome="follow",
        factors={term: [term] for term in terms},
        marginality="type_ii",
        times="times",
    )


def _deviance_rows(behaviour: Behaviour, question: str, found: DropOneDeviance) -> Iterator[Row]:
    for term, dropped in found.factors.items():
        numbers = {"drop": dropped.drop_in_deviance, "p": dropped.p, "q": dropped.q}
        cells: dict[str, Cell] = {
            "question": question,
            "term": " × ".join(map(words, term.split(":"))),
            "df": str(dropped.df),
            **{name: estimate_cell(Estimate(value, found.n, reason=dropped.reason)) for name, value in numbers.items()},
        }
        yield Row(cells, behaviour.marks(behaviour.models))


def _fit_in_words(question: str, found: DropOneDeviance) -> str:
    if found.reason:
        return f"{question}: {found.reason}."
    separated = (
        f" {found.n_separated:,} decisions are separated: some combination of levels has decisions of one kind only, "
        "so deviances hold there, but no coefficient does."
        if found.n_separated
        else " No decision is separated."
    )
    return (
        f"{question}: {found.n:,} decisions, {found.n_left_out:,} answers left out as none; deviance "
        f"{found.deviance:,.1f} with {found.df_model} degrees of freedom in {found.design_columns} columns.{separated}"
    )
