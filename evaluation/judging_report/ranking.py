"""How the authors of the responses rank, by the people and by each judge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evaluation.figures import COOL_SHADES, WARM_SHADES, heat_map
from evaluation.judging_report.judgments import Judging, battles, battles_of_people
from evaluation.judging_report.set_ups import WITH
from evaluation.marks import Mark
from evaluation.metrics.ranking import (
    bradley_terry,
    mean_win_rates,
    pairwise_order_agreement,
    pooled_win_rates,
    rank_correlation,
    win_rates,
)
from evaluation.metrics.result import Estimate
from evaluation.sections.answerers import asked_models
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

AUTHORS = (
    Column("who", "Who", "name"),
    Column("author", "Author", "name"),
    Column("battles", "Battles", "count", "n"),
    Column("mean", "Mean win rate", "estimate", "0 to 1"),
    Column("pooled", "Share of battles won", "estimate", "0 to 1"),
    Column("strength", "Bradley-Terry", "estimate", "log-strength"),
)
ANCHORED = Column("anchored", "Against {anchor}", "estimate", "0 to 1")
AGREEMENT = (
    Column("who", "Who", "name"),
    Column("battles", "Battles", "count", "n"),
    Column("kendall", "Kendall’s τ", "estimate", "−1 to 1"),
    Column("spearman", "Spearman’s ρ", "estimate", "−1 to 1"),
    Column("order", "Pairs in the same order", "estimate", "0 to 1"),
)
PEOPLE, TOTAL = "People", "Mean"


@dataclass(frozen=True, slots=True)
class Fought:
    """Somebody's choices as battles between authors."""

    name: str
    code: str
    marks: tuple[Mark, ...]
    battles: pd.DataFrame
    anchor: str = ""  # who is in every battle

    @property
    def people(self) -> bool:
        return self.code == "people"


def ranking(judging: Judging) -> Section | None:
    """None when the items do not say who wrote the responses."""
    fought = [side for side in _sides(judging) if len(side.battles)]
    if not fought:
        return None
    authors, reference = _order(judging, fought), judging.parameters.reference
    by_people = not reference and fought[0].people
    compared = reference or (tuple(mean_win_rates(fought[0].battles).index) if by_people else ())
    anchor = judging.parameters.anchor
    columns = (*AUTHORS, replace(ANCHORED, label=f"Against {anchor}")) if anchor else AUTHORS
    ranked = tuple(row for side in fought for row in _authors(side, anchor))
    tables = [Table("ranking", "Authors", "Best first, by the mean win rate.", columns, ranked)]
    alone = [_with_anchor(side, anchor) for side in fought] if anchor else []
    sides = [side for side in (*fought, *alone) if compared and len(side.battles) and not (by_people and side.people)]
    if rows := [_agreement(side, [author for author in compared if author != side.anchor]) for side in sides]:
        against = "the people's mean win rates" if by_people else f"the reference: {', '.join(reference)}"
        caption = f"Against the ranking by {against}." if by_people else f"Against {against}."
        tables.append(Table("ranking_agreement", "Agreement of rankings", caption, AGREEMENT, tuple(rows)))
    return Section(
        code="ranking",
        title="How the authors rank",
        paragraphs=(
            "Each choice is a battle between the two authors of a pair; a tie is half a win for each. The mean win "
            "rate weighs opponents alike, however often they were met. A ranking by few pairs changes easily with "
            "others.",
            "Bradley-Terry log-strengths have mean 0; brackets are 95 % Wald intervals, which take battles as "
            "independent, although several are about one pair. There is no finite estimate unless each author won "
            "against each other one directly or by way of others; where that is so, it is undefined here.",
        ),
        tables=tuple(tables),
        figures=tuple(_figure(judging, side, authors) for side in fought),
    )


def _sides(judging: Judging) -> list[Fought]:
    people = battles_of_people(judging.chosen, judging.items)
    found = [Fought(PEOPLE, "people", judging.who.people_marks, people)]
    found += [
        Fought(
            judging.label(judge), f"judge_{number}", (judge.mark,), battles(judge.of(judging.judgments), judging.items)
        )
        for number, judge in enumerate(judging.judges, start=1)
    ]
    ranked = judging.personal[judging.personal["part"] == "ranked"].rename(columns={"pair": "item"}).assign(unit=0)
    return found + [
        Fought(f"{judging.label(judge)} ({WITH})", f"preferred_{number}", (judge.mark,), battles(own, _authors_of(own)))
        for number, judge in enumerate(asked_models(ranked), start=1)
        for own in [judge.of(ranked)]
    ]


def _authors_of(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[["item", "first_author", "second_author"]].drop_duplicates("item")


def _with_anchor(side: Fought, anchor: str) -> Fought:
    """The same with the battles against this author alone."""
    met = (side.battles["left"] == anchor) | (side.battles["right"] == anchor)
    return replace(side, name=f"{side.name}, against {anchor} alone", battles=side.battles[met], anchor=anchor)


def _order(judging: Judging, fought: Sequence[Fought]) -> list[str]:
    """The authors as the reference ranks them, those it lacks behind, by the mean win rates of who comes first."""
    ranked = dict.fromkeys(judging.parameters.reference)
    ranked |= dict.fromkeys(author for side in fought for author in mean_win_rates(side.battles).index)
    met = {author for side in fought for author in (*side.battles["left"], *side.battles["right"])}
    return [author for author in ranked if author in met]


def _authors(side: Fought, anchor: str) -> Iterator[Row]:
    """The authors as this side ranks them."""
    met_anchor = _with_anchor(side, anchor).battles
    anchored = win_rates(met_anchor)[anchor] if len(met_anchor) else pd.Series(dtype=float)
    means, pooled, strengths = mean_win_rates(side.battles), pooled_win_rates(side.battles), bradley_terry(side.battles)
    met = pd.concat([side.battles["left"], side.battles["right"]]).value_counts()
    for author in means.index:
        n = int(met[author])
        value, low, high = (float(strengths.table[name][author]) for name in ("strength", "low", "high"))
        yield Row(
            cells={
                "who": side.name,
                "author": author,
                "battles": n,
                "mean": estimate_cell(Estimate(means[author], n)),
                "pooled": estimate_cell(Estimate(pooled[author], n)),
                "strength": estimate_cell(Estimate(value, n, low, high, strengths.reason)),
                **({"anchored": estimate_cell(_against(anchored, met_anchor, author))} if anchor else {}),
            },
            marks=side.marks,
        )


def _against(rates: pd.Series, battles: pd.DataFrame, author: str) -> Estimate:
    n = int((battles[["left", "right"]] == author).any(axis=1).sum())
    never = Estimate.undefined("the two never met")
    return Estimate(float(rates[author]), n) if author in rates and not np.isnan(rates[author]) else never


def _agreement(side: Fought, reference: Sequence[str]) -> Row:
    ranked = list(reference)
    return Row(
        cells={
            "who": side.name,
            "battles": len(side.battles),
            "kendall": estimate_cell(rank_correlation(side.battles, reference=ranked, method="kendall")),
            "spearman": estimate_cell(rank_correlation(side.battles, reference=ranked, method="spearman")),
            "order": estimate_cell(pairwise_order_agreement(side.battles, reference=ranked)),
        },
        marks=side.marks,
    )


def _figure(judging: Judging, side: Fought, authors: Sequence[str]) -> Figure:
    rates, means = win_rates(side.battles), mean_win_rates(side.battles)
    met = side.battles.groupby(["left", "right"]).size()
    played = pd.concat([side.battles["left"], side.battles["right"]]).value_counts()
    marked = judging.who.marked(*side.marks)

    def cell(winner: str, loser: str) -> dict[str, Any]:
        n = int(met.get((winner, loser), 0) + met.get((loser, winner), 0))
        return _cell(winner, loser, float(rates[loser][winner]) if n else None, n) | marked

    present = [author for author in authors if author in means.index]
    cells = [cell(winner, loser) for winner in present for loser in present]
    cells += [_cell(author, TOTAL, float(means[author]), int(played[author])) | marked for author in present]
    who = "the people" if side.people else side.name
    return Figure(
        code=f"wins_{side.code}",
        title=f"How often authors win against each other: {who}",
        caption=f"Share of battles that the author of the row won against that of the column, a tie as half; the last "
        f"column is the mean over opponents. {judging.who.legend if side.people else ''}".strip(),
        source=judging.source,
        spec=heat_map(
            cells,
            across=[*present, TOTAL],
            down=present,
            titles=("Against", "Wins"),
            domain=(0, 1),
            colours=WARM_SHADES if side.people else COOL_SHADES,
            caution=judging.who.caution,
        ),
    )


def _cell(winner: str, against: str, value: float | None, n: int) -> dict[str, Any]:
    label = "" if value is None else two_decimals(value)
    return {"down": winner, "across": against, "value": value, "low": None, "high": None, "n": n, "label": label}
