"""Asking for reports. What computes them is in evaluation.building, for workers alone: importing it takes seconds."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from celery import current_app
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from evaluation.kinds import KINDS
from evaluation.models import Report, ReportShare
from projects.locks import alone
from projects.models import Project, User
from projects.services import audit

BUILD = "evaluation.tasks.build_report"
LOCK = "report"
BEGUN, BEGUN_SECONDS = "evaluation:begun:{}", 86_400  # how often workers began the report since it was asked for
BEGINNINGS = 2
PATIENCE = timedelta(minutes=1)  # a message to a worker that was not heard of for so long is sent again
LEFT_BEHIND = (
    "Workers ended twice while they computed this report, perhaps for want of memory; ask for fewer draws, comparisons "
    "or items, or build it again."
)


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
        cache.delete(BEGUN.format(report.pk))
        _enqueue(report)
    return bool(changed)


def sweep() -> None:
    """Ask again for reports that no worker took up or that a killed one left behind; one left behind twice fails."""
    pending = Report.objects.filter(status=Report.Status.PENDING)
    for report in pending.filter(active_at__lt=timezone.now() - PATIENCE).defer("sections"):
        with alone(LOCK, report.pk) as left:
            if left and cache.get(BEGUN.format(report.pk), 0) >= BEGINNINGS:
                failed = {"status": Report.Status.FAILED, "problem": LEFT_BEHIND, "finished_at": timezone.now()}
                pending.filter(pk=report.pk).update(**failed)
            elif left:
                _enqueue(report)


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
    """By name, because services do not import tasks. The sweep sends a lost message again."""
    transaction.on_commit(lambda: current_app.send_task(BUILD, [report.pk]))
