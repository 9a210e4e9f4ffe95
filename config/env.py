"""Strict readers of environment variables: a missing or unknown value ends in one sentence that says what to set."""

import base64
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
MAKE_FERNET_KEY = (
    "make one with python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
)


def text(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return default


def flag(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in TRUE | FALSE:
        return value in TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}; set it to true or false.")


def integer(name: str, default: int, *, minimum: int = 0) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if value.isdigit() and int(value) >= minimum:
        return int(value)
    raise ImproperlyConfigured(f"{name} is {value!r}; set it to a whole number of at least {minimum}.")


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def fernet_keys(name: str) -> list[str]:
    """A comma-separated list of Fernet keys; the sentence about a wrong one does not repeat it."""
    keys = words(name)
    for place, key in enumerate(keys, start=1):
        if not _is_fernet_key(key):
            raise ImproperlyConfigured(
                f"{name}: key {place} of {len(keys)} is not a Fernet key (32 random bytes in URL-safe base64); "
                f"{MAKE_FERNET_KEY}."
            )
    return keys


def _is_fernet_key(key: str) -> bool:
    try:
        return len(base64.urlsafe_b64decode(key)) == 32
    except ValueError:
        return False


def var_dir() -> Path:
    """Where a running instance keeps its data, logs and secrets: CONCORD_VAR, or `var` beside manage.py."""
    return Path(os.environ.get("CONCORD_VAR") or Path(__file__).resolve().parents[1] / "var").absolute()
