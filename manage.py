#!/usr/bin/env python
"""Concord's commands. `manage.py serve` brings everything up; the rest are Django's and the apps' own."""

import os
import signal
import sys


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has only an older Python shall read why nothing starts
        sys.exit(f"Concord needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    if sys.platform == "win32":
        sys.exit("Concord runs on Linux and macOS; on Windows use WSL or Docker (docker compose up).")
    try:
        from django.core.exceptions import ImproperlyConfigured
    except ModuleNotFoundError:
        sys.exit("Concord's packages are not installed in this Python; `make demo` installs them into .venv.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    if sys.argv[1:2] == ["serve"]:
        # Until `serve` listens for it there is nothing that Ctrl-C would have to stop.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Settings need the services' addresses, so `serve` starts the services before Django.
        from config.serve import main as serve

        return serve(sys.argv[2:])
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(f"manage.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
