"""What becomes of a report whose worker is killed, which somebody deletes, or which two workers take up."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from evaluation import services, tasks
from evaluation.building import build_report
from evaluation.models import Report, ReportData
from evaluation.services import build_again, create_report
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db
SECTIONS = "evaluation.sections.in_order.alignment_sections"


class Killed(BaseException):
    """Ends the work where nothing catches it, and with it the worker's hold on the report."""


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Callable[[], list[list[int]]]:
    """Lets the sweep look at reports that nobody was heard of for a while; what it sends to workers."""

    def sweep() -> list[list[int]]:
        messages: list[list[int]] = []
        monkeypatch.setattr("celery.current_app.send_task", lambda name, arguments: messages.append(arguments))
        Report.objects.filter(status="pending").update(active_at=timezone.now() - timedelta(minutes=2))
        with django_capture_on_commit_callbacks(execute=True):
            services.sweep()
        return messages

    return sweep


@pytest.fixture
def report(answered: Paired, parameters: dict[str, Any]) -> Report:
    made = create_report(project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None)
    cache.delete(services.BEGUN.format(made.pk))
    return made


def computed_as(monkeypatch: pytest.MonkeyPatch, section: Callable[[], None]) -> None:
    monkeypatch.setattr(SECTIONS, lambda data, parameters: [section])


def test_a_report_left_behind_is_taken_up_again_and_fails_the_second_time(
    report: Report, sent: Callable[[], list[list[int]]], monkeypatch: pytest.MonkeyPatch
):
    def killed() -> None:
        raise Killed

    computed_as(monkeypatch, killed)
    for _ in range(3):  # while nobody began it, it waits
        assert sent() == [[report.pk]]
    for messages in ([[report.pk]], []):
        with pytest.raises(Killed):
            build_report(report.pk)
        assert sent() == messages
    report.refresh_from_db()
    assert (report.status, report.problem) == (Report.Status.FAILED, services.LEFT_BEHIND)
    computed_as(monkeypatch, lambda: None)
    assert build_again(report=report)
    assert build_report(report.pk).status == Report.Status.READY
    assert sent() == []


def test_what_somebody_works_on_is_left_alone(
    report: Report, sent: Callable[[], list[list[int]]], monkeypatch: pytest.MonkeyPatch
):
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtext(%s), %s)", [services.LOCK, report.pk])
        assert sent() == []
        assert build_report(report.pk).status == Report.Status.PENDING
    finally:
        other.close()
    assert sent() == [[report.pk]]
    assert build_report(report.pk).status == Report.Status.READY


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_report_that_is_deleted_is_nobodys_fault(report: Report, monkeypatch: pytest.MonkeyPatch, when: str):
    def delete() -> None:
        Report.objects.filter(pk=report.pk).delete()

    computed_as(monkeypatch, delete)
    if when == "before":
        delete()
    tasks.build_report(report.pk)
    assert not Report.objects.exists()
    assert not ReportData.objects.exists()


def test_two_people_who_ask_for_the_same_report_get_one_each_with_the_same_numbers(
    report: Report, answered: Paired, parameters: dict[str, Any]
):
    again = create_report(project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None)
    one, other = build_report(report.pk), build_report(again.pk)
    assert (one.sections, one.data_fingerprint) == (other.sections, other.data_fingerprint)
    assert bytes(one.data.frames) == bytes(other.data.frames)
