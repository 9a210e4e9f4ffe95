"""Celery tasks: one claims calls of a job and asks them, one looks for work that nobody does."""

import asyncio
import multiprocessing
import uuid
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from math import ceil
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from celery import shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from django.core.cache import cache
from django.db import close_old_connections, connections, transaction
from django.utils import timezone
from redis.asyncio import BlockingConnectionPool, Redis

from llm import services
from llm.batches import steps
from llm.models import Job
from llm.querysets import mark_rate
from llm.running import ledger
from llm.running.kept_replies import KeptReplies
from llm.running.limits import CircuitBreaker
from llm.running.preparing import find_answered
from llm.running.reservations import Reservations
from llm.running.runner import Hooks, Pace, Runner
from llm.running.slots import EndpointSlots
from llm.servers.endpoint_config import EndpointConfig
from projects.crypto import DecryptionError

TASK_SECONDS = 120.0  # after this a task asks for a successor, so that long jobs share the workers with others
BEATS_A_LEASE = 6
SLOT_SECONDS = 20.0  # a killed worker's places, and what only it was asking, are free again after so long
REDIS_CONNECTIONS = 8
SWEPT, SWEPT_SECONDS = "llm:swept:{}", 60
FIRST_CRASH_HOLD_SECONDS, LONGEST_CRASH_HOLD_SECONDS = 5, 300

# Made before the pool forks, so that its processes see when their parent is asked to leave and give back their calls.
_leaving = multiprocessing.Event()


@worker_shutting_down.connect
def _tell_the_pool(**_: Any) -> None:
    _leaving.set()


@shared_task
def run_shard(job_id: int) -> None:
    """Ask the job's calls until none is left, the job is halted, or the task's time is over."""
    cache.delete(SWEPT.format(job_id))
    related = ("endpoint", "instrument", "dataset", "project")
    job = Job.objects.select_related(*related).filter(pk=job_id).first()
    if job is None or not ledger.wants_runner(job):
        return
    try:
        endpoint = services.endpoint_config(job.endpoint)
    except (services.EndpointError, DecryptionError) as error:
        services.pause_job(job=job, reason=str(error))
        return
    shard = uuid.uuid4()
    starved = False
    _ = job.grid  # costs a query, which an event loop must not make
    try:
        with _thread_of_its_own() as settling:
            starved = async_to_sync(_run)(job, endpoint, shard, settling)
    except Exception as error:
        _hold_after(error, job)
        raise
    finally:
        ledger.release(shard)
    # A runner that found nothing to claim leaves the rest to those who hold it, and to the sweep.
    if not ledger.finish_if_done(job) and not starved and ledger.wants_runner(job):
        run_shard.delay(job_id)


@shared_task
def step_batches(job_id: int) -> None:
    """Take a job that is asked by the Batch API one step on."""
    try:
        steps.step(job_id)
    except Exception as error:
        close_old_connections()
        _hold_after(error, Job.objects.get(pk=job_id))
        raise


@shared_task
def sweep() -> int:
    """Give back abandoned calls and set workers to jobs that nobody works on; returns how many jobs that were.

    A job that waits for a free worker is not asked for again and again: a mark beside the messages, which is lost
    with them and goes when one is taken up, says that it was.
    """
    lost_a_runner = ledger.release_abandoned()
    steps.enqueue_steps()
    waiting = ledger.jobs_to_sweep().select_related("endpoint")
    jobs = [job for job in waiting if cache.add(SWEPT.format(job.pk), 1, timeout=SWEPT_SECONDS)]
    for job in jobs:
        with transaction.atomic():
            services.enqueue(job)
    for pk in lost_a_runner.difference(job.pk for job in jobs):  # another runner of the job lives on
        run_shard.delay(pk)
    for job in Job.objects.filter(status=Job.Status.RUNNING):
        ledger.finish_if_done(job)
    return len(jobs)


def _hold_after(error: Exception, job: Job) -> None:
    """Wait briefly at first, since a connection that was cut is made anew, and longer each time that does not help."""
    close_old_connections()  # one that was cut would keep what is held here until its lease runs out
    seconds = min(LONGEST_CRASH_HOLD_SECONDS, FIRST_CRASH_HOLD_SECONDS * 2 ** min(job.holds, 10))
    reason = f"A worker failed: {_in_words(error)}."
    services.hold_job(job=job, reason=reason, wait=timedelta(seconds=seconds), holds=job.holds + 1)


def _in_words(error: BaseException) -> str:
    """The first cause within groups of exceptions, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


async def _run(job: Job, endpoint: EndpointConfig, shard: uuid.UUID, settling: Executor) -> bool:
    """Ask until the runner stops; whether it stopped because nothing was left to claim."""
    breaker = CircuitBreaker(threshold=max(2, min(10, job.max_attempts - 1)), openings=job.holds)
    pool = BlockingConnectionPool.from_url(settings.REDIS_URL, max_connections=REDIS_CONNECTIONS, timeout=None)
    async with Redis.from_pool(pool) as redis:
        slots = EndpointSlots(
            redis,
            endpoint_id=job.endpoint_id,
            concurrency=job.endpoint.concurrency,
            per_minute=job.endpoint.requests_per_minute,
            tokens_per_minute=job.endpoint.tokens_per_minute,
            seconds=SLOT_SECONDS,
        )
        runner = Runner(
            job=job,
            endpoint=endpoint,
            slots=slots,
            hooks=_hooks(job, shard, settling),
            reservations=Reservations(redis, project_id=job.project_id, seconds=SLOT_SECONDS),
            kept=KeptReplies(redis, job_id=job.pk),
            breaker=breaker,
            pace=await sync_to_async(_pace)(job, joining=1),
            seconds=TASK_SECONDS,
        )
        await runner.run()
    halt = runner.halt
    if halt is None or not halt.reason:
        return runner.starved
    if halt.retry_seconds is None:
        reason = f"Paused, because every call would end like this: {halt.reason} Mend the endpoint, then resume."
        await sync_to_async(services.pause_job)(job=job, reason=reason)
    else:
        wait = timedelta(seconds=halt.retry_seconds)
        reason = f"The endpoint is not working: {halt.reason}"
        await sync_to_async(services.hold_job)(job=job, reason=reason, wait=wait, holds=breaker.openings)
    return False


def _pace(job: Job, *, joining: int = 0) -> Pace:
    """The endpoint's places, shared among the runners that hold calls of the job and those that are joining them."""
    places = job.endpoint.concurrency
    return Pace(places, ceil(places / max(1, ledger.live_shards(job) + joining)))


@contextmanager
def _thread_of_its_own() -> Iterator[Executor]:
    """For settling, so that it does not queue behind claims; with a database connection that ends with it."""
    with ThreadPoolExecutor(1, thread_name_prefix="settling") as executor:
        try:
            yield executor
        finally:
            executor.submit(connections.close_all).result()


def _hooks(job: Job, shard: uuid.UUID, settling: Executor) -> Hooks:
    lease_extended = timezone.now()

    def beat(answered: bool) -> Pace:
        nonlocal lease_extended
        if timezone.now() - lease_extended > ledger.lease() / BEATS_A_LEASE:
            ledger.extend_lease(shard)
            lease_extended = timezone.now()
        if answered:
            services.note_recovery(job=job)
        mark_rate(job.pk)
        now = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING).select_related("endpoint").first()
        if now is None or _leaving.is_set():
            return Pace(job.endpoint.concurrency, 0)
        job.budget_calls, job.budget_tokens, job.budget_price = now.budget_calls, now.budget_tokens, now.budget_price
        return _pace(now)

    return Hooks(
        claim=sync_to_async(lambda size: ledger.claim(job, shard, size=size)),
        settle=lambda outcomes, used: asyncio.get_running_loop().run_in_executor(
            settling, ledger.settle, job, shard, outcomes, used
        ),
        beat=sync_to_async(beat),
        find_answered=sync_to_async(lambda fingerprints: find_answered(job, fingerprints)),
    )
