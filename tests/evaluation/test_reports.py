"""Reports as they are asked for, computed once and kept."""

import time
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import build_again, create_report
from tests.evaluation.conftest import Paired
from tests.evaluation.reports import built, section
from tests.workers import Worker

pytestmark = pytest.mark.django_db


def test_the_same_data_and_parameters_give_the_same_report(answered: Paired, parameters: dict[str, Any]):
    one, two = built(answered, parameters), built(answered, parameters)
    assert one.sections == two.sections
    assert one.data_fingerprint == two.data_fingerprint
    other = built(answered, parameters, seed=8)
    assert other.data_fingerprint != one.data_fingerprint
    answered.record([(answered.person("new"), 0, "norm", "culture")])
    assert built(answered, parameters).data_fingerprint != one.data_fingerprint


def test_defaults_are_stored_with_the_report(answered: Paired, parameters: dict[str, Any]):
    del parameters["seed"]
    assert built(answered, parameters).parameters["seed"] == 1


def test_a_ready_report_never_changes(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    with pytest.raises(DatabaseError, match="report"), transaction.atomic():
        Report.objects.filter(pk=report.pk).update(title="Better")
    assert not build_again(report=report)
    assert build_report(report.pk).finished_at == report.finished_at


def test_what_cannot_be_computed_is_refused_at_once(answered: Paired, parameters: dict[str, Any]):
    with pytest.raises(ReportError, match="no dataset"):
        built(answered, parameters, dataset="none")
    assert not Report.objects.exists()


def test_what_went_away_fails_with_a_sentence_and_can_be_built_again(answered: Paired, parameters: dict[str, Any]):
    report = create_report(
        project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None
    )
    type(answered.dataset).objects.filter(pk=answered.dataset.pk).update(slug="moved")
    failed = build_report(report.pk)
    assert (failed.status, failed.problem[:28]) == ("failed", "There is no dataset scenario")
    type(answered.dataset).objects.filter(pk=answered.dataset.pk).update(slug="scenarios")
    assert build_report(report.pk).status == "failed"
    assert build_again(report=failed)
    assert build_report(report.pk).status == "ready"


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_worker_builds_what_was_asked_for(
    celery_worker_process: Worker, answered: Paired, parameters: dict[str, Any]
) -> None:
    report = create_report(
        project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None
    )
    deadline = time.monotonic() + 30
    while report.status == Report.Status.PENDING and time.monotonic() < deadline:
        time.sleep(0.2)
        report.refresh_from_db()
    assert report.status == Report.Status.READY


def test_without_models_the_report_says_what_to_do(paired: Paired, parameters: dict[str, Any]):
    paired.record([(paired.person("a"), 0, "norm", "culture")])
    report = built(paired, parameters)
    assert report.status == "ready"
    assert "run a model job" in section(report, "alignment")["paragraphs"][0]


def test_a_report_over_no_answers_is_refused_before_it_is_computed(answered: Paired, parameters: dict[str, Any]):
    with pytest.raises(ReportError, match=r"No real people \(participants\) have answered personal or norm of paired"):
        built(answered, parameters, people="real")
    assert not Report.objects.exists()


def test_a_report_is_built_by_a_command(answered: Paired, capsys: pytest.CaptureFixture[str]):
    from django.core.management import call_command

    call_command(
        "build_report",
        project=answered.project.slug,
        title="By hand",
        dataset="scenarios",
        instrument="paired",
        questions="personal,norm",
        people="simulated",
    )
    told = capsys.readouterr().out
    assert "No persona" in told
    assert f"/p/{answered.project.slug}/reports/{Report.objects.get().pk}/" in told
