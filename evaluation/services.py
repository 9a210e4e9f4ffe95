"""Asking for reports. What computes them is in evaluation.building, for workers alone: importing it takes seconds."""

from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone

from evaluation.kinds import KINDS
from evaluation.models import Report, ReportShare
from projects.models import Project, User
from projects.services import audit

BUILD = "evaluation.tasks.build_report"


@transaction.atomic
def create_report(
    *, project: Project, title: str, kind: str, parameters: Mapping[str, Any], created_by: User | None
) -> Report:
    """A pending report of one of the KINDS, which a worker computes.

    Raises ReportError when the parameters cannot be used.
    """
    checked = KINDS[kind].parameters.parse(dict(parameters))
    KINDS[kind].check(project, checked)
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
        .update(status=Report.Status.PENDING, problem="", sections_done=0, sections_total=0, active_at=timezone.now())
    )
    if changed:
        _enqueue(report)
    return bool(changed)


@transaction.atomic
def share_report(*, report: Report, by: User) -> ReportShare:
    """The link under which people outside the project read a ready report: the one there is, or a new one."""
    share, made = ReportShare.objects.get_or_create(report=report, revoked_at=None, defaults={"created_by": by})
    if made:
        audit(project=report.project, user=by, action="report shared", report=report.pk, share=share.pk)
    return share


@transaction.atomic
def revoke_share(*, report: Report, by: User) -> bool:
    """Let the report's link lead nowhere from now on; False when there is none."""
    revoked = report.shares.filter(revoked_at=None).update(revoked_at=timezone.now())
    if revoked:
        audit(project=report.project, user=by, action="report no longer shared", report=report.pk)
    return bool(revoked)


def _enqueue(report: Report) -> None:
    """By name, because services do not import tasks. A lost message costs a click on "Build again"."""
    transaction.on_commit(lambda: current_app.send_task(BUILD, [report.pk]))
