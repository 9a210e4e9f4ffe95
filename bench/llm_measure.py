"""One job from "run" to its last stored answer: seconds, processor seconds of each process, memory, requests."""

import os
import time
from dataclasses import dataclass
from typing import Any

import redis

from bench.llm_path import CEILING, PERSONAS, ModelServer, Site
from bench.memory import PeakMemory
from bench.processor import tree_seconds
from config.processes import Child, StartError, last_line, wait_until
from llm.models import Call, Job
from llm.services import start_job
from protocols.pact.instruments import MODEL_QUESTION_CODES
from responses.models import Response, SourceKind


@dataclass(frozen=True)
class Spent:
    """Processor seconds; NaN for worker and PostgreSQL where there is no /proc. `start` is what "run" costs itself."""

    worker: float
    postgres: float
    valkey: float
    start: float

    @property
    def total(self) -> float:
        return self.worker + self.postgres + self.valkey + self.start

    def per_thousand(self, calls: int) -> str:
        parts = ((name, 1000 * getattr(self, name) / calls) for name in ("worker", "postgres", "valkey", "start"))
        return ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts)


@dataclass(frozen=True)
class Run:
    """A finished job. `memory`: MiB of the worker with all its processes, `largest`: of the largest of them."""

    job: int
    calls: int
    seconds: float
    spent: Spent
    memory: float
    largest: float
    server: dict[str, Any]

    @property
    def rate(self) -> float:
        return self.calls / self.seconds

    @property
    def per_thousand(self) -> float:
        return 1000 * self.spent.total / self.calls

    def __str__(self) -> str:
        return (
            f"{self.rate:,.0f} calls/s ({self.rate / CEILING:.0%} of the ceiling; {self.calls:,} calls, "
            f"{self.seconds:.1f} s, at most {self.server['most_in_flight']} in flight); processor s per 1,000 calls "
            f"{self.per_thousand:.2f} ({self.spent.per_thousand(self.calls)}); worker {self.memory:,.0f} MiB "
            f"(its largest process {self.largest:,.0f})"
        )


def run(site: Site, worker: Child, server: ModelServer, *, calls: int) -> Run:
    """Plan the job, start it and wait until it is done. Raises StartError when not every call was answered once.

    `calls` is a multiple of the personas.
    """
    job = site.plan(server, items=calls // len(PERSONAS))
    before = _processor(site, worker)
    started = time.perf_counter()
    with PeakMemory(worker.process.pid) as memory:
        used = start(job)
        wait_until_done(job, worker, calls=calls)
        seconds = time.perf_counter() - started
    pairs = zip(before, _processor(site, worker), strict=True)
    of_worker, of_postgres, of_valkey = (after - earlier for earlier, after in pairs)
    check_answers(job, calls)
    return Run(
        job.pk,
        calls,
        seconds,
        Spent(of_worker, of_postgres, of_valkey, used),
        memory.together,
        memory.largest,
        server.figures(),
    )


def start(job: Job) -> float:
    """Press "run"; returns the processor seconds that it took in this process."""
    before = time.process_time()
    start_job(job=job)
    return time.process_time() - before


def wait_until_done(job: Job, worker: Child, *, calls: int) -> None:
    """Raises StartError when the job ends in another way, or takes longer than any figure is worth."""
    most = 180 + 30 * calls / CEILING
    states: list[str] = []

    def over() -> bool:
        states.append(Job.objects.values_list("status", flat=True).get(pk=job.pk))
        return states[-1] != Job.Status.RUNNING or not worker.alive

    wait_until(over, most)
    if states[-1] != Job.Status.DONE:
        job.refresh_from_db()
        said = job.status_reason or last_line(worker.log)
        raise StartError(f"The job {job} is {job.status} instead of done: {said}")


def check_answers(job: Job, calls: int) -> None:
    """Every call answered, every answer stored once. Raises StartError: the figures would be of something else."""
    answered = Call.objects.filter(job=job, status=Call.Status.OK, reused_from=None).count()
    stored = Response.objects.filter(
        project=job.project, source_kind=SourceKind.CALL, source_id__in=Call.objects.filter(job=job).values("pk")
    ).count()
    if (answered, stored) != (calls, calls * len(MODEL_QUESTION_CODES)):
        raise StartError(f"{answered:,} of {calls:,} calls were answered and {stored:,} answers stored.")


def _processor(site: Site, worker: Child) -> tuple[float, float, float]:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        used = client.info("cpu")
    valkey = sum(float(used[name]) for name in ("used_cpu_user", "used_cpu_sys"))
    return tree_seconds(worker.process.pid), tree_seconds(site.postgres.process.pid), valkey
