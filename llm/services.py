"""Writes to endpoints, prompts and jobs. What happens to single calls is in llm.ledger."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from celery import current_app
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from llm.embedded import move_embedded_endpoints, use_embedded_model
from llm.endpoints import EndpointError, endpoint_config, probe_endpoint, save_endpoint
from llm.ledger import FAILED, lock_job, runners_wanted
from llm.models import Call, Endpoint, Job, Prompt
from llm.planning import cells
from llm.rendering import check_template
from materials.fitting import missing_fields
from materials.models import Dataset, Instrument
from projects.models import Project, User

__all__ = [
    "EndpointError", "JobError", "discard_plan", "endpoint_config", "move_embedded_endpoints", "pause_job", "plan_job",
    "probe_endpoint", "publish_prompt", "resume_job", "retry_failed", "save_endpoint", "start_job", "stop_job",
    "use_embedded_model",
]  # fmt: skip

RUN_SHARD = "llm.tasks.run_shard"
INSERT_ROWS = 2000


class JobError(ValueError):
    """A job that cannot be planned; the text says why and what to do."""


@transaction.atomic
def publish_prompt(*, project: Project, name: str, system: str, user: str) -> Prompt:
    """A new version of the prompt; the latest one again when nothing changed. Raises PromptError when malformed."""
    check_template(system)
    check_template(user)
    with connection.cursor() as cursor:  # two publishers at once would draw the same version number
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"prompt {name}", project.pk])
    versions = Prompt.objects.filter(project=project, name=name)
    latest = versions.order_by("-version").first()
    if latest and (latest.system, latest.user) == (system, user):
        return latest
    number = (versions.aggregate(top=Max("version"))["top"] or 0) + 1
    return Prompt.objects.create(project=project, name=name, version=number, system=system, user=user)


def plan_job(
    *,
    project: Project,
    name: str,
    kind: Job.Kind,
    endpoint: Endpoint,
    prompt: Prompt,
    dataset: Dataset,
    instrument: Instrument,
    question_codes: Sequence[str] = (),
    personas: Sequence[Mapping[str, Any]] = (),
    created_by: User | None = None,
    **fields: Any,
) -> Job:
    """A job that can be looked at and priced before it is started. `fields` are the Job's other fields.

    Raises QuestionError for unknown question codes and JobError when there is nothing to ask.
    """
    for thing in (endpoint, prompt, dataset, instrument):
        if thing.project_id != project.pk:
            raise JobError(f"{thing} belongs to another project; choose one of {project}.")
    questions = instrument.questionnaire.only(question_codes).questions
    if not dataset.items.exists():
        raise JobError(f"The dataset {dataset} has no items; import some first.")
    for misfit in missing_fields(dataset, questions, most_items=fields.get("max_items")):
        raise JobError(f"{misfit}, which the questions show; choose other questions or another dataset.")
    distinct = [dict(persona) for persona in personas] or [{}]
    if any(persona in distinct[:position] for position, persona in enumerate(distinct)):
        raise JobError("A persona is listed twice; list each once and use samples to ask it more often.")
    return Job.objects.create(
        project=project,
        name=name,
        kind=kind,
        endpoint=endpoint,
        prompt=prompt,
        dataset=dataset,
        instrument=instrument,
        question_codes=list(question_codes),
        personas=distinct,
        created_by=created_by,
        **fields,
    )


@transaction.atomic
def start_job(*, job: Job) -> Job:
    """Write the ledger (one row a call) and set the workers to it. Starting twice changes nothing."""
    claimed = Job.objects.filter(pk=job.pk, status=Job.Status.PLANNED).update(
        status=Job.Status.RUNNING, started_at=timezone.now(), status_reason=""
    )
    if claimed:
        rows = (Call(job=job, **cell) for cell in cells(job))
        while batch := list(islice(rows, INSERT_ROWS)):
            Call.objects.bulk_create(batch)
        enqueue(job)
    job.refresh_from_db()
    return job


@transaction.atomic
def discard_plan(*, job: Job) -> bool:
    """Delete a job that was never started."""
    # Django deletes what it found before by id: without the lock that could be a job that was started meanwhile.
    lock_job(job)
    deleted, _ = Job.objects.filter(pk=job.pk, status=Job.Status.PLANNED).delete()
    return bool(deleted)


def resume_job(*, job: Job) -> bool:
    """Set a paused or stopped job going again; False when it was in neither state."""
    return _set_going(job, Job.Status.PAUSED, Job.Status.STOPPED)


@transaction.atomic
def retry_failed(*, job: Job) -> int:
    """Ask the calls without an answer again, and set the job going; returns how many calls that are.

    Answered calls are never asked again. A job that was not started has none.
    """
    lock_job(job)
    calls = Call.objects.filter(job=job, status__in=FAILED)
    again = calls.update(status=Call.Status.PENDING, problem="", finished_at=None)
    if again:
        _set_going(job, Job.Status.PAUSED, Job.Status.STOPPED, Job.Status.DONE)
    return again


def pause_job(*, job: Job, reason: str = "") -> bool:
    """Let calls in flight finish and start no more."""
    return bool(
        Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(
            status=Job.Status.PAUSED, status_reason=reason[:500], held_until=None
        )
    )


def stop_job(*, job: Job, reason: str) -> bool:
    """End a started job with what it has; calls not yet made stay in the ledger and can be resumed."""
    return bool(
        Job.objects.filter(pk=job.pk, status__in=[Job.Status.RUNNING, Job.Status.PAUSED]).update(
            status=Job.Status.STOPPED, status_reason=reason[:500], held_until=None, finished_at=timezone.now()
        )
    )


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
    for _ in range(runners_wanted(job.endpoint)):
        transaction.on_commit(lambda: current_app.send_task(RUN_SHARD, [job.pk]))


def _set_going(job: Job, *states: Job.Status) -> bool:
    with transaction.atomic():
        changed = Job.objects.filter(pk=job.pk, status__in=states).update(
            status=Job.Status.RUNNING, status_reason="", held_until=None, holds=0, finished_at=None
        )
        if changed:
            enqueue(job)
    return bool(changed)
