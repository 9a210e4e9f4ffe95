"""A pytest plugin (`-p tests.services`): real PostgreSQL and Valkey for the run, unless the environment names them.

It acts when it is imported, which is before Django reads its settings. Workers of pytest-xdist inherit the addresses;
each has its own database (pytest-django) and its own numbered Valkey database (here).
"""

import atexit
import os
import signal
from urllib.parse import urlsplit, urlunsplit

from config.embedded import start_postgres, start_valkey
from config.temporary import temporary_folder


def _hear_interrupts() -> None:
    """A shell that starts a run in the background has its programs, and theirs, ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _start() -> None:
    folder = temporary_folder("tests")
    if not os.environ.get("DATABASE_URL"):
        postgres = start_postgres(folder / "postgres", folder / "postgres.log", durable=False)
        atexit.register(postgres.stop)
        os.environ["DATABASE_URL"] = postgres.url
        os.environ["CONCORD_TESTS_OWN_POSTGRES"] = "1"  # where the tests may do everything
    if not os.environ.get("REDIS_URL"):
        valkey = start_valkey(folder / "valkey.log")
        atexit.register(valkey.stop)
        os.environ["REDIS_URL"] = valkey.url
        os.environ["CONCORD_TESTS_OWN_VALKEY"] = "1"  # so that tests may empty it


def _use_own_valkey_database(worker: str) -> None:
    parts = urlsplit(os.environ["REDIS_URL"])
    number = int(worker.removeprefix("gw")) + 1
    os.environ["REDIS_URL"] = urlunsplit(parts._replace(path=f"/{number % 16}"))


_hear_interrupts()
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    _use_own_valkey_database(worker)
else:
    _start()
