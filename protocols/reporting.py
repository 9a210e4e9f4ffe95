"""Stages that ask for a report of the platform."""

from collections.abc import Mapping
from typing import Any

from evaluation.kinds import KINDS
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from protocols.context import StageContext
from protocols.stages import StageError, StageResult


def ask_for_report(ctx: StageContext, kind: str, parameters: Mapping[str, Any], *, title: str = "") -> int:
    """The primary key of a report of this kind that a worker computes. Raises StageError."""
    if kind not in KINDS:
        raise StageError(f"Reports of the kind {kind} are not available here; there are {', '.join(KINDS)}.")
    try:
        report = create_report(
            project=ctx.project,
            title=(title or ctx.title)[:200],
            kind=kind,
            parameters=parameters,
            created_by=ctx.by,
        )
    except ReportError as error:
        raise StageError(str(error)) from error
    return report.pk


def collect_reports(ctx: StageContext) -> StageResult:
    """Done when all reports are ready. Raises StageError with the problem of one that could not be computed."""
    pks = [pk for name, pk in ctx.output(ctx.stage.code).items() if name.startswith("report")]
    for report in Report.objects.filter(project=ctx.project, pk__in=pks).exclude(status=Report.Status.READY):
        raise StageError(report.problem or "The report is still being computed.")
    return StageResult({})
