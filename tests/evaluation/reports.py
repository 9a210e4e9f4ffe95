"""Alignment reports that tests ask for, and their parts by name."""

from typing import Any

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.services import create_report
from tests.evaluation.conftest import Paired


def built(paired: Paired, parameters: dict[str, Any], **changes: Any) -> Report:
    report = create_report(
        project=paired.project,
        title="People and tiny",
        kind="alignment",
        parameters=parameters | changes,
        created_by=None,
    )
    return build_report(report.pk)


def section(report: Report, code: str) -> dict[str, Any]:
    return next(section for section in report.sections if section["code"] == code)


def rows(report: Report, table: str) -> list[dict[str, Any]]:
    tables = [table for section in report.sections for table in section["tables"]]
    return [row["cells"] for found in tables if found["code"] == table for row in found["rows"]]


def row(report: Report, table: str, **cells: Any) -> dict[str, Any]:
    return next(found for found in rows(report, table) if cells.items() <= found.items())
