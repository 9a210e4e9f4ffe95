"""Folders in /tmp: removed when their process ends, and by the next start when it was killed."""

import os
import subprocess
import sys
from pathlib import Path

from config.processes import ROOT
from config.temporary import temporary_folder

MAKE = "from config.temporary import temporary_folder; print(temporary_folder('trial'), flush=True); "


def _run(code: str) -> Path:
    """The folder that a process made, which has ended."""
    result = subprocess.run([sys.executable, "-c", MAKE + code], cwd=ROOT, capture_output=True, text=True, check=False)
    return Path(result.stdout.strip())


def test_it_goes_with_its_process() -> None:
    assert not _run("").exists()


def test_what_a_killed_process_left_is_removed_and_nothing_else() -> None:
    left = _run("import os; os.kill(os.getpid(), 9)")
    assert left.stat().st_mode & 0o777 == 0o700
    ended = left.name.split("-")[2]
    others = [left.with_name(name) for name in (f"concord-trial-{ended}-notes", f"concord-trial-x{ended}-abcdefgh")]
    for other in others:
        other.mkdir()
    used = temporary_folder("trial")
    try:
        assert not left.exists()
        assert all(other.exists() for other in others)
        temporary_folder("trial").rmdir()
        assert used.exists()
        assert used.name.startswith(f"concord-trial-{os.getpid()}-")
    finally:
        for folder in (*others, used):
            folder.rmdir()
