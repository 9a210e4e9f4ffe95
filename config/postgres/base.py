"""Django's backend for PostgreSQL, with a check of the connection before each request that asks the server nothing."""

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """A server that ended the connection has said so, which can be read; only then is it worth a statement."""
        if self.connection is None:
            return False
        pgconn = self.connection.pgconn
        idle = pgconn.transaction_status == TransactionStatus.IDLE
        return (idle and not _is_readable(pgconn.socket)) or super().is_usable()


def _is_readable(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
