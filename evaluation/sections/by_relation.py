"""How much people agree on items of their own country, of one close by and of one far away."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evaluation.figures import interval_dots
from evaluation.metrics.agreement import agreement_statistics
from evaluation.metrics.consensus import modal_statistic, pooled_modal_statistic
from evaluation.metrics.result import Estimate
from evaluation.metrics.sum_statistics import with_intervals
from evaluation.sections.comparison import Comparison
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell, two_decimals

COLUMNS = (
    Column("question", "Question"),
    Column("relation", "Relation", "name"),
    Column("answers", "Answers", "count", "n"),
    Column("cells", "Cells", "count", "n"),
    Column("modal_share", "Agreement", "estimate", "0.5 to 1"),
    Column("modal_share_2", "Cells of two or more", "estimate", "0.5 to 1"),
    Column("pairwise", "Pairwise agreement", "estimate", "0 to 1"),
    Column("pooled", "Pooled modal share", "estimate", "0.5 to 1"),
)
ORDER = ("same", "close", "far")


def by_relation(comparison: Comparison) -> Section | None:
    """None where no answer of people says how the item stands to the person."""
    counted = comparison.frames.relations
    if counted.empty:
        return None
    relations = sorted(set(counted["relation"]), key=lambda name: (ORDER.index(name) if name in ORDER else 9, name))
    rows = [row for question in comparison.questions for row in _rows(comparison, question, relations)]
    parameters = comparison.parameters
    return Section(
        code="by_relation",
        title="Agreement by relation",
        paragraphs=(
            f"The relation ({parameters.relation}) says whether an item is set in the person's own country, in a close "
            "one or in a far one. A cell holds the answers that people of one country, age group and gender gave to "
            "one item; agreement is the mean over cells of the share of the more frequent answer.",
            "A cell of one person agrees with itself, and small cells agree too well: pairwise agreement, how often "
            "two people of a cell answer alike, does not depend on their size. The pooled share takes all answers as "
            "one cell and can order the relations otherwise. None of this says why people disagree.",
            f"Brackets are 95 % bootstrap intervals over items ({parameters.resamples} resamples, seed "
            f"{parameters.seed}).",
        ),
        tables=(
            Table("by_relation", "Agreement of people by relation", "People with a relation.", COLUMNS, tuple(rows)),
        ),
        figures=tuple(_figure(comparison, rows, relations)),
    )


def _rows(comparison: Comparison, question: str, relations: Sequence[str]) -> Iterator[Row]:
    counted = comparison.frames.relations
    for relation in relations:
        cells = counted[(counted["question"] == question) & (counted["relation"] == relation)]
        if len(cells):
            found: dict[str, Cell] = {"question": question, "relation": relation, "answers": int(cells["n"].sum())}
            found |= {"cells": len(cells)}
            found |= {name: estimate_cell(estimate) for name, estimate in _estimates(comparison, cells).items()}
            yield Row(found, marks=comparison.who.people_marks)


def _estimates(comparison: Comparison, cells: pd.DataFrame) -> dict[str, Estimate]:
    counts = np.column_stack([cells["n_culture"], cells["n"] - cells["n_culture"]])
    statistics = {
        "modal_share": modal_statistic(cells, min_n=1),
        "modal_share_2": modal_statistic(cells, min_n=2),
        "pairwise": agreement_statistics(counts)["observed_agreement"],
        "pooled": pooled_modal_statistic(cells),
    }
    parameters = comparison.parameters
    return with_intervals(statistics, clusters=cells["item"], n_resamples=parameters.resamples, seed=parameters.seed)


def _figure(comparison: Comparison, rows: Sequence[Row], relations: Sequence[str]) -> Iterator[Figure]:
    """How often two people agree; nothing where no cell has two."""
    dots = []
    for row in rows:
        cell = row.cells["pairwise"]
        if isinstance(cell, dict) and cell["value"] is not None:
            question, relation = str(row.cells["question"]), str(row.cells["relation"])
            who = {"who": relation, "question": question, "mark": comparison.who.people_mark}
            label = f"{question} {two_decimals(cell['value'])} (n = {cell['n']})"
            dots.append({**who, "label": label, **cell, **comparison.who.marked(*row.marks)})
    if dots:
        yield Figure(
            code="by_relation",
            title="How often two people agree, by relation of the item to them",
            caption="Share of pairs of people of one country, age group and gender who answered an item alike, with "
            f"95 % bootstrap interval over items; n counts cells with two people. {comparison.who.legend}",
            source=comparison.source,
            spec=interval_dots(
                dots,
                who=relations,
                x_title="Pairwise agreement",
                domain=(0, 1),
                caution=comparison.who.caution,
            ),
        )
