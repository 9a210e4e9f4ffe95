"""What judges choose, and whether the place of a response decides."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluation.judging_report.accuracy import ONE_ORDER
from evaluation.judging_report.figures import bars_from_half
from evaluation.judging_report.judgments import COUNTS, Judging, in_both_orders, positions
from evaluation.judging_report.personal import name_of
from evaluation.judging_report.set_ups import set_ups
from evaluation.marks import Mark
from evaluation.metrics.preference import first_position_rate, position_bias, swap_consistency
from evaluation.metrics.rates import choice_rate
from evaluation.metrics.result import Estimate
from evaluation.sections.answerers import in_two_lines
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

DECISIONS = (
    Column("who", "Who", "name"),
    Column("verdicts", "Verdicts", "count", "n"),
    Column("first", "First response", "estimate", "0 to 1"),
    Column("second", "Second response", "estimate", "0 to 1"),
    Column("tie", "Tie", "estimate", "0 to 1"),
    Column("unread", "Not readable", "estimate", "0 to 1"),
)
POSITIONS = (
    Column("who", "Who", "name"),
    Column("front", "In front", "count", "n"),
    Column("behind", "Behind", "count", "n"),
    Column("difference", "Difference", "count", "n"),
    Column("rate", "Share in front", "estimate", "0 to 1"),
    Column("binomial", "Binomial test", "estimate", "p"),
    Column("pairs", "Pairs in both orders", "count", "n"),
    Column("always_front", "Both times in front", "count", "n"),
    Column("always_behind", "Both times behind", "count", "n"),
    Column("mcnemar", "McNemar, exact", "estimate", "p"),
    Column("consistency", "Same response in both", "estimate", "0 to 1"),
    Column("consistency_all", "Same, unread as different", "estimate", "0 to 1", shown=False),
)
PEOPLE = "People"


@dataclass(frozen=True, slots=True)
class Chooser:
    """Somebody's verdicts as they were given, and their choices, where preferences have voted."""

    name: str
    mark: Mark  # in the figure
    marks: tuple[Mark, ...]
    counts: pd.Series  # verdicts n_first, n_second, n_tie, n_unread
    choices: pd.DataFrame


def position(judging: Judging) -> Section | None:
    """None when nobody chose anything."""
    choosers = [chooser for chooser in _choosers(judging) if len(chooser.choices)]
    if not choosers:
        return None
    return Section(
        code="position",
        title="What they choose, and whether the place decides",
        paragraphs=(
            "First and second response are the item's own, wherever they were shown. In front is the response that was "
            "shown first. Without position bias both places are chosen equally often over both orders; where a pair "
            "was asked in one order only, as of people, a good response may have stood in front by chance.",
            "The binomial test asks whether both places are equally likely, taking all choices as independent. "
            "McNemar's test uses only pairs for which the same place was chosen in both orders. Neither says why a "
            "place is chosen. Brackets are 95 % Wilson intervals over choices.",
        ),
        tables=(
            Table(
                "decisions", "Decisions", "Shares of all verdicts.", DECISIONS, tuple(_decisions(c) for c in choosers)
            ),
            Table(
                "positions",
                "Position bias",
                "Choices after preferences have voted, where they do; with preferences on test pairs.",
                POSITIONS,
                tuple(_positions(chooser) for chooser in choosers),
            ),
        ),
        figures=(_figure(judging, choosers),),
    )


def _choosers(judging: Judging) -> list[Chooser]:
    people = _as_judgments(judging.labels)
    found = [(PEOPLE, judging.who.people_mark, judging.who.people_marks, people)]
    found += [
        (judging.label(judge), judge.mark, (judge.mark,), judge.of(judging.judgments)) for judge in judging.judges
    ]
    choosers = [Chooser(name, mark, marks, rows[COUNTS].sum(), positions(rows)) for name, mark, marks, rows in found]
    choosers += [
        Chooser(name_of(judging, one), one.judge.mark, (one.judge.mark,), one.counts, one.choices)
        for one in set_ups(judging)
    ]
    return choosers


def _as_judgments(labels: pd.DataFrame) -> pd.DataFrame:
    """Each person's labels as judgments of one unit."""
    counts = {f"n_{value}": labels["n"].where(labels["value"] == value, 0) for value in ("first", "second", "tie")}
    return labels.assign(**counts, n_unread=0, unit=0, sample=0)


def _decisions(chooser: Chooser) -> Row:
    counts, n = chooser.counts, int(chooser.counts.sum())
    shares = {
        name: choice_rate(np.repeat([1.0, 0.0], [counts[f"n_{name}"], n - counts[f"n_{name}"]]))
        for name in ("first", "second", "tie", "unread")
    }
    return Row(
        {"who": chooser.name, "verdicts": n, **{name: estimate_cell(share) for name, share in shares.items()}},
        marks=chooser.marks,
    )


def _positions(chooser: Chooser) -> Row:
    rows, found = chooser.choices, position_bias(chooser.choices)
    return Row(
        cells={
            "who": chooser.name,
            "front": found.n_first,
            "behind": found.n_second,
            "difference": abs(found.n_first - found.n_second),
            "rate": estimate_cell(first_position_rate(rows)),
            "binomial": estimate_cell(_p(found.binomial_p, found.n_first + found.n_second, "nothing was chosen")),
            "pairs": found.n_pairs,
            "always_front": found.always_first,
            "always_behind": found.always_second,
            "mcnemar": estimate_cell(_p(found.mcnemar_p, found.n_pairs, "no pair has a choice in both orders")),
            "consistency": estimate_cell(swap_consistency(rows, invalid="left_out")),
            "consistency_all": estimate_cell(
                swap_consistency(rows, invalid="inconsistent") if in_both_orders(rows) else ONE_ORDER
            ),
        },
        marks=chooser.marks,
    )


def _p(p: float, n: int, why_not: str) -> Estimate:
    return Estimate(p, n) if n else Estimate.undefined(why_not)


def _figure(judging: Judging, choosers: list[Chooser]) -> Figure:
    bars = []
    for chooser in choosers:
        rate = first_position_rate(chooser.choices)
        if rate.defined:
            words = {"label": f"{two_decimals(rate.value)} (n = {rate.n})", **estimate_cell(rate)}
            bars.append(
                {"who": in_two_lines(chooser.name), "mark": chooser.mark, **words, **judging.who.marked(*chooser.marks)}
            )
    return Figure(
        code="positions",
        title="How often the response in front is chosen",
        caption="Share of choices for the response shown first, from 0.5, with 95 % Wilson interval; n counts choices. "
        f"Right of the line the place in front is preferred. {judging.who.legend}",
        source=judging.source,
        spec=bars_from_half(
            bars,
            who=[bar["who"] for bar in bars],
            x_title="Share of choices for the response in front",
            caution=judging.who.caution,
        ),
    )
