"""A report of the people's rates over all items, against values by hand."""

from typing import Any

import pytest

from evaluation.building import build_report
from evaluation.services import create_report
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db


def test_rates_over_all_items_are_those_of_the_hand(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.model("tiny"), 3, "personal", "preference")], prompt="plain v1", temperature=0)
    report = create_report(
        project=answered.project, title="r", kind="correction", parameters=parameters, created_by=None
    )
    found = build_report(report.pk)
    assert [section["code"] for section in found.sections] == ["what_was_compared", "correction"]
    tables = {table["code"]: table["rows"] for table in found.sections[1]["tables"]}
    cells = next(row for row in tables["correction_personal"] if row["cells"]["setting"] == "No persona")["cells"]
    # People 2/3 and 1/3, the model 1 and 0 there, 0 and 0 on the two others.
    assert (cells["labelled"], cells["alone"]) == (2, 2)
    assert cells["people"]["value"] == pytest.approx(1 / 2)
    assert cells["model_alone"]["value"] == pytest.approx(1 / 4)
    assert cells["model_alone"]["low"] == 0  # 1/4 - 1.96 x 1/4, cut where no rate can be
    assert cells["power"]["value"] == pytest.approx((1 / 6) / (2 * 1 / 4))
    assert cells["corrected"]["value"] == pytest.approx(1 / 2 - 1 / 2 / 3)
    assert {figure["code"] for figure in found.sections[1]["figures"]} == {"correction_personal", "correction_norm"}
