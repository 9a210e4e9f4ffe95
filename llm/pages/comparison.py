"""Two conditions side by side: the same items asked under A and under B, paired by the database.

The number of calls looked at is bounded: when a job has more, its first items are compared, and the result says so.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from llm.models import Call, Job
from llm.planning.axes import Axis, axes_of, cell_words, varying
from llm.planning.selection import planned_items
from responses.intervals import Share, wilson_share

MOST_CALLS = 50_000  # of each side
PAGE = 50
OPEN_KINDS = ("text", "number", "span")

PAIRS = """
WITH item AS MATERIALIZED (SELECT id, position FROM materials_item WHERE id = ANY(%(items)s)),
pair AS (
    SELECT item.position, item.id AS item_id, a.id AS a_id, b.id AS b_id, a.sample, a.cell,
        a.status AS a_status, b.status AS b_status,
        CASE WHEN a.status = 'ok' THEN a."values" -> %(question)s END AS a_value,
        CASE WHEN b.status = 'ok' THEN b."values" -> %(question)s END AS b_value
    FROM item JOIN llm_call AS a ON a.item_id = item.id AND a.job_id = %(a_job)s{a_levels}
    LEFT JOIN llm_call AS b ON b.item_id = item.id AND b.job_id = %(b_job)s AND b.sample = a.sample{b_levels}{same}),
judged AS (
    SELECT *, CASE WHEN a_value IS NULL OR b_value IS NULL THEN 'not' WHEN a_value = b_value THEN 'same'
        ELSE 'different' END AS verdict FROM pair)"""
COUNTS = f"""{PAIRS}
SELECT verdict, a_status, b_status, a_value IS NULL, b_value IS NULL,
    CASE WHEN %(closed)s THEN a_value #>> '{{{{}}}}' END, CASE WHEN %(closed)s THEN b_value #>> '{{{{}}}}' END, count(*)
FROM judged GROUP BY 1, 2, 3, 4, 5, 6, 7"""
ROWS = f"""{PAIRS}
SELECT a_id, b_id, verdict FROM judged
WHERE %(verdict)s IN ('', verdict) ORDER BY position, item_id, sample, cell LIMIT %(limit)s OFFSET %(offset)s"""


@dataclass(frozen=True)
class Side:
    """A job and the levels that its calls have, by the axis's name; an axis without one is matched with the other
    side's."""

    job: Job
    levels: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Flip:
    """So many items were answered `a` under A and `b` under B."""

    a: str
    b: str
    count: int


@dataclass(frozen=True)
class Pair:
    """One item asked under both; an answer is None where there is none."""

    a: Call
    b: Call | None
    verdict: str
    words: str  # what both have in common that the job varies


@dataclass(frozen=True)
class Comparison:
    """`n` = `same` + `different` pairs have two answers; `not_comparable`: reasons with their number of pairs. Of the
    job's `items` the first `items_compared` were looked at."""

    same: int
    different: int
    flips: list[Flip]
    not_comparable: list[tuple[str, int]]
    items: int
    items_compared: int

    @property
    def n(self) -> int:
        return self.same + self.different

    @property
    def same_share(self) -> Share:
        return wilson_share(self.same, self.n)

    @property
    def left_out(self) -> int:
        return sum(count for _, count in self.not_comparable)


class Comparing:
    """Compares one question's answers under A and B. Raises ValueError with a sentence when the sides do not fit."""

    def __init__(self, a: Side, b: Side, question: Any) -> None:
        if a == b:
            raise ValueError("A and B are the same condition; choose another level for one of them.")
        self._question = question
        self._a_axes = {axis.name: axis for axis in axes_of(a.job)}
        self._b_axes = self._a_axes if a.job == b.job else {axis.name: axis for axis in axes_of(b.job)}
        for axis in self._a_axes.values():
            if (axis.name in a.levels) != (axis.name in b.levels):
                raise ValueError(f"{axis.title} is chosen for one side only; choose it for both, or for neither.")
        self._items = planned_items(a.job).order_by("position", "pk")
        each = a.job.grid.cells_per_item * a.job.samples
        self._taken = list(self._items.values_list("pk", flat=True)[: max(1, MOST_CALLS // each)])
        self._values: dict[str, Any] = {
            "items": self._taken, "question": question.code, "a_job": a.job.pk, "b_job": b.job.pk,
            "closed": question.kind not in OPEN_KINDS,
        }  # fmt: skip
        # Both sides have the same level on every axis that was not chosen.
        self.free = [axis for axis in varying(list(self._a_axes.values())) if axis.name not in a.levels]
        self._parts = {
            "a_levels": self._levels("a", a.levels, self._a_axes),
            "b_levels": self._levels("b", b.levels, self._b_axes),
            "same": "".join(f" AND {_digit('a', axis)} = {_digit('b', self._b_axes[axis.name])}" for axis in self.free),
        }

    def counts(self) -> Comparison:
        """Costs two queries."""
        sums: Counter[str] = Counter()
        flips: Counter[tuple[str, str]] = Counter()
        reasons: Counter[str] = Counter()
        for verdict, a_status, b_status, a_empty, b_empty, a, b, count in self._rows(COUNTS):
            sums[verdict] += count
            if verdict == "not":
                reasons[_reason(a_status, b_status, a_empty, b_empty)] += count
            elif verdict == "different" and a is not None:
                flips[a, b] += count
        ordered = sorted(flips.items(), key=lambda found: (-found[1], found[0]))
        return Comparison(
            same=sums["same"],
            different=sums["different"],
            flips=[Flip(a, b, count) for (a, b), count in ordered],
            not_comparable=reasons.most_common(),
            items=self._items.count(),
            items_compared=len(self._taken),
        )

    def pairs(self, verdict: str = "", page: int = 1) -> list[Pair]:
        """PAGE pairs and one more when there are more, in the order of the items. Costs two queries."""
        found = self._rows(ROWS, verdict=verdict, limit=PAGE + 1, offset=(page - 1) * PAGE)
        ids = {pk for row in found for pk in row[:2] if pk}
        calls = Call.objects.filter(pk__in=ids).select_related("item").defer("messages", "reply", "text", "reasoning")
        by_id = {call.pk: call for call in calls}
        return [Pair(by_id[a], by_id.get(b), verdict, cell_words(self.free, by_id[a].cell)) for a, b, verdict in found]

    def _rows(self, statement: str, **values: Any) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(statement.format(**self._parts), self._values | values)
            return cursor.fetchall()

    def _levels(self, side: str, levels: Mapping[str, int], axes: Mapping[str, Axis]) -> str:
        parts = ""
        for name, level in levels.items():
            self._values[f"{side}_level_{name}"] = level
            parts += f" AND {_digit(side, axes[name])} = %({side}_level_{name})s"
        return parts


def _digit(side: str, axis: Axis) -> str:
    return f"{side}.cell / {int(axis.stride)} %% {int(axis.size)}"


def _reason(a_status: str, b_status: str | None, a_empty: bool, b_empty: bool) -> str:
    if b_status is None:
        return "not asked under B"
    parts = []
    for side, status, empty in (("A", a_status, a_empty), ("B", b_status, b_empty)):
        if status != Call.Status.OK:
            parts.append(f"{side} is {str(Call.Status(status).label).lower()}")
        elif empty:
            parts.append(f"{side} was not asked this question")
    return ", ".join(parts)
