"""/healthz says that the process answers, /readyz that its services do, and which does not."""

import os
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client, override_settings

from config.embedded import start_valkey
from config.healthcheck import problem

pytestmark = pytest.mark.django_db


def test_all_is_well() -> None:
    assert Client().get("/healthz").content == b"ok\n"
    response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (200, {"ready": True, "failed": {}})


def test_a_stopped_broker_is_named(tmp_path: Path) -> None:
    valkey = start_valkey(tmp_path / "valkey.log")
    with override_settings(REDIS_URL=valkey.url):
        assert Client().get("/readyz").status_code == 200
        valkey.stop()
        response = Client().get("/readyz")
    assert (response.status_code, response.json()) == (503, {"ready": False, "failed": {"broker": "ConnectionError"}})


def test_missing_migrations_are_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'projects'")
    response = Client().get("/readyz")
    assert (response.status_code, response.json()["failed"]) == (503, {"database": "migrations are missing"})


def test_process_is_healthy_without_services() -> None:
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        assert Client().get("/healthz").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_check_of_containers(live_server: object, monkeypatch: pytest.MonkeyPatch) -> None:
    url = str(live_server)
    assert problem(f"{url}/readyz") == ""
    assert problem(f"{url}/nowhere") == "it answered 404"
    assert "refused" in problem("http://127.0.0.1:1/")
    monkeypatch.setitem(os.environ, "ALLOWED_HOSTS", ".concord.example, other.example")
    with override_settings(ALLOWED_HOSTS=["concord.example"]):
        assert problem(f"{url}/readyz") == ""
