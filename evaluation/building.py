"""Computing a report and storing what came of it."""

from typing import Any

from django.utils import timezone
from django.utils.module_loading import import_string

from evaluation.code_version import code_version
from evaluation.fingerprint import data_fingerprint
from evaluation.kinds import KINDS
from evaluation.models import Report
from evaluation.parameters import ReportError


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
    kind = KINDS[report.kind]
    parameters = kind.parameters.parse(report.parameters)
    kind.check(report.project, parameters)
    data = import_string(kind.read)(report.project, parameters)
    computed = [compute() for compute in import_string(kind.sections)(data, parameters)]
    return {
        "sections": [section.as_json() for section in computed if section is not None],
        "data_fingerprint": data_fingerprint(data, parameters),
        "code_version": code_version(),
    }


def _settle(report: Report, **fields: Any) -> None:
    pending = Report.objects.filter(pk=report.pk, status=Report.Status.PENDING)
    pending.update(finished_at=timezone.now(), **fields)
