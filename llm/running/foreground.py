"""Does the work of jobs in the process that asks for it, beside workers or without any, and shows how it goes."""

import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from django.db import connections

from llm.models import Job
from llm.querysets import Progress, job_progress
from llm.running import ledger
from llm.services import pause_job
from llm.shell import progress_line
from llm.tasks import run_shard, step_batches

LOOK_SECONDS = 0.5
STEP_SECONDS = 5.0  # between looks at a batch
LINE_SECONDS = 5.0  # between the lines of a log
BAR_CHARACTERS = 24
PAUSED_HERE = "Paused from the shell."


class Display:
    """A bar that is redrawn in a terminal; elsewhere a line every few seconds."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._shown_at = float("-inf")
        self._reason = ""

    def show(self, job: Job, progress: Progress) -> None:
        if job.status_reason and job.status_reason != self._reason:
            self.say(job.status_reason)
        self._reason = job.status_reason
        if self._terminal:
            done = BAR_CHARACTERS * progress.settled // progress.total if progress.total else BAR_CHARACTERS
            bar = f"[{'#' * done}{'.' * (BAR_CHARACTERS - done)}] {progress_line(progress)}"
            self._write(f"\r\x1b[K{bar[: shutil.get_terminal_size().columns - 1]}")
        elif time.monotonic() - self._shown_at >= LINE_SECONDS:
            self._shown_at = time.monotonic()
            self.say(progress_line(progress))

    def say(self, sentence: str) -> None:
        self._write(f"\r\x1b[K{sentence}\n" if self._terminal else f"{sentence}\n")

    def end(self) -> None:
        if self._terminal:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def work(job: Job, *, display: Display, workers: bool = False) -> Job:
    """Ask the job's calls until none is left or it is halted, and return it as it is then.

    `workers`: leave the asking to them and only watch. Ctrl-C pauses the job; calls in flight finish. Whoever else asks
    calls of the job at the same time shares them, and what a killed process held comes back when its lease runs out.
    """
    asking = threading.Thread(target=_ask, args=[job.pk], name=f"job {job.pk}", daemon=True)
    if not workers:
        asking.start()
    try:
        _watch(job, display, lambda: workers or asking.is_alive())
    except KeyboardInterrupt:
        _pause(job, display, asking)
    display.end()
    return _fresh(job)


def _ask(job_id: int) -> None:
    try:
        while job := Job.objects.filter(pk=job_id, status=Job.Status.RUNNING).first():
            ledger.release_abandoned()
            ask, seconds = (run_shard, LOOK_SECONDS) if job.way == Job.Way.LIVE else (step_batches, STEP_SECONDS)
            ask(job_id)
            if not ledger.finish_if_done(job):
                time.sleep(seconds)  # others hold the rest, or the server is waited for
    finally:
        connections.close_all()


def _watch(job: Job, display: Display, alive: Callable[[], bool]) -> None:
    while True:
        going, now = alive(), _fresh(job)
        display.show(now, job_progress(now))
        if now.status != Job.Status.RUNNING or not going:
            return
        time.sleep(LOOK_SECONDS)


def _pause(job: Job, display: Display, asking: threading.Thread) -> None:
    pause_job(job=job, reason=PAUSED_HERE)
    display.say("Pausing: calls in flight finish. Ctrl-C again leaves them; then they are asked again later.")
    try:
        while asking.is_alive():
            asking.join(LOOK_SECONDS)
    except KeyboardInterrupt:
        display.say("Left.")


def _fresh(job: Job) -> Job:
    return Job.objects.select_related("endpoint", "project", "dataset", "instrument").get(pk=job.pk)
