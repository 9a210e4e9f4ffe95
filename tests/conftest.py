"""What every test may ask for: a project with one member of each role, materials, and a real Celery worker."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from django.db import connection
from django.test import Client, TransactionTestCase
from hypothesis import settings as hypothesis_settings

from config.processes import wait_until
from materials.models import Dataset, Instrument, Item
from materials.services import content_hash, publish_instrument
from projects.models import Project, Role, User
from projects.services import set_member
from tests.workers import Worker, start_worker

PASSWORD = "a long word for tests"
ROOT = Path(__file__).resolve().parents[1]
QUESTION = {
    "kind": "choice",
    "code": "answer",
    "text": "Is this usual where you live?",
    "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
}


# The files that take a minute: they are dealt out first, so that the run does not end with one process at work.
LONGEST = (
    "tests/e2e/test_axe_pages.py",
    "tests/llm/test_batching_worker.py",
    "tests/test_permissions.py",
    "tests/config/test_serve.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


# No test fails because the machine is busy.
hypothesis_settings.register_profile("any machine", deadline=None)
hypothesis_settings.load_profile("any machine")

# Django's flush truncates all tables, with a file for each and for each index, and makes its permissions anew.
EMPTY = """
DO $$
DECLARE name regclass; filled boolean;
BEGIN
  SET LOCAL session_replication_role = replica;  -- neither foreign keys nor what keeps rows as they are
  FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
              AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission') LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO filled;
    IF filled THEN EXECUTE format('DELETE FROM %s', name); END IF;
  END LOOP;
END $$"""


def _empty_database(case: TransactionTestCase) -> None:
    with connection.cursor() as cursor:
        cursor.execute(EMPTY)


if os.environ.get("CONCORD_TESTS_OWN_POSTGRES"):
    TransactionTestCase._fixture_teardown = _empty_database


@pytest.fixture(scope="session")
def _valkey() -> Iterator[redis.Redis]:
    """One client for the run: making one takes longer than many tests."""
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        yield client


@pytest.fixture(autouse=True)
def _empty_valkey(_valkey: redis.Redis) -> None:
    """No test sees another's messages, counters or cached values."""
    if os.environ.get("CONCORD_TESTS_OWN_VALKEY"):
        _valkey.flushdb()


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(name="Everyday norms", slug="everyday-norms")


def _member(project: Project, role: Role) -> User:
    user = User.objects.create_user(username=str(role), password=PASSWORD)
    set_member(project=project, user=user, role=role, by=None)
    return user


@pytest.fixture
def owner(project: Project) -> User:
    return _member(project, Role.OWNER)


@pytest.fixture
def researcher(project: Project) -> User:
    return _member(project, Role.RESEARCHER)


@pytest.fixture
def annotator(project: Project) -> User:
    return _member(project, Role.ANNOTATOR)


@pytest.fixture
def viewer(project: Project) -> User:
    return _member(project, Role.VIEWER)


@pytest.fixture
def outsider(db: None) -> User:
    """Someone with a login who is no member."""
    return User.objects.create_user(username="outsider", password=PASSWORD)


@pytest.fixture
def client_as() -> Callable[[User | None], Client]:
    """A browserless client logged in as this person; anonymous for None."""

    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def make_dataset() -> Callable[..., Dataset]:
    """`make_dataset(project, n=5, slug="scenarios", content=lambda i: {...})`."""

    def make(
        project: Project, n: int = 5, slug: str = "scenarios", content: Callable[[int], dict[str, Any]] | None = None
    ) -> Dataset:
        dataset = Dataset.objects.create(project=project, slug=slug, name=slug.replace("-", " ").capitalize())
        contents = [content(i) if content else {"text": f"Scenario {i}"} for i in range(n)]
        Item.objects.bulk_create(
            Item(dataset=dataset, external_id=f"{slug}-{i}", content=c, content_hash=content_hash(c), position=i)
            for i, c in enumerate(contents)
        )
        return dataset

    return make


@pytest.fixture
def make_instrument() -> Callable[..., Instrument]:
    """`make_instrument(project, questions=[...], name="everyday")`; one yes/no question when none are given."""

    def make(
        project: Project, questions: Sequence[Mapping[str, Any]] = (QUESTION,), name: str = "everyday"
    ) -> Instrument:
        return publish_instrument(project=project, name=name, title=name.capitalize(), questions=questions)

    return make


@pytest.fixture
def start_celery_worker(transactional_db: None, tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """`start_celery_worker(concurrency=2)` starts a real worker on the test database, ready for work.

    All of them are stopped after the test.
    """
    workers: list[Worker] = []

    def start(concurrency: int = 2, **environment: str) -> Worker:
        url = urlsplit(os.environ["DATABASE_URL"])
        database = f"{url.scheme}://{url.netloc}/{connection.settings_dict['NAME']}?{url.query}"
        arguments = [f"--concurrency={concurrency}", f"--hostname=w{len(workers)}@test", "--without-mingle"]
        worker = start_worker(
            ["--loglevel=INFO", *arguments],
            environment=os.environ | {"DATABASE_URL": database} | environment,
            log=tmp_path / f"worker{len(workers)}.log",
        )
        workers.append(worker)
        if not wait_until(lambda: not worker.alive or " ready." in worker.text, seconds=60) or not worker.alive:
            pytest.fail("The Celery worker did not start:\n" + worker.text)
        return worker

    yield start
    for worker in workers:
        worker.leave(timeout=10)
        worker.kill()


@pytest.fixture
def celery_worker_process(start_celery_worker: Callable[..., Worker]) -> Worker:
    """One real Celery worker (prefork, two processes) for the whole test."""
    return start_celery_worker()
