"""Services of the benchmark's own, in a folder that is thrown away: nobody's data is read or written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded import free_port, start_postgres, start_valkey
from config.healthcheck import problem
from config.processes import ROOT, Child, StartError, last_line, python, wait_until
from config.temporary import temporary_folder

WEB_PROCESSES = 2
READY_SECONDS = 60.0


@contextmanager
def private_services() -> Iterator[Child]:
    """PostgreSQL (durable, as `serve` starts it) and Valkey, migrated, with Django set up on them; yields PostgreSQL.

    What the environment says about services is replaced, for this process and its children.
    """
    folder = temporary_folder("bench")
    started: list[Child] = []
    try:
        valkey = start_valkey(folder / "valkey.log")
        started.append(valkey.child)
        postgres = start_postgres(folder / "postgres", folder / "postgres.log")
        started.append(postgres.child)
        os.environ |= {
            "CONCORD_VAR": str(folder),
            "DATABASE_URL": postgres.url,
            "REDIS_URL": valkey.url,
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
            "ALLOWED_HOSTS": "127.0.0.1",
            "CONCORD_MODEL_BASE_URL": "",  # the demo without its model: no address outside this machine is asked
        }
        _prepare(folder)
        yield postgres.child
    finally:
        for child in reversed(started):
            child.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def web_server(folder: Path) -> Iterator[tuple[str, Child]]:
    """gunicorn on a loopback port with the settings that `serve` uses; yields its address and its master process."""
    port = free_port()
    arguments = ["-m", "gunicorn", "--config", ROOT / "config" / "gunicorn.py", "--bind", f"127.0.0.1:{port}"]
    web = python("gunicorn", *arguments, f"--workers={WEB_PROCESSES}", log=folder / "web.log", env=os.environ)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: not web.alive or not problem(f"{url}/readyz"), READY_SECONDS)
        if not web.alive or problem(f"{url}/readyz"):
            raise StartError(f"The web server is not ready: {last_line(web.log)}.")
        yield url, web
    finally:
        web.stop(timeout=1)  # nobody waits for its answers any more


def _prepare(folder: Path) -> None:
    """In a process of its own, as `serve` does it: migrations and static files."""
    child = python("config.prepare", "-m", "config.prepare", log=folder / "prepare.log", env=os.environ)
    wait_until(lambda: not child.alive, READY_SECONDS)
    child.stop()
    if child.process.returncode != 0:
        raise StartError(f"The database could not be prepared: {last_line(child.log)}.")

    import django

    django.setup()
