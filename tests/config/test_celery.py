import pytest

from config.celery import app
from tests.workers import Worker


def test_tasks_that_wait_for_model_servers_have_a_queue_of_their_own() -> None:
    waiting = {name for name in _names() if app.amqp.router.route({}, name)["queue"].name == "models"}
    assert waiting == {"llm.tasks.run_shard", "llm.tasks.step_batches"}


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_answers_and_leaves(celery_worker_process: Worker) -> None:
    replies = app.control.inspect(destination=["w0@test"], timeout=10).ping()
    assert replies == {"w0@test": {"ok": "pong"}}
    celery_worker_process.leave(timeout=10)
    assert not celery_worker_process.alive


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_worker_knows_every_task_of_the_rooms(celery_worker_process: Worker) -> None:
    registered = app.control.inspect(destination=["w0@test"], timeout=10).registered()
    assert {name for tasks in registered.values() for name in tasks} >= _names()


def _names() -> set[str]:
    """Of every task of the rooms."""
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith("celery.")}
