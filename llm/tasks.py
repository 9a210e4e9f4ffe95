"""Celery tasks: one claims shards of a job and runs them, one looks for work that nobody does."""

import time
import uuid
from datetime import timedelta

from asgiref.sync import async_to_sync, sync_to_async
from celery import shared_task
from django.conf import settings
from django.utils import timezone
from redis.asyncio import Redis

from llm import ledger, services
from llm.client import EndpointConfig
from llm.limits import AdaptiveConcurrency, CircuitBreaker
from llm.models import Call, Job
from llm.runner import Hooks, Shard
from llm.slots import EndpointSlots
from projects.crypto import DecryptionError

SHARD_CALLS = 200
TASK_SECONDS = 120  # after this a task asks for a successor, so that long jobs share the workers with others


@shared_task
def run_shard(job_id: int) -> None:
    """Claim and run shards of the job until nothing is left, the job is halted, or the task's time is over."""
    deadline = time.monotonic() + TASK_SECONDS
    while True:
        job = Job.objects.select_related("endpoint", "prompt", "instrument", "dataset", "project").get(pk=job_id)
        if job.status != Job.Status.RUNNING:
            return
        try:
            endpoint = services.endpoint_config(job.endpoint)
        except (services.JobError, DecryptionError) as error:
            services.pause_job(job=job, reason=str(error))
            return
        shard_id, calls = ledger.claim(job, size=SHARD_CALLS)
        if not calls:
            ledger.finish_if_done(job)
            return
        try:
            shard = async_to_sync(_run)(job, endpoint, shard_id, calls)
        except BaseException:
            ledger.release(shard_id)
            raise
        ledger.release(shard_id, not_before=shard.retry_in)
        _say_whether_down(job, shard)
        if shard.down:
            return
        if time.monotonic() > deadline:
            run_shard.delay(job_id)
            return


@shared_task
def sweep() -> int:
    """Set workers to running jobs whose calls nobody holds; returns how many jobs that were."""
    jobs = ledger.jobs_to_sweep()
    for job in jobs:
        run_shard.delay(job.pk)
    return len(jobs)


async def _run(job: Job, endpoint: EndpointConfig, shard_id: uuid.UUID, calls: list[Call]) -> Shard:
    def heartbeat() -> bool:
        ledger.extend_lease(shard_id)
        return Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).exists()

    def find_answered(fingerprints: list[str]) -> dict[str, Call]:
        found = Call.objects.filter(
            fingerprint__in=fingerprints, status=Call.Status.OK, reused_from=None, job__project_id=job.project_id
        )
        return {call.fingerprint: call for call in found.order_by("-id")}

    async with Redis.from_url(settings.REDIS_URL) as redis:
        shard = Shard(
            job=job,
            endpoint=endpoint,
            shard=shard_id,
            calls=calls,
            slots=EndpointSlots(
                redis,
                endpoint_id=job.endpoint_id,
                concurrency=job.endpoint.concurrency,
                per_minute=job.endpoint.requests_per_minute,
                seconds=endpoint.timeout_seconds + 30,
            ),
            hooks=Hooks(
                settle=lambda outcomes: sync_to_async(ledger.settle)(job, shard_id, outcomes),
                heartbeat=sync_to_async(heartbeat),
                find_answered=sync_to_async(find_answered),
            ),
            concurrency=AdaptiveConcurrency(job.endpoint.concurrency),
            breaker=CircuitBreaker(threshold=max(2, min(10, job.max_attempts - 1))),
        )
        await shard.run()
    return shard


def _say_whether_down(job: Job, shard: Shard) -> None:
    """The reason stands on the job's page while the endpoint is down, and goes when it answers again."""
    running = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING)
    if shard.down:
        again = timezone.now() + timedelta(seconds=shard.retry_in.total_seconds())
        running.update(
            status_reason=f"The endpoint does not answer ({shard.down[:300]}) Trying again at {again:%H:%M:%S} UTC."
        )
    else:
        running.exclude(status_reason="").update(status_reason="")
