"""Writes to endpoints, prompts and jobs. What happens to single calls is in llm.running.ledger."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Count, F, Max
from django.utils import timezone

from llm.models import Call, Endpoint, Job, Prompt
from llm.planning.costs import prompt_tokens_each
from llm.planning.expansion import Expander
from llm.planning.grid import Factor
from llm.planning.orders import movable
from llm.planning.selection import planned_items
from llm.prompting.prompt_publishing import publish_prompt
from llm.reading.parsing import check_mode
from llm.running.ledger import ask_again, lock_job, lock_ledger, room_left, runners_wanted, write
from llm.servers.embedded import move_embedded_endpoints, use_embedded_model
from llm.servers.endpoints import EndpointError, endpoint_config, probe_endpoint, save_endpoint
from materials.fitting import missing_fields
from materials.models import Dataset, Instrument
from projects.models import Project, User
from projects.services import audit

__all__ = [
    "EndpointError", "JobError", "discard_plan", "discard_series", "endpoint_config", "move_embedded_endpoints",
    "pause_job", "plan_job", "plan_series", "probe_endpoint", "publish_prompt", "resume_job", "retry_failed",
    "save_endpoint", "set_budget", "set_concurrency", "start_job", "stop_job", "use_embedded_model",
]  # fmt: skip

RUN_SHARD = "llm.tasks.run_shard"
STEP_BATCHES = "llm.tasks.step_batches"
MOVING = (Job.OptionOrders.BOTH, Job.OptionOrders.ROTATED)


class JobError(ValueError):
    """A job that cannot be planned; the text says why and what to do."""


def plan_job(
    *,
    project: Project,
    name: str,
    kind: Job.Kind,
    endpoint: Endpoint,
    prompts: Sequence[Prompt],
    dataset: Dataset,
    instrument: Instrument,
    question_codes: Sequence[str] = (),
    personas: Sequence[Mapping[str, Any]] = (),
    factors: Sequence[Mapping[str, Any]] = (),
    created_by: User | None = None,
    **fields: Any,
) -> Job:
    """A job that can be looked at and priced before it is started. `fields` are the Job's other fields.

    Raises QuestionError for unknown question codes and JobError when there is nothing to ask.
    """
    return plan_series(
        project=project,
        name=name,
        kind=kind,
        endpoints=[endpoint],
        prompts=prompts,
        dataset=dataset,
        instrument=instrument,
        question_codes=list(question_codes),
        personas=[dict(persona) for persona in personas] or [{}],
        factors=[dict(factor) for factor in factors],
        created_by=created_by,
        **fields,
    )[0]


@transaction.atomic
def plan_series(
    *, project: Project, name: str, endpoints: Sequence[Endpoint], prompts: Sequence[Prompt], **fields: Any
) -> list[Job]:
    """The same job at each of the endpoints, as one series; otherwise as plan_job."""
    if not endpoints or not prompts:
        raise JobError("A job needs at least one endpoint and one prompt.")
    series = uuid.uuid4()
    jobs = []
    for endpoint in endpoints:
        full_name = name if len(endpoints) == 1 else f"{name} ({endpoint.name})"[:200]
        job = Job(project=project, name=full_name, series=series, endpoint=endpoint, **fields)
        job.factors = [Factor.from_json(factor).to_json() for factor in _checked(job, prompts).factors]
        job.save()
        job.prompts.set(prompts)
        jobs.append(job)
    return jobs


def _checked(job: Job, prompts: Sequence[Prompt]) -> Job:
    """The job, whose parts fit each other and leave something to ask. Raises QuestionError and JobError."""
    things: list[Any] = [job.endpoint, *prompts, job.dataset, job.instrument]
    for thing in things:
        if thing.project_id != job.project_id:
            raise JobError(f"{thing} belongs to another project; choose one of {job.project}.")
    job.prompt_list = sorted(prompts, key=lambda prompt: prompt.pk)
    try:
        check_mode(job.mode, job.answer_sentence, job.questions)
        _ = job.grid
    except ValueError as error:
        raise JobError(str(error)) from error
    if not planned_items(job).exists():
        what = "that the filter leaves; change the filter" if job.item_filter else "yet; import some first"
        raise JobError(f"The dataset {job.dataset} has no items {what}.")
    for misfit in missing_fields(job.dataset, job.questions, most_items=job.max_items):
        raise JobError(f"{misfit}, which the questions show; choose other questions or another dataset.")
    if any(persona in job.personas[:position] for position, persona in enumerate(job.personas)):
        raise JobError("A persona is listed twice; list each once and use samples to ask it more often.")
    if job.option_orders in MOVING and not movable(job.questions):
        raise JobError("No question of the instrument lets its options change places; ask them as written.")
    if job.budget_price is not None and job.price_of(0, 0) is None:
        raise JobError(f"A budget in money needs prices, and {job.endpoint.name} has none; set them at the endpoint.")
    if job.way == Job.Way.BATCH and not job.endpoint.capabilities.get("batch"):
        raise JobError(f"{job.endpoint.name} is not known to have the Batch API; test the endpoint or ask live.")
    return job


@transaction.atomic
def start_job(*, job: Job, pilot: int = 0, by: User | None = None) -> bool:
    """Set the workers to a planned job; False when it is not a plan any more. Raises PromptError.

    `pilot`: ask only so many calls, spread over items and conditions, then pause. The ledger is written as it is asked.
    """
    if pilot:
        lock_ledger(job)
    lock_job(job)
    if not Job.objects.filter(pk=job.pk, status=Job.Status.PLANNED).exists():
        return False
    end = planned_items(job).aggregate(last=Max("position"), n=Count("pk"))
    job.end_position = (end["last"] or 0) + 1
    job.planned_calls = end["n"] * job.grid.cells_per_item * job.samples
    job.tokens_each = prompt_tokens_each(job)
    job.pilot = 0 < pilot < job.planned_calls
    job.status, job.status_reason, job.started_at = Job.Status.RUNNING, "", timezone.now()
    job.save(update_fields=[
        "end_position", "planned_calls", "tokens_each", "pilot", "status", "status_reason", "started_at",
    ])  # fmt: skip
    if job.pilot:
        _write_pilot(job, pilot)
    audit(project=job.project, user=by, action="pilot started" if job.pilot else "job started", job=job.name)
    enqueue(job)
    return True


def _write_pilot(job: Job, n: int) -> None:
    items, expander = planned_items(job).order_by("position", "pk"), Expander(job)
    pairs = list(job.grid.spread(items.count(), n))
    found = {rank: items[rank] for rank in {rank for rank, _ in pairs}}
    write(job, [expander.call(found[rank], job.grid[cell]) for rank, cell in pairs])


@transaction.atomic
def discard_plan(*, job: Job, by: User | None = None) -> bool:
    """Delete a job that was never started."""
    # Django deletes what it found before by id: without the lock that could be a job that was started meanwhile.
    lock_job(job)
    deleted, _ = Job.objects.filter(pk=job.pk, status=Job.Status.PLANNED).delete()
    if deleted:
        audit(project=job.project, user=by, action="plan discarded", job=job.name)
    return bool(deleted)


@transaction.atomic
def discard_series(*, job: Job, by: User | None = None) -> int:
    """Delete the jobs of the job's series that were never started; returns how many."""
    series = Job.objects.filter(project=job.project, series=job.series).order_by("pk")
    return sum(discard_plan(job=one, by=by) for one in series)


def resume_job(*, job: Job, everything: bool = False, by: User | None = None) -> bool:
    """Set a paused or stopped job going again; False when it was neither.

    After a pilot that is done all the rest is asked; one that was interrupted goes on as a pilot, unless `everything`.
    """
    interrupted = not everything and job.calls.filter(status=Call.Status.PENDING).exists()
    pilot = F("pilot") if interrupted else False
    return _set_going(job, by, Job.Status.PAUSED, Job.Status.STOPPED, action="job resumed", pilot=pilot)


@transaction.atomic
def retry_failed(*, job: Job, by: User | None = None) -> int:
    """Ask the calls without an answer again, and set the job going; returns how many calls that are.

    Answered calls are never asked again. A job that was not started has none.
    """
    again = ask_again(job)
    if again:
        states = (Job.Status.PAUSED, Job.Status.STOPPED, Job.Status.DONE)
        _set_going(job, by, *states, action="failed calls asked again")
    return again


def pause_job(*, job: Job, reason: str = "", by: User | None = None) -> bool:
    """Let calls in flight finish and start no more."""
    return _halt(job, by, [Job.Status.RUNNING], "job paused", status=Job.Status.PAUSED, status_reason=reason[:500])


def stop_job(*, job: Job, reason: str, by: User | None = None) -> bool:
    """End a started job with what it has; calls not yet made stay in the ledger and can be resumed."""
    states = [Job.Status.RUNNING, Job.Status.PAUSED]
    changes = {"status": Job.Status.STOPPED, "status_reason": reason[:500], "finished_at": timezone.now()}
    return _halt(job, by, states, "job stopped", **changes)


@transaction.atomic
def _halt(job: Job, by: User | None, states: Sequence[Job.Status], action: str, **changes: Any) -> bool:
    changed = Job.objects.filter(pk=job.pk, status__in=states).update(held_until=None, **changes)
    if changed:
        audit(project=job.project, user=by, action=action, job=job.name, reason=changes["status_reason"])
    return bool(changed)


@transaction.atomic
def set_budget(
    *, job: Job, calls: int | None, tokens: int | None, price: Decimal | None, by: User | None = None
) -> None:
    """Change the job's budget, also while it runs; None is no limit. A job that it had paused is not resumed by it."""
    if price is not None and job.price_of(0, 0) is None:
        raise JobError(f"A budget in money needs prices, and {job.endpoint.name} has none; set them at the endpoint.")
    before = room_left(job)
    Job.objects.filter(pk=job.pk).update(budget_calls=calls, budget_tokens=tokens, budget_price=price)
    if before.calls == 0 and room_left(job).calls > 0:  # what the page says of the earlier budget holds no more
        used_up = Job.objects.filter(pk=job.pk, status=Job.Status.PAUSED, status_reason__contains=before.limit)
        used_up.update(status_reason="")
    limits = {"calls": calls, "tokens": tokens, "price": None if price is None else str(price)}
    audit(project=job.project, user=by, action="budget changed", job=job.name, **limits)


@transaction.atomic
def set_concurrency(*, endpoint: Endpoint, concurrency: int, by: User | None = None) -> None:
    """Change how many calls at once the endpoint gets, from all jobs together; running jobs follow within seconds."""
    if concurrency < 1:
        raise EndpointError("An endpoint is asked at least one call at a time.")
    Endpoint.objects.filter(pk=endpoint.pk).update(concurrency=concurrency)
    audit(project=endpoint.project, user=by, action="calls at once changed", endpoint=endpoint.name, to=concurrency)


def hold_job(*, job: Job, reason: str, wait: timedelta, holds: int) -> None:
    """Ask nothing for a while; the job stays running and the sweep carries on after it."""
    again = timezone.now() + wait
    reason = f"{reason[:400]} Trying again by itself at {again:%H:%M:%S} UTC."
    Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(held_until=again, holds=holds, status_reason=reason)


def note_recovery(*, job: Job) -> None:
    """The endpoint answers again: the reason for waiting goes from the page."""
    Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).exclude(status_reason="", holds=0).update(
        status_reason="", holds=0, held_until=None
    )


def enqueue(job: Job) -> None:
    """Ask the workers for this job once the database has what they will look for.

    By name, because services do not import tasks. A lost message costs nothing: the sweep asks again.
    """
    if job.way == Job.Way.BATCH:
        transaction.on_commit(lambda: current_app.send_task(STEP_BATCHES, [job.pk]))
        return
    for _ in range(runners_wanted(job.endpoint)):
        transaction.on_commit(lambda: current_app.send_task(RUN_SHARD, [job.pk]))


@transaction.atomic
def _set_going(job: Job, by: User | None, *states: Job.Status, action: str, **changes: Any) -> bool:
    changed = Job.objects.filter(pk=job.pk, status__in=states).update(
        status=Job.Status.RUNNING, status_reason="", held_until=None, holds=0, finished_at=None, **changes
    )
    if changed:
        audit(project=job.project, user=by, action=action, job=job.name)
        enqueue(job)
    return bool(changed)
