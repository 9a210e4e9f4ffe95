"""How the death of a process is told."""

from pathlib import Path

import pytest

from config.processes import StartError, start, wait_until
from config.supervisor import Supervisor, how_it_ended


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo is ready on 1; kill -KILL $$", "Trial was ended by SIGKILL (log: {log})."),
        ("echo is ready on 1", "Trial ended by itself (log: {log})."),
        ("echo The disk is full.; exit 3", "Trial stopped with exit code 3: The disk is full (log: {log})."),
        (
            "echo django.core.exceptions.ImproperlyConfigured: Set X.; exit 1",
            "Trial stopped with exit code 1: Set X (log: {log}).",
        ),
        ("exit 1", "Trial stopped with exit code 1: it said nothing (log: {log})."),
    ],
)
def test_the_last_line_is_the_reason_only_of_a_fault(tmp_path: Path, script: str, expected: str) -> None:
    log = tmp_path / "trial.log"
    child = start("Trial", ["sh", "-c", script], log=log)
    assert wait_until(lambda: not child.alive, 30)
    assert how_it_ended(child) == expected.format(log=log)
    supervisor = Supervisor()
    supervisor.programs.append(child)
    with pytest.raises(StartError, match=r"^Trial "):
        supervisor.check()


def test_a_task_that_takes_too_long_is_ended_and_said(tmp_path: Path) -> None:
    child = start("Trial", ["sleep", "60"], log=tmp_path / "trial.log")
    with pytest.raises(StartError, match=r"^Trial takes longer than 0\.1 s \(log: "):
        Supervisor().wait(child, 0.1)
    assert not child.alive
