"""Writers at the same time, in real threads on real PostgreSQL."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import pytest
from django.db import DatabaseError, connection, transaction

from projects.models import Project
from responses.models import Condition, Respondent, RespondentKind, Response
from responses.services import OnConflict, Recorded, get_condition, get_respondent
from tests.responses.conftest import Scene, build_scene

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 8
Result = TypeVar("Result")


@pytest.fixture
def scene(transactional_db, make_dataset, make_instrument) -> Scene:
    project = Project.objects.create(name="Races", slug="races")
    return build_scene(project, make_dataset, make_instrument)


def at_once(*works: Callable[[], Result]) -> list[Result]:
    """Run the works in threads that start together; their results in order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], Result]) -> Result:
        try:
            barrier.wait(timeout=10)
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(timeout=30) for future in [pool.submit(run, work) for work in works]]


def both_values(scene: Scene, sample: int, on_conflict: OnConflict) -> list[Recorded]:
    def write(value: str) -> Recorded:
        return scene.record(scene.answer(value, sample=sample), on_conflict=on_conflict)

    return at_once(partial(write, "yes"), partial(write, "no"))


def test_two_keepers_of_one_key_store_one(scene: Scene):
    for sample in range(ROUNDS):
        both = both_values(scene, sample, "keep")
        assert sorted(both, key=str) == [Recorded(stored=0, kept=1), Recorded(stored=1)]
    assert Response.objects.count() == ROUNDS


def test_of_two_superseders_the_last_stands_and_none_is_lost(scene: Scene):
    for sample in range(ROUNDS):
        both_values(scene, sample, "supersede")
        first, last = Response.objects.filter(sample=sample).order_by("superseded_by")
        assert (first.superseded_by_id, last.superseded_by_id) == (last.pk, None)
        assert {first.value, last.value} == {"yes", "no"}


def test_a_superseder_is_not_lost_to_a_keeper_that_commits_first(scene: Scene):
    """The keeper has inserted and not committed when the superseder looks for something to supersede."""
    inserted, waiting = threading.Event(), threading.Event()

    def keep() -> Recorded:
        with transaction.atomic():
            recorded = scene.record(scene.answer("yes"))
            inserted.set()
            waiting.wait(timeout=1)  # long enough for the superseder to wait at the unique index
            return recorded

    def supersede() -> Recorded:
        assert inserted.wait(timeout=10)
        return scene.record(scene.answer("no"), on_conflict="supersede")

    assert at_once(keep, supersede) == [Recorded(stored=1), Recorded(stored=1, superseded=1)]
    assert scene.standing() == ["no"]
    assert Response.objects.count() == 2


def a_condition(scene: Scene) -> Condition:
    return get_condition(project=scene.project, factors={"new": 1})


def a_respondent(scene: Scene) -> Respondent:
    return get_respondent(project=scene.project, kind=RespondentKind.ANNOTATOR, key="annotator:7", attributes={})


@pytest.mark.parametrize("make", [a_condition, a_respondent])
def test_rows_made_at_once_are_one_and_make_no_error(scene: Scene, make: Callable[[Scene], Condition | Respondent]):
    """The second looks for the row while the first has inserted it and not committed."""
    inserted, looking = threading.Event(), threading.Event()
    failed: list[DatabaseError] = []

    def listen(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if sql.startswith("INSERT"):
            looking.set()
        try:
            return execute(sql, params, many, context)
        except DatabaseError as error:
            failed.append(error)
            raise

    def first() -> Condition | Respondent:
        with transaction.atomic():
            row = make(scene)
            inserted.set()
            assert looking.wait(timeout=10)
            return row

    def second() -> Condition | Respondent:
        assert inserted.wait(timeout=10)
        with connection.execute_wrapper(listen):
            return make(scene)

    one, other = at_once(first, second)
    assert one == other
    assert failed == []
