"""Jobs and plans as plain text and as JSON, for `manage.py job`."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from llm.models import Job
from llm.planning.axes import axes_of, size_words
from llm.planning.costs import Example, Plan
from llm.querysets import Progress
from llm.templatetags.llm_words import duration, persona_words

MOST_SHOWN = 1500  # characters of one message of an example


def plan_lines(job: Job, plan: Plan, *, examples: int) -> Iterator[str]:
    """The plan's size and price, and so many of its example prompts."""
    yield f"Job {job.pk}, {job.name}: {plan.calls:,} calls to {job.endpoint} ({job.get_way_display().lower()})."
    each = plan.conditions_per_item
    if words := size_words(axes_of(job)):
        part = "" if each == plan.conditions else f", of which each item gets {each:,}"
        yield f"  Factors  {words} = {_counted(plan.conditions, 'condition')}{part}"
    yield (
        f"  Calls    {_counted(plan.items, 'item')} × {_counted(each, 'condition')} × "
        f"{_counted(job.samples, 'sample')} = {_counted(plan.calls, 'call')}"
    )
    for warning in plan.warnings:
        yield f"  Warning  {warning}"
    measured = f", from {plan.measured:,} calls that were made" if plan.measured else ", estimated from the first items"
    yield (
        f"  Tokens   about {plan.prompt_tokens:,} in prompts and {plan.completion_tokens:,} in answers, "
        f"at most {plan.most_completion_tokens:,}{measured}"
    )
    price = "no price set" if plan.price is None else f"about {plan.price:.2f}, at most {plan.highest_price:.2f}"
    yield f"  Price    {price}"
    if job.way == Job.Way.LIVE:
        time = "unknown until the endpoint is tested" if plan.seconds is None else f"at least {duration(plan.seconds)}"
        yield f"  Time     {time}"
    for example in plan.examples[:examples]:
        yield from _example_lines(example)


def status_lines(job: Job, progress: Progress) -> Iterator[str]:
    """Counts by state, tokens, money and rate, and what went wrong."""
    yield f"Job {job.pk}, {job.name}: {job.get_status_display().lower()}. {job.status_reason}".strip()
    yield f"  Calls    {progress.settled:,} of {progress.total:,} settled: {counts(progress)}"
    if job.n_reused:
        yield f"  Reused   {job.n_reused:,} answers of equal requests"
    yield f"  Requests {job.requests:,}; tokens: {job.prompt_tokens:,} in prompts, {job.completion_tokens:,} in answers"
    yield f"  Price    {'no price set' if job.price is None else f'{job.price:.4f} so far'}"
    if progress.rate:
        left = "" if progress.seconds_left is None else f", about {duration(progress.seconds_left)} left"
        yield f"  Rate     {progress.rate:.1f} calls/s{left}"
    for problem in progress.problems:
        yield f"  {problem.count:,} {problem.status.label.lower()}: {problem.sentence}"


def status_json(job: Job, progress: Progress) -> dict[str, Any]:
    """The same for machines."""
    return {
        "job": job.pk,
        "name": job.name,
        "project": job.project.slug,
        "endpoint": job.endpoint.name,
        "model": job.endpoint.model,
        "demo_model": job.endpoint.demo_model,
        "status": job.status,
        "status_reason": job.status_reason,
        "pilot": job.pilot,
        "total": progress.total,
        "settled": progress.settled,
        "calls": {str(status): count for status, count in progress.by_status},
        "reused": job.n_reused,
        "requests": job.requests,
        "prompt_tokens": job.prompt_tokens,
        "completion_tokens": job.completion_tokens,
        "price": None if job.price is None else str(job.price),
        "rate": progress.rate,
        "seconds_left": progress.seconds_left,
        "problems": [
            {"status": str(problem.status), "problem": problem.sentence, "calls": problem.count}
            for problem in progress.problems
        ],
    }


def list_lines(jobs: QuerySet[Job]) -> Iterator[str]:
    for job in jobs:
        size = f"{job.settled:,} of {job.planned_calls:,} calls" if job.planned_calls else "not started"
        yield f"{job.pk:>6}  {job.get_status_display():<8} {size:<28} {job.project.slug}: {job.name}"


def counts(progress: Progress) -> str:
    """ "3 answered, 1 refused"."""
    return ", ".join(f"{count:,} {status.label.lower()}" for status, count in progress.by_status) or "no calls"


def progress_line(progress: Progress) -> str:
    """How far a job is, in one short line."""
    share = 100 * progress.settled // progress.total if progress.total else 100
    parts = [f"{progress.settled:,} of {progress.total:,} ({share} %)"]
    if progress.rate:
        parts.append(f"{progress.rate:.1f} calls/s")
    if progress.seconds_left is not None:
        parts.append(f"about {duration(progress.seconds_left)} left")
    if progress.in_flight:
        parts.append(f"{progress.in_flight:,} in flight")
    if failed := sum(problem.count for problem in progress.problems):
        parts.append(f"{failed:,} without an answer")
    return ", ".join(parts)


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _example_lines(example: Example) -> Iterator[str]:
    levels = "".join(f", {name} {level}" for name, level in example.cell.names.items())
    yield ""
    yield f"Example: item {example.item}, {persona_words(dict(example.cell.persona))}{levels}, prompt {example.prompt}"
    for message in example.messages:
        text = message["content"]
        more = f" [{len(text) - MOST_SHOWN:,} characters more]" if len(text) > MOST_SHOWN else ""
        yield f"[{message['role']}] {text[:MOST_SHOWN]}{more}"
