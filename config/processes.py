"""Child processes that never outlive the one that started them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROTATE_ABOVE_BYTES = 5 * 1024 * 1024
PR_SET_PDEATHSIG = 1
ROOT = Path(__file__).resolve().parents[1]


class StopRequested(Exception):  # noqa: N818 - a request, not an error
    """Someone pressed Ctrl-C, closed the terminal or sent SIGTERM."""


class StartError(Exception):
    """Something could not be started; the text is one sentence for the person at the terminal."""


@dataclass
class Child:
    """A running process. `stop_signal` asks it to finish what it does and leave."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ask_to_stop(self) -> None:
        if self.alive:
            self.process.send_signal(self.stop_signal)

    def stop(self, timeout: float = 10.0) -> None:
        """Ask, wait up to `timeout` seconds, then kill the whole process group. Safe to call twice."""
        self.ask_to_stop()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout)
        with suppress(ProcessLookupError, PermissionError):  # the group is empty, as it should be
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(
    name: str,
    command: Sequence[object],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bytes = b"",
    user: int | None = None,
    stop_signal: signal.Signals = signal.SIGTERM,
) -> Child:
    """Start a process in a group of its own, its output appended to `log`, `stdin` written to it and closed.

    A group of its own keeps Ctrl-C in the terminal away from it: the parent decides the order in which children stop.
    On Linux the kernel sends `stop_signal` when the parent dies, however it dies; see config/watchdog.py for what that
    leaves running.
    """
    with _open_log(log) as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            process_group=0,
            preexec_fn=_in_child(stop_signal),  # noqa: PLW1509 - a few system calls, no lock
        )
    if process.stdin:
        process.stdin.write(stdin)
        process.stdin.close()
    return Child(name, process, log, stop_signal)


def python(name: str, *arguments: object, log: Path, env: Mapping[str, str], stop: str = "SIGTERM") -> Child:
    """Start this Python on the project: `python("Beat", "-m", "celery", ...)`."""
    return start(name, [sys.executable, *arguments], log=log, env=env, cwd=ROOT, stop_signal=signal.Signals[stop])


def _open_log(log: Path) -> IO[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > ROTATE_ABOVE_BYTES:
        log.replace(log.with_suffix(".1.log"))
    return open(log, "ab", opener=lambda path, flags: os.open(path, flags, 0o600))


def _in_child(number: signal.Signals) -> Callable[[], None]:
    """What a child does first: obey its stop signal again, and on Linux get it when the parent dies."""
    # Loaded before the fork: a forked child must not take the loader's locks.
    prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(number, signal.SIG_DFL)  # a shell's background job inherits SIGINT and SIGQUIT as ignored
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
            if os.getppid() != parent:  # it died between fork and prctl
                os._exit(1)

    return prepare


_stop_asked: list[int] = []


def stop_on_signals() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP make the next or current `wait_until` raise StopRequested.

    The handler itself raises nothing: an exception between fork and bookkeeping would lose a child.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, frame: _stop_asked.append(received))


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true within this time. Raises StopRequested when someone asks to stop."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if _stop_asked:
            raise StopRequested
        if condition():
            return True
        time.sleep(0.05)
    return False


def last_line(log: Path, containing: str = "") -> str:
    """The last line of a log that holds this text; empty when there is none."""
    if not log.exists():
        return ""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line and containing in line), "")
