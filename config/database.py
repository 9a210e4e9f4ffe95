"""DATABASE_URL to Django's settings: postgresql://user:password@host:port/name, or ?host=/socket/folder."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def database_settings(url: str, statement_seconds: int = 0) -> dict[str, Any]:
    """Raises ImproperlyConfigured, without the password, for an address that is none.

    The server ends a statement that takes longer than `statement_seconds`; 0 sets no limit.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(
            "The port or the brackets in DATABASE_URL are wrong; it must look like "
            "postgresql://user:password@host:5432/name, with special characters of the password written as %XX."
        ) from error
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in {"postgres", "postgresql"} or not name:
        raise ImproperlyConfigured("DATABASE_URL must look like postgresql://user:password@host:5432/name.")
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    host, port_text = query.pop("host", ""), query.pop("port", "")
    if port_text and not port_text.isdigit():
        raise ImproperlyConfigured("The port in DATABASE_URL must be a number, for example 5432.")
    if statement_seconds:
        query["options"] = f"{query.get('options', '')} -c statement_timeout={statement_seconds}s".strip()
    return {
        "ENGINE": "config.postgres",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host or unquote(parts.hostname or ""),
        "PORT": str(port or port_text),
        "OPTIONS": query,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
