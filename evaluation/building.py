"""Computing a report and storing what came of it."""

from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from evaluation.code_version import code_version, library_versions
from evaluation.fingerprint import data_fingerprint
from evaluation.kept_frames import pack, unpack
from evaluation.kinds import KINDS
from evaluation.models import Report, ReportData
from evaluation.parameters import ReportError
from evaluation.services import BEGUN, BEGUN_SECONDS, LOCK
from projects.locks import alone


def build_report(report_id: int) -> Report:
    """Compute the report and store it once: of two builders at the same time, the second changes nothing.

    What keeps it from being computed is stored with it as one sentence; a fault of the program is raised, too. Raises
    Report.DoesNotExist where it is deleted, before or meanwhile.
    """
    with alone(LOCK, report_id) as free:
        report = Report.objects.select_related("project").get(pk=report_id)
        if free and report.status == Report.Status.PENDING:
            _build(report)
    return report


def _build(report: Report) -> None:
    begun = BEGUN.format(report.pk)
    cache.set(begun, cache.get(begun, 0) + 1, BEGUN_SECONDS)
    _pending(report).update(active_at=timezone.now())
    try:
        frames, computed = _compute(report)
    except ReportError as error:
        _settle(report, status=Report.Status.FAILED, problem=str(error)[:500])
    except Exception:
        sentence = "A fault in the program kept this report from being computed; the worker's log has the details."
        _settle(report, status=Report.Status.FAILED, problem=sentence)
        raise
    else:
        with transaction.atomic():
            if _settle(report, status=Report.Status.READY, **computed):
                ReportData.objects.create(report=report, frames=frames, versions=library_versions())
    report.refresh_from_db()


def _compute(report: Report) -> tuple[bytes, dict[str, Any]]:
    """The data to keep and the report's fields, computed from the data as it is kept."""
    kind = KINDS[report.kind]
    parameters = kind.parameters.parse(report.parameters)
    kind.check(report.project, parameters)
    frames = pack(import_string(kind.read)(report.project, parameters))
    data, sections = unpack(frames), []
    waiting = import_string(kind.sections)(data, parameters)
    for done, compute in enumerate(waiting):
        _pending(report).update(sections_done=done, sections_total=len(waiting), active_at=timezone.now())
        if (section := compute()) is not None:
            sections.append(section.as_json())
    fingerprint = data_fingerprint(data, parameters)
    return frames, {"sections": sections, "data_fingerprint": fingerprint, "code_version": code_version()}


def _settle(report: Report, **fields: Any) -> int:
    """How many reports were still pending: one or none."""
    return _pending(report).update(finished_at=timezone.now(), **fields)


def _pending(report: Report) -> QuerySet[Report]:
    return Report.objects.filter(pk=report.pk, status=Report.Status.PENDING)
