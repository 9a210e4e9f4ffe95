"""Who works on a row for minutes, which is longer than a transaction should last."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(what: str, pk: int) -> Iterator[bool]:
    """Whether nobody else works on `what` with this key.

    The lock goes with the connection, and so with a killed worker: a row under way on which nobody works was left
    behind.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s), %s)", [what, pk])
        (held,) = cursor.fetchone()
    try:
        yield held
    finally:
        if held:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", [what, pk])
