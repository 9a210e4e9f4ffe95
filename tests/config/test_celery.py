import pytest

from config.celery import app
from tests.workers import Worker

pytestmark = [pytest.mark.worker, pytest.mark.django_db(transaction=True)]


def test_a_real_worker_answers_and_leaves(celery_worker_process: Worker) -> None:
    replies = app.control.inspect(destination=["w0@test"], timeout=10).ping()
    assert replies == {"w0@test": {"ok": "pong"}}
    celery_worker_process.leave(timeout=10)
    assert not celery_worker_process.alive


def test_a_worker_knows_every_task_of_the_rooms(celery_worker_process: Worker) -> None:
    registered = app.control.inspect(destination=["w0@test"], timeout=10).registered()
    names = {name for tasks in registered.values() for name in tasks}
    assert names >= {name for name in app.tasks if not name.startswith("celery.")}
