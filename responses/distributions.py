"""What everyone answered about one item, counted for its page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from materials.models import Instrument
from materials.questions import count_rows, counted
from responses.models import RespondentKind

Group = tuple[str, bool, bool]  # respondent kind, simulated, demo model


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    badges: list[str]
    n: int


@dataclass(frozen=True, slots=True)
class Cell:
    n: int
    percent: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """The answers to one question: a row for each option, a column for each group, shares of the column's n.

    An answer to a `multi` question counts once for each option it holds, so that shares can add up to more than 100;
    of a ranking the first place counts.
    """

    instrument: Instrument
    question: Any
    columns: list[Column]
    rows: list[tuple[str, list[Cell]]]


def distributions(
    counts: Iterable[Mapping[str, Any]], instruments: Mapping[int, Instrument], content: Mapping[str, Any]
) -> list[Distribution]:
    """In the instruments' order, from what responses.querysets.value_counts gives. Open questions get no rows."""
    answers: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    for count in counts:
        answers[count["instrument_id"], count["question"]].append(count)
    return [
        _distribution(instrument, question, answers[pk, question.code], content)
        for pk, instrument in sorted(instruments.items())
        for question in instrument.questionnaire.questions
        if (pk, question.code) in answers
    ]


def _distribution(
    instrument: Instrument, question: Any, entries: list[Mapping[str, Any]], content: Mapping[str, Any]
) -> Distribution:
    totals: dict[Group, int] = defaultdict(int)
    chosen: dict[tuple[str, Group], int] = defaultdict(int)
    for entry in entries:
        group = (entry["respondent__kind"], entry["respondent__simulated"], entry["respondent__demo_model"])
        totals[group] += entry["n"]
        for code in counted(question, entry["value"]):
            chosen[code, group] += entry["n"]
    groups = sorted(totals.items(), key=lambda group: (RespondentKind.values.index(group[0][0]), group[0]))
    rows = [
        (label, [Cell(chosen[code, group], 100 * chosen[code, group] / n) for group, n in groups])
        for code, label in count_rows(question, content)
    ]
    return Distribution(instrument, question, [_column(group, n) for group, n in groups], rows)


def _column(group: Group, n: int) -> Column:
    kind, simulated, demo_model = group
    badges = (["simulated"] if simulated else []) + (["demo-model"] if demo_model else [])
    return Column(f"{RespondentKind(kind).label}s", badges, n)
