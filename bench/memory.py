"""Memory of process trees, read from Linux's /proc while something runs."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.processor import PROC, tree

LOOK_SECONDS = 0.5
MIB = 1024.0  # in the kB that /proc speaks of


class PeakMemory:
    """The most that the process and all below it used together while the block ran, in MiB; NaN without /proc.

    Proportional set size: what processes share is counted once. `largest` is the most that one of them used.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.together = self.largest = 0.0 if (PROC / "self/smaps_rollup").exists() else float("nan")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        parts = [proportional_mib(pid) for pid in tree(self._pid)]
        self.together = max(self.together, sum(parts))
        self.largest = max(self.largest, *parts, 0.0)


def proportional_mib(pid: int) -> float:
    """The process's proportional set size; 0 when it is gone."""
    return _kilobytes(PROC / str(pid) / "smaps_rollup", "Pss:") / MIB


def _kilobytes(path: Path, name: str) -> float:
    try:
        lines = path.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith(name)), 0.0)
