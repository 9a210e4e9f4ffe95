"""Every write of reports: asked for, computed, or failed with a sentence."""

from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone

from evaluation.code_version import code_version
from evaluation.fingerprint import data_fingerprint
from evaluation.frames import read_frames
from evaluation.models import Report
from evaluation.parameters import ReportError, parse_parameters, select
from evaluation.sections import compute_sections
from evaluation.sections.comparison import Comparison
from projects.models import Project, User
from projects.services import audit

BUILD = "evaluation.tasks.build_report"


@transaction.atomic
def create_report(
    *, project: Project, title: str, kind: Report.Kind, parameters: Mapping[str, Any], created_by: User | None
) -> Report:
    """A pending report, which a worker computes. Raises ReportError when the parameters cannot be used."""
    checked = parse_parameters(dict(parameters))
    select(project, checked)
    report = Report.objects.create(
        project=project,
        title=title,
        kind=kind,
        parameters=checked.model_dump(mode="json"),
        created_by=created_by,
    )
    audit(project=project, user=created_by, action="report asked for", report=report.pk, title=title)
    _enqueue(report)
    return report


def build_again(*, report: Report) -> bool:
    """Ask a worker for a report that failed or that nobody finished; False when it is ready."""
    changed = (
        Report.objects.filter(pk=report.pk)
        .exclude(status=Report.Status.READY)
        .update(status=Report.Status.PENDING, problem="", requested_at=timezone.now())
    )
    if changed:
        _enqueue(report)
    return bool(changed)


def build_report(report_id: int) -> Report:
    """Compute the report and store it once: of two builders at the same time, the second changes nothing.

    What keeps it from being computed is stored with it as one sentence; a fault of the program is raised, too.
    """
    report = Report.objects.select_related("project").get(pk=report_id)
    if report.status != Report.Status.PENDING:
        return report
    try:
        computed = _compute(report)
    except ReportError as error:
        _settle(report, status=Report.Status.FAILED, problem=str(error)[:500])
    except Exception:
        sentence = "A fault in the program kept this report from being computed; the worker's log has the details."
        _settle(report, status=Report.Status.FAILED, problem=sentence)
        raise
    else:
        _settle(report, status=Report.Status.READY, **computed)
    report.refresh_from_db()
    return report


def _compute(report: Report) -> dict[str, Any]:
    parameters = parse_parameters(report.parameters)
    selection = select(report.project, parameters)
    frames = read_frames(selection)
    sections = compute_sections(Comparison(frames, selection))
    return {
        "sections": [section.as_json() for section in sections],
        "data_fingerprint": data_fingerprint(frames, parameters),
        "code_version": code_version(),
    }


def _settle(report: Report, **fields: Any) -> None:
    pending = Report.objects.filter(pk=report.pk, status=Report.Status.PENDING)
    pending.update(finished_at=timezone.now(), **fields)


def _enqueue(report: Report) -> None:
    """By name, because services do not import tasks. A lost message costs a click on "Build again"."""
    transaction.on_commit(lambda: current_app.send_task(BUILD, [report.pk]))
