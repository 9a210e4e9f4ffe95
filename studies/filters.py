"""Quality filters: a declared, ordered list that selects the sessions an analysis uses. Nothing is ever deleted.

A study's `filters` are JSON of this form; parameters that are left out have these values:

    [
      {"kind": "completed"},            consented and reached the end
      {"kind": "platform_id"},          came with an id of the platform
      {"kind": "platform_finished", "statuses": ["AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED"]},
      {"kind": "attention"},            did not fail the attention checks, by the design's limit
      {"kind": "duplicates"},           one submission a person, one person a submission
      {"kind": "suspicious"},           not rejected, not asked to return, and entered the code that we gave
      {"kind": "too_fast", "sd": 3},    not so many SD faster than the others, on the logarithm of the time
      {"kind": "straight_lining", "questions": [], "at_least": 5}   not every answer in the same place on the page
    ]

What the platform knows says nothing where there is no platform, so those filters keep such sessions.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from materials.question_kinds import Code, Frozen
from studies.design import DesignError

FINISHED = ("AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED")
PLACED = ("choice", "pairwise", "scale")  # kinds of questions whose answers have a place on the page
FREED = ("RETURNED", "TIMED-OUT")  # after these a person may come again with another submission


@dataclass(frozen=True, slots=True)
class Submission:
    """How one submission stands on the platform. `status` is "" until the platform told; `shared` says that another
    person came with the same submission id; `code` is what the person entered there, "" when that is not known.
    """

    status: str = ""
    code: str = ""
    shared: bool = False
    return_requested: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """What the filters know of a session. `seconds` are from entry to end, None before it; `submissions` are None
    where there is no platform; `code` is what the session's end page gave; `places` are, by question, where on the page
    the chosen answers stood, counted from 0.
    """

    session: int
    simulated: bool = False
    ended: bool = False  # consented and came to the last page
    attention_passed: bool | None = None
    seconds: float | None = None
    code: str = ""
    has_platform_id: bool = False
    submissions: tuple[Submission, ...] | None = None
    places: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


class _Filter(Frozen):
    label: ClassVar[str]

    def reasons(self, runs: Sequence[Run]) -> list[str]:
        """Why each of the runs is out, "" for one that stays."""
        return [self.reason(run) for run in runs]

    def reason(self, run: Run) -> str:
        raise NotImplementedError


class Completed(_Filter):
    kind: Literal["completed"] = "completed"
    label = "Consented and completed"

    def reason(self, run: Run) -> str:
        return "" if run.ended else "did not come to the end"


class PlatformId(_Filter):
    kind: Literal["platform_id"] = "platform_id"
    label = "Valid platform id"

    def reason(self, run: Run) -> str:
        return "" if run.submissions is None or run.has_platform_id else "no platform id"


class PlatformFinished(_Filter):
    kind: Literal["platform_finished"] = "platform_finished"
    statuses: tuple[str, ...] = Field(default=FINISHED, min_length=1)
    label = "Finished by the platform's records"

    def reason(self, run: Run) -> str:
        if run.submissions is None or any(submission.status in self.statuses for submission in run.submissions):
            return ""
        known = sorted({submission.status for submission in run.submissions} - {""})
        return f"{', '.join(known).lower()} on the platform" if known else "the platform has not told yet"


class Attention(_Filter):
    kind: Literal["attention"] = "attention"
    label = "Attention checks"

    def reason(self, run: Run) -> str:
        return "failed the attention checks" if run.attention_passed is False else ""


class Duplicates(_Filter):
    kind: Literal["duplicates"] = "duplicates"
    label = "Duplicates by the platform's records"

    def reason(self, run: Run) -> str:
        submissions = run.submissions or ()
        if any(submission.shared for submission in submissions):
            return "another person came with the same submission"
        standing = [submission for submission in submissions if submission.status not in FREED]
        return "more than one submission" if len(standing) > 1 else ""


class Suspicious(_Filter):
    kind: Literal["suspicious"] = "suspicious"
    label = "Suspicious by the platform's records"

    def reason(self, run: Run) -> str:
        for submission in run.submissions or ():
            if submission.status == "REJECTED":
                return "rejected on the platform"
            if submission.return_requested:
                return "asked to return on the platform"
            if submission.code and run.code and submission.code != run.code:
                return "entered another code on the platform"
        return ""


class TooFast(_Filter):
    """Times are skewed to the right, so that no raw time is three SD below the mean: hence the logarithm. Mean and SD
    (of the sample) are those of the runs that passed the filters before. Of fewer than 11 none is 3 SD off.
    """

    kind: Literal["too_fast"] = "too_fast"
    sd: float = Field(default=3, gt=0, le=10)
    label = "Too fast"

    def reasons(self, runs: Sequence[Run]) -> list[str]:
        logs = [math.log(run.seconds) if run.seconds else None for run in runs]
        known = [value for value in logs if value is not None]
        least = mean(known) - self.sd * stdev(known) if len(known) > 1 else -math.inf
        why = f"more than {self.sd:g} SD faster than the others"
        return [why if value is not None and value < least else "" for value in logs]


class StraightLining(_Filter):
    """Each of the questions (all choices, pairs and scales when none is named) was answered at least so many times, and
    always in the same place on the page; where options come in a random order nobody does so by conviction.
    """

    kind: Literal["straight_lining"] = "straight_lining"
    questions: tuple[Code, ...] = ()
    at_least: int = Field(default=5, ge=2)
    label = "Straight-lining"

    def reason(self, run: Run) -> str:
        asked = [places for code, places in run.places.items() if not self.questions or code in self.questions]
        same = asked and all(len(places) >= self.at_least and len(set(places)) == 1 for places in asked)
        return "always the same place on the page" if same else ""


Filter = Annotated[
    Completed | PlatformId | PlatformFinished | Attention | Duplicates | Suspicious | TooFast | StraightLining,
    Field(discriminator="kind"),
]
FILTERS: Mapping[str, Any] = {model.model_fields["kind"].default: model for model in get_args(get_args(Filter)[0])}
_FILTERS: TypeAdapter[tuple[Filter, ...]] = TypeAdapter(tuple[Filter, ...])
DEFAULT_FILTERS: tuple[Filter, ...] = (
    Completed(),
    PlatformId(),
    PlatformFinished(),
    Attention(),
    Duplicates(),
    Suspicious(),
)


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """One filter: how many came to it, how many it kept, and how many were out for each reason."""

    filter: Filter
    came: int
    kept: int
    out: Mapping[str, int]


def parse_filters(data: Any) -> tuple[Filter, ...]:
    """The filters from JSON-like data; raises DesignError with the place of each fault, counted from 1."""
    try:
        filters = _FILTERS.validate_python(data)
    except ValidationError as error:
        raise DesignError(" ".join(map(_sentence, error.errors()))) from error
    twice = [kind for kind, times in Counter(entry.kind for entry in filters).items() if times > 1]
    if twice:
        raise DesignError(f"Filters: {', '.join(twice)} is there twice; take one out.")
    return filters


def _sentence(fault: Any) -> str:
    if not fault["loc"]:
        return f"Filters: {fault['msg']}."
    position, *within = fault["loc"]
    place = " > ".join([str(int(position) + 1), *(str(part) for part in within)])
    return f"Filters, at {place}: {fault['msg']}."


def apply_filters(filters: Sequence[Filter], runs: Sequence[Run]) -> tuple[list[FunnelRow], list[Run]]:
    """A row for each filter in its order, and the runs that pass all of them."""
    rows, left = [], list(runs)
    for entry in filters:
        reasons = entry.reasons(left)
        kept = [run for run, why in zip(left, reasons, strict=True) if not why]
        rows.append(FunnelRow(entry, came=len(left), kept=len(kept), out=Counter(filter(None, reasons))))
        left = kept
    return rows, left


def in_words(entry: Filter) -> str:
    """The filter with its parameters, as a person reads it, such as "Too fast (sd 3)"."""
    told = parameters_in_words(entry)
    return f"{entry.label} ({told})" if told else entry.label


def parameters_in_words(entry: Filter) -> str:
    """The filter's parameters alone, such as "sd 3"; "" without any."""
    parameters = entry.model_dump(exclude={"kind"})
    return "; ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in parameters.items() if value != ())


def _value(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}"
