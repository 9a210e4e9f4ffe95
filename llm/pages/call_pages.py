"""A job's calls by state, condition and item, a page at a time, in the order of the ledger.

A page costs the same wherever it is and however many calls the job has: it starts behind the last call of the page
before it, and looks at no more than SEARCHED calls of each state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from llm.models import Call, Job
from llm.planning.axes import Axis

PAGE = 100
SEARCHED = 20_000
STATES = tuple(Call.Status)

# For each state the index over job, status and id gives the next calls in order. The rows are compared as a whole,
# because with `status = ... ORDER BY id` the planner may walk through all ids instead, past a million of other states.
PAGE_OF_CALLS = """
WITH searched AS MATERIALIZED (
    SELECT found.* FROM unnest(%(states)s::text[]) AS kind(status), LATERAL (
        SELECT id, item_id, cell, orders, reused_from_id, status FROM llm_call
        WHERE (job_id, status, id) {beyond} (%(job)s, kind.status, %(start)s)
          AND (job_id, status) {within} (%(job)s, kind.status)
        ORDER BY job_id {direction}, status {direction}, id {direction} LIMIT %(searched)s) AS found),
edge AS (
    SELECT {nearest}(far) AS id FROM (
        SELECT {farthest}(id) AS far FROM searched GROUP BY status HAVING count(*) = %(searched)s) AS full_kinds)
SELECT searched.id, edge.id FROM edge LEFT JOIN searched
  ON (edge.id IS NULL OR searched.id {within} edge.id){filters}
ORDER BY searched.id {direction} LIMIT %(size)s"""
ITEM_CALLS = """
SELECT id, NULL FROM llm_call
WHERE job_id = %(job)s AND item_id = %(item)s AND status = ANY(%(states)s) AND id {beyond} %(start)s{filters}
ORDER BY id {direction} LIMIT %(size)s"""
FORWARD = {"beyond": ">", "within": "<=", "direction": "ASC", "nearest": "min", "farthest": "max"}
BACKWARD = {"beyond": "<", "within": ">=", "direction": "DESC", "nearest": "max", "farthest": "min"}
LAST = 2**63 - 1


@dataclass(frozen=True)
class CallFilter:
    """Which calls to list. `levels`: the level's position by axis; `shown_first`: question and option code."""

    status: str = ""
    levels: Mapping[Axis, int] = field(default_factory=dict)
    shown_first: tuple[str, str] | None = None
    reused: bool | None = None
    item: int | None = None

    def __bool__(self) -> bool:
        return bool(self.status or self.levels or self.shown_first or self.reused is not None or self.item is not None)


@dataclass(frozen=True)
class CallPage:
    """Some calls. `before` and `after`: where the neighbouring pages start, None without one; `searched_all` is False
    when the search ended before the page was full or the ledger at its end."""

    calls: list[Call]
    before: int | None
    after: int | None
    searched_all: bool


def page_of_calls(job: Job, wanted: CallFilter, *, after: int = 0, before: int | None = None) -> CallPage:
    """The calls behind `after`, or those that end just before `before`. Costs two queries."""
    if before is not None:
        ids, edge = _ids(job, wanted, before, BACKWARD)
        shown = sorted(ids[:PAGE])
        earlier = shown[0] if len(ids) > PAGE else edge
        return CallPage(_calls(shown), earlier, before - 1, edge is None or len(ids) > PAGE)
    ids, edge = _ids(job, wanted, after, FORWARD)
    shown = ids[:PAGE]
    later = shown[-1] if len(ids) > PAGE else edge
    return CallPage(_calls(shown), after + 1 if after else None, later, edge is None or len(ids) > PAGE)


def _ids(job: Job, wanted: CallFilter, start: int, way: Mapping[str, str]) -> tuple[list[int], int | None]:
    """At most one id more than a page has, and the id where the search ended early."""
    states = [wanted.status] if wanted.status else list(STATES)
    values: dict[str, Any] = {
        "job": job.pk, "start": start, "states": states, "item": wanted.item, "size": PAGE + 1, "searched": SEARCHED,
    }  # fmt: skip
    filters = _filters(wanted, values)
    if not filters:  # then the first calls of each state are the ones to show
        values["searched"] = PAGE + 1
    statement = (ITEM_CALLS if wanted.item is not None else PAGE_OF_CALLS).format(filters=filters, **way)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    edge = rows[0][1] if rows and filters else None
    return [row[0] for row in rows if row[0] is not None], edge


def _filters(wanted: CallFilter, values: dict[str, Any]) -> str:
    """Conditions on the searched calls, whose values go into `values`."""
    parts = []
    for number, (axis, level) in enumerate(wanted.levels.items()):
        parts.append(f"cell / %(stride{number})s %% %(size{number})s = %(level{number})s")
        values |= {f"stride{number}": axis.stride, f"size{number}": axis.size, f"level{number}": level}
    if wanted.shown_first:
        parts.append("orders -> %(question)s ->> 0 = %(first)s")
        values["question"], values["first"] = wanted.shown_first
    if wanted.reused is not None:
        parts.append(f"reused_from_id IS {'NOT ' if wanted.reused else ''}NULL")
    return "".join(f" AND {part}" for part in parts)


def _calls(ids: Sequence[int]) -> list[Call]:
    calls = Call.objects.filter(pk__in=ids).select_related("item", "respondent").order_by("id")
    return list(calls.defer("messages", "reply", "text", "reasoning", "item__content"))
