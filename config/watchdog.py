"""Ends a process whose parent is gone. A kernel that tells children of it (Linux) is not enough: the signal can be lost
in a worker that waits for a broker that died at the same moment, and grandchildren never get it.
"""

import os
import signal
import threading
import time
from typing import Any

SERVE_PID = "CONCORD_SERVE_PID"
LOOK_SECONDS = 0.5
# Enough for a web server or a worker to end by itself.
GRACE_SECONDS = 4.0


def end_with_serve(*_: Any, **__: Any) -> None:
    """For the processes that `serve` starts; elsewhere, where SERVE_PID is not set, nothing happens."""
    if pid := os.environ.get(SERVE_PID):
        _watch(int(pid), GRACE_SECONDS)


def end_with_worker(**_: Any) -> None:
    """For the processes that a Celery worker forks: a worker that is killed cannot end them."""
    _watch(os.getppid(), 0)


def _watch(parent: int, grace: float) -> None:
    threading.Thread(target=_kill_without, args=(parent, grace), daemon=True, name="watchdog").start()


def _kill_without(parent: int, grace: float) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    time.sleep(grace)
    os.kill(os.getpid(), signal.SIGKILL)
