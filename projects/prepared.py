"""Statements that the database prepares, for pages that are asked for all day long."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor

PREPARE_AFTER = 5  # times that a connection has had a statement


@contextmanager
def prepared_statements() -> Iterator[None]:
    """A context, or a decorator, in which a statement goes to the server apart from its values.

    A server that has seen it a few times neither parses nor plans it again, which is half of what small ones cost.
    """
    connection.ensure_connection()
    kept = connection.connection
    before = kept.cursor_factory, kept.prepare_threshold
    kept.cursor_factory, kept.prepare_threshold = ServerBindingCursor, PREPARE_AFTER
    try:
        yield
    finally:
        kept.cursor_factory, kept.prepare_threshold = before
