"""How often judges choose what people chose."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd

from evaluation.figures import interval_dots
from evaluation.judging_report.judgments import ANSWERS, NOBODY, STRANGER, Judging, choices, in_both_orders
from evaluation.metrics.agreement import agreement_statistics
from evaluation.metrics.preference import right_in_both, swap_consistency, two_order_accuracy
from evaluation.metrics.ranking import repeated_runs
from evaluation.metrics.ratings import category_counts
from evaluation.metrics.resampling import bootstrap_interval, weighted_mean
from evaluation.metrics.result import Estimate, mean_of_defined
from evaluation.metrics.sum_statistics import with_intervals
from evaluation.sections.answerers import AskedModel, in_two_lines
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell, two_decimals

_JUDGE = Column("judge", "Judge", "name")
_PAIRS = Column("items", "Pairs", "count", "n")
_ACCURACY = Column("accuracy", "Accuracy in both orders", "estimate", "0 to 1")
OVERALL = (
    _JUDGE,
    Column("right", "Right is", "name"),
    _PAIRS,
    _ACCURACY,
    Column("right_in_both", "Right in both orders", "estimate", "0 to 1"),
    Column("consistency", "Same response in both", "estimate", "0 to 1"),
    Column("runs", "Mean of runs", "estimate", "0 to 1"),
)
BY_PERSON = (_JUDGE, Column("person", "Labels of", "name"), Column("asked", "Judged as", "name"), _PAIRS, _ACCURACY)
BY_TOPIC = (_JUDGE, Column("topic", "Topic", "name"), _PAIRS, _ACCURACY)
PEOPLE = "People with each other"
PARAGRAPHS = (
    "Accuracy is the share of right choices over both orders of each pair together: a judge that always takes the "
    "response in front has 0.5. It says how often a judge agrees with these people, not whether they are right.",
    "Brackets are 95 % bootstrap intervals over pairs ({resamples} resamples, seed {seed}); they say how much a number "
    "depends on which pairs were asked. For people stands how often two of them chose alike, which no judge of "
    "everybody can be expected to pass; it is no bound for a judge that knows whose judgment it gives.",
)
ONE_ORDER = Estimate.undefined("no pair was asked in both orders")
Cells = dict[str, Cell]
RUNS = "The mean of runs takes each sample as a run, with Student's t interval over runs."


def accuracy(judging: Judging) -> Section | None:
    """None when no pair has both a label of people and a judgment."""
    judged = [(judge, rows) for judge in judging.judges if len(rows := _chosen(judging, judge))]
    if not judged:
        return None
    several = any(rows["sample"].nunique() > 1 for _, rows in judged)
    overall = [_people(judging), *(_overall(judging, judge, rows) for judge, rows in judged)]
    columns = OVERALL if several else OVERALL[:-1]
    caption = "n counts the pairs behind the row; an interval's own n, in the download, counts choices."
    tables = [Table("accuracy", "Accuracy of judges", caption, columns, tuple(overall))]
    by_person = tuple(row for judge, _ in judged for row in _by_person(judging, judge))
    tables.append(Table("by_person", "Accuracy by person", "Against what each one chose.", BY_PERSON, by_person))
    if judging.items["topic"].nunique() > 1:
        by_topic = tuple(row for judge, rows in judged for row in _by_topic(judging, judge, rows))
        tables.append(Table("by_topic", "Accuracy by topic", "The mean weighs topics alike.", BY_TOPIC, by_topic))
    numbers = judging.parameters.model_dump(include={"resamples", "seed"})
    return Section(
        code="accuracy",
        title="How often judges are right",
        paragraphs=(*(text.format(**numbers) for text in PARAGRAPHS), *([RUNS] if several else [])),
        tables=tuple(tables),
        figures=(_figure(judging, overall),),
    )


def _chosen(judging: Judging, judge: AskedModel) -> pd.DataFrame:
    given = judge.of(judging.judgments)
    return choices(given, judging.right(given))


def _estimate(judging: Judging, rows: pd.DataFrame) -> Estimate:
    """Accuracy with its interval over pairs."""
    found, parameters = two_order_accuracy(rows), judging.parameters
    if not found.defined:
        return found
    right = rows["choice"] == rows["right_first"].map({1: "A", 0: "B"})
    statistic = weighted_mean(np.asarray(right, dtype=np.float64))
    interval = bootstrap_interval(statistic, rows["of"], n_resamples=parameters.resamples, seed=parameters.seed)
    return replace(found, low=interval.low, high=interval.high)


def _overall(judging: Judging, judge: AskedModel, rows: pd.DataFrame) -> Row:
    named = set(judge.of(judging.judgments)["person"]) - {STRANGER}
    right = {True: "Most people's choice", False: "Each person's choice"}[named == {NOBODY}]
    runs = repeated_runs([two_order_accuracy(run).value for _, run in rows.groupby("sample")])
    return Row(
        cells={
            "judge": judging.label(judge),
            "right": right if len(named) == 1 or NOBODY not in named else "Each person's or most people's choice",
            "items": rows["of"].nunique(),
            "accuracy": estimate_cell(_estimate(judging, rows)),
            "right_in_both": estimate_cell(right_in_both(rows) if in_both_orders(rows) else ONE_ORDER),
            "consistency": estimate_cell(swap_consistency(rows, invalid="left_out")),
            "runs": estimate_cell(runs.mean),
        },
        marks=(*judging.who.people_marks, judge.mark),
        n_people=judging.who.n_people,
    )


def _people(judging: Judging) -> Row:
    parameters, counts = judging.parameters, category_counts(judging.own_labels, ANSWERS)
    statistics = {"observed": agreement_statistics(counts)["observed_agreement"]}
    observed = with_intervals(statistics, seed=parameters.seed, n_resamples=parameters.resamples)["observed"]
    one_order = estimate_cell(Estimate.undefined("people see a pair in one order"))
    return Row(
        cells={
            "judge": PEOPLE,
            "right": "Another person's choice",
            "items": observed.n,
            "accuracy": estimate_cell(observed),
            "right_in_both": one_order,
            "consistency": one_order,
            "runs": estimate_cell(Estimate.undefined("people answer once")),
        },
        marks=judging.who.people_marks,
        n_people=judging.who.n_people,
    )


def _by_person(judging: Judging, judge: AskedModel) -> Iterator[Row]:
    given = judge.of(judging.judgments)
    for person in judging.own_labels.columns:
        for asked, words in ((person, person), (NOBODY, "Nobody in particular")):
            own = given[given["person"] == asked]
            rows = choices(own, judging.right_for(own, person))
            if len(rows):
                accuracy = estimate_cell(_estimate(judging, rows))
                who = {"judge": judging.label(judge), "person": person, "asked": words}
                cells: Cells = {**who, "items": rows["of"].nunique(), "accuracy": accuracy}
                yield Row(cells, marks=(*judging.marks_of(person), judge.mark), n_people=1)


def _by_topic(judging: Judging, judge: AskedModel, rows: pd.DataFrame) -> Iterator[Row]:
    topics = judging.items.set_index("item")["topic"]
    by_topic = {topic: rows[rows["of"].map(topics) == topic] for topic in dict.fromkeys(topics)}
    found = {topic: _estimate(judging, of_topic) for topic, of_topic in by_topic.items()}
    mean = mean_of_defined(list(found.values()), what="topics")
    for topic, n, estimate in [
        *((topic or "Not stated", by_topic[topic]["of"].nunique(), estimate) for topic, estimate in found.items()),
        ("Mean of topics", rows["of"].nunique(), mean),
    ]:
        who = {"judge": judging.label(judge), "topic": topic}
        cells: Cells = {**who, "items": n, "accuracy": estimate_cell(estimate)}
        yield Row(cells, marks=(*judging.who.people_marks, judge.mark), n_people=judging.who.n_people)


def _figure(judging: Judging, overall: list[Row]) -> Figure:
    dots = []
    for row in overall:
        cell = cast(dict[str, Any], row.cells["accuracy"])
        mark = judging.who.people_mark if row.cells["judge"] == PEOPLE else row.marks[-1]
        if cell["value"] is not None:
            who = {"who": in_two_lines(str(row.cells["judge"])), "question": "accuracy", "mark": mark}
            dots.append(
                {
                    **who,
                    "label": two_decimals(cell["value"]),
                    **cell,
                    "people": row.n_people,
                    **judging.who.marked(*row.marks),
                }
            )
    return Figure(
        code="accuracy",
        title="How often judges choose what people chose",
        caption="Right choices over both orders of each pair, with 95 % bootstrap interval over pairs; on top how "
        f"often two people chose alike. {judging.who.legend}",
        source=judging.source,
        spec=interval_dots(
            dots,
            who=[dot["who"] for dot in dots],
            x_title="Accuracy in both orders",
            domain=(0, 1),
            caution=judging.who.caution,
        ),
    )
