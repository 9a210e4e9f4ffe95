"""How far a report is, while it is computed."""

from typing import Any

import pytest

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.services import build_again, create_report
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db


def test_each_section_is_counted_when_it_begins(
    answered: Paired, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    seen: list[tuple[int, int]] = []

    def section() -> None:
        seen.append(Report.objects.values_list("sections_done", "sections_total").get())
        if len(seen) == 3:
            raise ZeroDivisionError

    monkeypatch.setattr("evaluation.sections.in_order.alignment_sections", lambda data, parameters: [section] * 3)
    report = create_report(
        project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None
    )
    with pytest.raises(ZeroDivisionError):
        build_report(report.pk)
    assert seen == [(0, 3), (1, 3), (2, 3)]
    assert build_again(report=report)
    report.refresh_from_db()
    assert (report.sections_done, report.sections_total) == (0, 0)
