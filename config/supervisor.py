"""Keeps the processes of one instance together: when one of them ends, or someone asks, all of them end."""

import signal
import time

from config.processes import Child, StartError, last_line, wait_until

STOP_SECONDS = 8.0


class Supervisor:
    """The children of one instance.

    `services` serve the `programs` and are stopped after them. `tasks` may end by themselves; how the one in
    `background` ended is reported.
    """

    def __init__(self) -> None:
        self.services: list[Child] = []
        self.programs: list[Child] = []
        self.tasks: list[Child] = []
        self.background: Child | None = None

    def check(self) -> None:
        """Raise StartError when a child has ended by itself."""
        for child in self.services + self.programs:
            if not child.alive:
                raise StartError(how_it_ended(child))

    def wait(self, child: Child, seconds: float) -> None:
        """Wait for a task to succeed; raises StartError when it fails or one of the others ends."""
        wait_until(lambda: self.checked(not child.alive), seconds)
        if child.alive or child.process.returncode != 0:
            fault = f"{child.name} takes longer than {seconds:g} s (log: {child.log})." if child.alive else ""
            child.stop(timeout=1)
            raise StartError(fault or how_it_ended(child))

    def watch(self) -> None:
        """Return never: raises StartError when a child ends, StopRequested when someone asks."""
        while not wait_until(lambda: self.checked(False), 0.5):
            self._report_background()

    def checked(self, result: bool) -> bool:
        """The result, for use inside `wait_until`; raises StartError when a child has ended meanwhile."""
        self.check()
        return result

    def _report_background(self) -> None:
        task = self.background
        if task is None or task.alive:
            return
        self.background = None
        if task.process.returncode == 0:
            print(f"{task.name}: done.", flush=True)
        else:
            print(how_it_ended(task), flush=True)

    def stop(self) -> None:
        """End every child: tasks and programs together, then the services, the last started first."""
        users = self.tasks + self.programs
        for child in users:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_SECONDS
        for child in users:
            child.stop(timeout=max(deadline - time.monotonic(), 0.1))
        for child in reversed(self.services):
            child.stop(timeout=STOP_SECONDS)


def how_it_ended(child: Child) -> str:
    """One sentence. The log's last line is the reason only when the process itself reported a fault."""
    code = child.process.returncode
    if code < 0:
        return f"{child.name} was ended by {_signal_name(-code)} (log: {child.log})."
    if code == 0:
        return f"{child.name} ended by itself (log: {child.log})."
    reason = last_line(child.log).removeprefix("django.core.exceptions.ImproperlyConfigured: ").rstrip(".")
    return f"{child.name} stopped with exit code {code}: {reason or 'it said nothing'} (log: {child.log})."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"
