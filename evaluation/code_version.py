"""Which code computed a report."""

import platform
import subprocess
from functools import cache
from importlib.metadata import version

from django.conf import settings


@cache
def code_version() -> str:
    """The commit by `git describe`, with "-dirty" for changed files; the release's number where there is no git."""
    command = ["git", "describe", "--always", "--dirty", "--tags"]
    try:
        told = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return str(settings.VERSION)
    return f"{settings.VERSION} ({told.stdout.strip()})"[:60]


def library_versions() -> dict[str, str]:
    """Python and the libraries on which a report's numbers and figures rest, by name."""
    names = ("altair", "evalica", "numpy", "pandas", "pydantic", "scipy", "statsmodels")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}
