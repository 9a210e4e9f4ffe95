"""Writes to endpoints, prompts and jobs. What happens to single calls is in llm.ledger."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from llm.client import EndpointConfig
from llm.models import Call, Endpoint, Job, Prompt
from llm.planning import cells
from llm.rendering import check_template
from materials.models import Dataset, Instrument
from projects.crypto import decrypt
from projects.models import Project, User

RUN_SHARD = "llm.tasks.run_shard"
SHARDS_AT_ONCE = 2  # tasks started for a job; each claims shard after shard
INSERT_ROWS = 2000


class JobError(ValueError):
    """A job that cannot be planned or started; the text says why and what to do."""


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
    instrument.questionnaire.only(question_codes)
    if not dataset.items.exists():
        raise JobError(f"The dataset {dataset} has no items; import some first.")
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
        batch: list[Call] = []
        for cell in cells(job):
            batch.append(Call(job=job, **cell))
            if len(batch) == INSERT_ROWS:
                Call.objects.bulk_create(batch)
                batch = []
        Call.objects.bulk_create(batch)
        enqueue(job)
    job.refresh_from_db()
    return job


def resume_job(*, job: Job) -> bool:
    """Set a paused or stopped job going again; False when it was in neither state."""
    changed = Job.objects.filter(pk=job.pk, status__in=[Job.Status.PAUSED, Job.Status.STOPPED]).update(
        status=Job.Status.RUNNING, status_reason="", finished_at=None
    )
    if changed:
        enqueue(job)
    return bool(changed)


def pause_job(*, job: Job, reason: str = "") -> bool:
    """Let calls in flight finish and start no more."""
    return bool(
        Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).update(
            status=Job.Status.PAUSED, status_reason=reason[:500]
        )
    )


def stop_job(*, job: Job, reason: str) -> bool:
    """End the job with what it has; calls not yet made stay in the ledger and can be resumed."""
    return bool(
        Job.objects.filter(pk=job.pk, status__in=[Job.Status.PLANNED, Job.Status.RUNNING, Job.Status.PAUSED]).update(
            status=Job.Status.STOPPED, status_reason=reason[:500], finished_at=timezone.now()
        )
    )


def enqueue(job: Job) -> None:
    """Ask the workers for this job once the database has what they will look for.

    By name, because services do not import tasks. A lost message costs nothing: the sweep asks again.
    """
    for _ in range(SHARDS_AT_ONCE):
        transaction.on_commit(lambda: current_app.send_task(RUN_SHARD, [job.pk]))


def endpoint_key(endpoint: Endpoint) -> str:
    """The endpoint's API key, from the environment variable it names or decrypted; empty when it needs none."""
    if endpoint.key_variable:
        if not endpoint.key_variable.startswith(settings.MODEL_KEY_VARIABLE_PREFIX):
            raise JobError(
                f"The key's variable must start with {settings.MODEL_KEY_VARIABLE_PREFIX}, not {endpoint.key_variable}."
            )
        key = os.environ.get(endpoint.key_variable, "")
        if not key:
            raise JobError(
                f"The endpoint {endpoint.name} takes its key from {endpoint.key_variable}, which is not set."
            )
        return key
    return decrypt(endpoint.key_encrypted) if endpoint.key_encrypted else ""


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """The endpoint as the client needs it, with what probing found out."""
    known = {
        name: endpoint.capabilities[name]
        for name in ("token_limit_field", "json_mode", "supports_seed", "system_role")
        if name in endpoint.capabilities
    }
    return EndpointConfig(
        base_url=endpoint.base_url,
        api_key=endpoint_key(endpoint),
        model=endpoint.model,
        timeout_seconds=endpoint.timeout_seconds,
        **known,
    )
