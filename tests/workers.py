"""Real Celery workers, forked from a process that has imported the packages: each would take seconds to import them."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from config.watchdog import SERVE_PID

# Packages only: our own modules read the environment when they are imported.
PACKAGES = [
    "celery.apps.worker",
    "celery.bin.celery",
    "django.forms",
    "markdown_it",
    "openai",
    "psycopg",
    "redis.asyncio",
]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(PACKAGES)


@dataclass
class Worker:
    """A running worker, which leads a process group of its own."""

    process: BaseProcess
    log: Path

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    @property
    def text(self) -> str:
        """What it has logged so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def leave(self, timeout: float) -> None:
        """Ask it to finish what it does and leave, and wait for that up to `timeout` seconds."""
        self.process.terminate()
        self.process.join(timeout)

    def kill(self) -> None:
        """Kill it and its pool. Safe to call when it has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join()


def start_worker(arguments: Sequence[str], *, environment: Mapping[str, str], log: Path) -> Worker:
    """`celery worker` with these arguments and this environment, its output in `log`; it may not be ready yet."""
    process = CONTEXT.Process(target=_become_worker, args=(arguments, dict(environment), log))
    process.start()
    return Worker(process, log)


def _become_worker(arguments: Sequence[str], environment: dict[str, str], log: Path) -> None:
    os.setpgid(0, 0)
    with log.open("ab") as output:
        os.dup2(output.fileno(), sys.stdout.fileno())
        os.dup2(output.fileno(), sys.stderr.fileno())
    os.environ.clear()
    # The parent is the process that forks, which ends with the test run.
    os.environ.update(environment | {SERVE_PID: str(os.getppid())})
    from config.celery import app

    app.worker_main(["worker", *arguments])
