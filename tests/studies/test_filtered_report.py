"""A report over the sessions that pass their study's quality filters, and what it keeps of them."""

from typing import Any

import pytest

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from studies.models import PlatformSubmission, Study
from tests.studies.conftest import Participant

pytestmark = pytest.mark.django_db


@pytest.fixture
def parameters(study: Study) -> dict[str, Any]:
    """Of two who completed and one who failed the check."""
    for name in ("a", "b"):
        Participant(study, pid=name, submission=f"s-{name}").go_to("")
    failing = Participant(study, pid="c", submission="s-c")
    failing.go_to("attention")
    failing.send({"colour": "red"})
    failing.go_to("")
    return {
        "dataset": study.dataset.slug,
        "instrument": study.instrument.name,
        "questions": ["personal", "norm"],
        "people": "real",
        "sessions": "passed",
        "resamples": 100,
        "splits": 10,
    }


def built(study: Study, parameters: dict[str, Any]) -> Report:
    asked = {"title": "r", "kind": "alignment", "parameters": parameters, "created_by": None}
    return build_report(create_report(project=study.project, **asked).pk)


def test_the_report_keeps_each_filter_with_its_numbers(study: Study, parameters: dict[str, Any]):
    PlatformSubmission.objects.update(status="APPROVED", code="DONE42")
    PlatformSubmission.objects.filter(identity__session__number=2).update(status="RETURNED")
    report = built(study, parameters)
    tables = {table["code"]: table for table in report.sections[0]["tables"]}
    numbers = [[row["cells"][name] for name in ("came", "out", "stay", "why")] for row in tables["filters"]["rows"]]
    assert numbers == [
        [3, 0, 3, ""],
        [3, 0, 3, ""],
        [3, 1, 2, "1 returned on the platform"],
        [2, 1, 1, "1 failed the attention checks"],
        [1, 0, 1, ""],
        [1, 0, 1, ""],
    ]
    assert [row["cells"]["persons"] for row in tables["people"]["rows"]] == [1]
    assert report.parameters["sessions"] == "passed"
    completed = built(study, parameters | {"sessions": "completed"})
    assert "filters" not in {table["code"] for table in completed.sections[0]["tables"]}
    assert completed.data_fingerprint != report.data_fingerprint


def test_without_a_session_that_passes_there_is_no_report(study: Study, parameters: dict[str, Any]):
    with pytest.raises(ReportError, match="in a session that passes the quality filters"):
        built(study, parameters)
