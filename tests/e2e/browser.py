"""Finds Chromium; on a CI machine without one it is installed."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from config import env

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = ("apt-get update", "apt-get install -y --no-install-recommends chromium")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoBrowser(Exception):  # noqa: N818 - the reason for which tests are skipped
    """There is no Chromium here; the text says what to do."""


def find_chromium() -> str:
    """The path of Chromium: CHROMIUM, or the first known name on PATH; with CI=true it is installed when missing.

    Raises NoBrowser without CI, RuntimeError with CI when it cannot be installed.
    """
    if named := os.environ.get("CHROMIUM"):
        if found := shutil.which(named):
            return found
        raise NoBrowser(f"CHROMIUM names {named}, which is not a program.")
    if found := _on_path():
        return found
    if not env.flag("CI", False):
        raise NoBrowser("There is no Chromium on PATH; install one or set CHROMIUM to its path.")
    return _install()


def flags() -> list[str]:
    """Chromium refuses to run its sandbox as root."""
    return [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS


def _on_path() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _install() -> str:
    with (Path(tempfile.gettempdir()) / "concord-install-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes of one test run must not install at once
        for command in INSTALL if not _on_path() else ():
            try:
                subprocess.run(command.split(), check=True, capture_output=True, text=True, timeout=900)
            except (OSError, subprocess.SubprocessError) as error:
                said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
                raise RuntimeError(f"Chromium is missing and `{command}` failed: {said}. Install it first.") from error
    found = _on_path()
    if not found:
        raise RuntimeError("Chromium was installed but is not on PATH; set CHROMIUM to its path.")
    return found
