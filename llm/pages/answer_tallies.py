"""What a job's answers look like so far: shares of the options, and whether an option's place decides. Pure code."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from materials.questions import FIRST, SECOND, TIE, option_codes
from responses.intervals import Share, wilson_share

CLOSED = ("choice", "multi", "pairwise", "scale")
ONE_OF_SEVERAL = ("choice", "pairwise")


class Tally(NamedTuple):
    """`n` answers chose `value` when the options stood in this order (empty: as written)."""

    question: str
    order: tuple[str, ...]
    value: str
    n: int


@dataclass(frozen=True)
class OptionShare:
    """One option's share of the answers; in a question with several answers the shares add up to more than 1."""

    code: str
    text: str
    count: int
    share: Share
    probability: float  # mean of what the model's tokens gave it; NaN without any


@dataclass(frozen=True)
class Labels:
    """The options of one question, in its own order. `n`: answers; `n_probabilities`: those with probabilities."""

    code: str
    text: str
    n: int
    options: list[OptionShare]
    n_probabilities: int


@dataclass(frozen=True)
class Place:
    """How often the option in one place was chosen. `expected`: what the share would be if only the option counted and
    not its place: each option's share of the answers times how often it stood there."""

    title: str
    share: Share
    expected: float

    @property
    def differs(self) -> bool:
        """Whether the expected share is outside the interval."""
        return not self.share.low <= self.expected <= self.share.high


@dataclass(frozen=True)
class OptionPlaces:
    """How often one option was chosen where it stood first, and where it stood last."""

    text: str
    first: Share
    last: Share


@dataclass(frozen=True)
class Positions:
    """A question's answers by place. Ties have a fixed place and do not count."""

    code: str
    n: int
    places: list[Place]
    options: list[OptionPlaces]


def option_name(question: Any, code: str) -> str:
    """The option in words that hold for any item."""
    if question.kind == "pairwise":
        names: dict[str, str] = {FIRST: question.first_field, SECOND: question.second_field, TIE: "Both equally"}
        return names[code]
    if question.kind == "scale":
        return f"{code}: {question.labels[int(code) - question.minimum]}" if question.labels else code
    option = next(option for option in question.options if option.code == code)
    return str(option.text or option.code)


def label_shares(
    questions: Iterable[Any],
    tallies: Sequence[Tally],
    n: Mapping[str, int],
    probabilities: Mapping[tuple[str, str], tuple[float, int]],
) -> list[Labels]:
    """The distribution of each question with options that was answered at all.

    `n`: answers by question. `probabilities`: mean and number of them by question and option.
    """
    chosen: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        chosen[tally.question, tally.value] += tally.n
    found = []
    for question in questions:
        answers = n.get(question.code, 0)
        if question.kind not in CLOSED or not answers:
            continue
        options = [
            OptionShare(
                code,
                option_name(question, code),
                chosen[question.code, code],
                wilson_share(chosen[question.code, code], answers),
                probabilities.get((question.code, code), (math.nan, 0))[0],
            )
            for code in option_codes(question)
        ]
        given = [probabilities.get((question.code, option.code), (math.nan, 0))[1] for option in options]
        found.append(Labels(question.code, question.text, answers, options, max(given)))
    return found


def position_shares(questions: Iterable[Any], tallies: Sequence[Tally]) -> list[Positions]:
    """For each question whose options changed places: the shares of the option shown first and of the one shown last.

    A question whose options stood in one order only is left out: there, place and option are the same thing.
    """
    found = []
    for question in questions:
        if question.kind not in ONE_OF_SEVERAL:
            continue
        own = [(_shown(tally.order), tally.value, tally.n) for tally in tallies if tally.question == question.code]
        own = [row for row in own if row[1] in row[0]]
        if len({shown for shown, _, _ in own}) < 2:
            continue
        places = [_place("Shown first", own, 0), _place("Shown last", own, -1)]
        codes = [code for code in option_codes(question) if code != TIE]
        options = [OptionPlaces(option_name(question, code), *_by_place(own, code)) for code in codes]
        found.append(Positions(question.code, sum(count for _, _, count in own), places, options))
    return found


def _shown(order: Sequence[str]) -> tuple[str, ...]:
    return tuple(code for code in order if code != TIE)


def _place(title: str, rows: Sequence[tuple[tuple[str, ...], str, int]], at: int) -> Place:
    n = sum(count for _, _, count in rows)
    chosen: Counter[str] = Counter()
    stood: Counter[str] = Counter()
    hits = 0
    for shown, value, count in rows:
        chosen[value] += count
        stood[shown[at]] += count
        hits += count if shown[at] == value else 0
    expected = sum(chosen[code] / n * stood[code] / n for code in stood)
    return Place(title, wilson_share(hits, n), expected)


def _by_place(rows: Sequence[tuple[tuple[str, ...], str, int]], code: str) -> list[Share]:
    found = []
    for at in (0, -1):
        there = [(value, count) for shown, value, count in rows if shown[at] == code]
        hits = sum(count for value, count in there if value == code)
        found.append(wilson_share(hits, sum(count for _, count in there)))
    return found
