"""Connections that are kept between requests, while the server ends some of them."""

import pytest
from django.db import connection, connections


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ended_is_replaced_before_the_next_request():
    kept = connections.create_connection("default")
    kept.health_check_enabled = True
    try:
        with kept.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            [[process]] = cursor.fetchall()
        assert kept.is_usable()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
        kept.close_if_unusable_or_obsolete()
        with kept.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)
    finally:
        kept.close()


@pytest.mark.django_db(transaction=True)
def test_a_failed_transaction_is_not_usable():
    kept = connections.create_connection("default")
    try:
        kept.ensure_connection()
        kept.connection.autocommit = False
        with pytest.raises(Exception, match="nothing_like_this"):
            kept.connection.execute("SELECT nothing_like_this")
        assert not kept.is_usable()
    finally:
        kept.close()
