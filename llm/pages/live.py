"""Reads of a job's newest calls for the page that watches it. Each is bounded, however many calls the job has."""

import json
import math
from dataclasses import dataclass
from typing import Any

from django.db import connection

from llm.models import Call, Job
from llm.pages.answer_tallies import CLOSED, Labels, Positions, Tally, label_shares, position_shares
from llm.pages.histogram import Bin, histogram
from llm.planning.axes import axes_of, condition_words
from llm.running.ledger import FAILED

NEWEST_CALLS = 20_000
SAMPLE = 8
PROBLEMS_SHOWN = 8
NEWEST_FAILED = 5_000  # of each kind

# The newest calls of a state by the index over job, status and id. The rows are compared as a whole, because with
# `status = ... ORDER BY id` the planner may walk through all ids instead, past a million of other states.
NEWEST_OF = """
    WHERE (job_id, status) >= (%(job)s, {status}) AND (job_id, status) <= (%(job)s, {status})
    ORDER BY job_id DESC, status DESC, id DESC LIMIT %(newest)s"""
NEWEST_OK = NEWEST_OF.format(status="'ok'")
NEWEST = f"""
WITH newest AS MATERIALIZED (SELECT "values", orders, probabilities FROM llm_call {NEWEST_OK})"""
LATENCIES = f"SELECT latency_seconds FROM llm_call {NEWEST_OK}"
NEWEST_IDS = f"SELECT id FROM llm_call {NEWEST_OK}"
TALLIES = f"""{NEWEST}
SELECT answer.key, newest.orders -> answer.key, picked.value, count(*)
FROM newest, jsonb_each(newest."values") AS answer,
    LATERAL jsonb_array_elements_text(
        CASE jsonb_typeof(answer.value) WHEN 'array' THEN answer.value ELSE jsonb_build_array(answer.value) END
    ) AS picked
WHERE answer.key = ANY(%(questions)s) AND picked.value IS NOT NULL
GROUP BY 1, 2, 3"""
ANSWERS = f"""{NEWEST}
SELECT answer.key, count(*) FROM newest, jsonb_each(newest."values") AS answer
WHERE answer.key = ANY(%(questions)s) AND jsonb_typeof(answer.value) <> 'null' GROUP BY 1"""
PROBABILITIES = f"""{NEWEST}
SELECT question.key, share.key, avg(share.value::float8), count(*)
FROM newest, jsonb_each(newest.probabilities) AS question, jsonb_each_text(question.value -> 'shares') AS share
WHERE question.key = ANY(%(questions)s) AND jsonb_typeof(newest.probabilities) = 'object'
GROUP BY 1, 2"""
PROBLEMS = f"""
SELECT kind.status, failed.problem, count(*)
FROM unnest(%(statuses)s::text[]) AS kind(status),
    LATERAL (SELECT problem FROM llm_call {NEWEST_OF.format(status="kind.status")}) AS failed
GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT %(shown)s"""


@dataclass(frozen=True)
class Problem:
    """Calls that ended without an answer for the same reason, among the newest of that kind."""

    status: Call.Status
    sentence: str
    count: int


@dataclass(frozen=True)
class Latency:
    """Seconds that the newest answered calls took. `n`: those that were asked; a reused answer took none."""

    n: int
    median: float
    p95: float
    bins: list[Bin]

    @property
    def tail(self) -> int:
        """How many took longer than the regular bins reach."""
        return self.bins[-1].count if self.bins[-1].open else 0

    @property
    def first(self) -> float:
        return self.bins[0].low

    @property
    def last(self) -> float:
        """Where the regular bins end."""
        return self.bins[-1].low if self.bins[-1].open else self.bins[-1].high


@dataclass(frozen=True)
class Findings:
    """What the newest answered calls look like; `n` of `answered`, the job's answered calls in all."""

    n: int
    answered: int
    newest: list[tuple[Call, str]]  # with what is particular about its condition
    labels: list[Labels]
    positions: list[Positions]
    latency: Latency

    @property
    def partial(self) -> bool:
        return self.n < self.answered


def job_findings(job: Job) -> Findings:
    """Costs six queries, and one more for a job with probabilities."""
    axes = axes_of(job)
    tallies = [
        Tally(question, tuple(json.loads(order or "[]")), value, count)
        for question, order, value, count in _rows(TALLIES, job)
    ]
    answers = dict(_rows(ANSWERS, job)) if tallies else {}
    means = {}
    if job.logprobs and tallies:
        means = {(question, code): (mean, n) for question, code, mean, n in _rows(PROBABILITIES, job)}
    return Findings(
        n=min(job.n_ok, NEWEST_CALLS),
        answered=job.n_ok,
        newest=[(call, condition_words(axes, call.cell)) for call in newest_answers(job)],
        labels=label_shares(job.questions, tallies, answers, means),
        positions=position_shares(job.questions, tallies),
        latency=_latency(job),
    )


def newest_answers(job: Job) -> list[Call]:
    """Some answered calls, the newest first, without the large columns. Costs two queries."""
    ids = [pk for (pk,) in _rows(NEWEST_IDS, job, newest=SAMPLE)]
    calls = Call.objects.filter(pk__in=ids).select_related("item", "respondent").order_by("-id")
    return list(calls.defer("messages", "reply", "text", "reasoning", "item__content"))


def job_problems(job: Job) -> list[Problem]:
    """The commonest reasons for which calls ended without an answer, of the newest of each kind."""
    bounds: dict[str, Any] = {"job": job.pk, "statuses": list(FAILED), "newest": NEWEST_FAILED, "shown": PROBLEMS_SHOWN}
    with connection.cursor() as cursor:
        cursor.execute(PROBLEMS, bounds)
        return [Problem(Call.Status(status), problem, count) for status, problem, count in cursor.fetchall()]


def _latency(job: Job) -> Latency:
    seconds = sorted(taken for (taken,) in _rows(LATENCIES, job) if taken is not None)
    if not seconds:
        return Latency(0, math.nan, math.nan, [])
    return Latency(len(seconds), _quantile(seconds, 0.5), _quantile(seconds, 0.95), histogram(seconds))


def _quantile(ordered: list[float], share: float) -> float:
    """The smallest value that so large a share of the values does not exceed."""
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def _rows(statement: str, job: Job, newest: int | None = None) -> list[Any]:
    closed = [question.code for question in job.questions if question.kind in CLOSED]
    values: dict[str, Any] = {"job": job.pk, "newest": newest or NEWEST_CALLS, "questions": closed}
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
