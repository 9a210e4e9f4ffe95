"""Alignment by the probabilities of options: a single answer an item, without personas, and yet an uncertainty."""

from typing import Any

import pytest

from evaluation.building import build_report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from llm.models import Call, Endpoint, Job
from materials.models import Item
from responses.models import Response
from responses.services import Answer, get_condition, record_many
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db


def ask(paired: Paired, parameters: dict[str, Any]) -> dict[str, Any]:
    report = create_report(project=paired.project, title="p", kind="alignment", parameters=parameters, created_by=None)
    sections = build_report(report.pk).sections
    return {table["code"]: table["rows"] for section in sections for table in section["tables"]} | {
        "text": " ".join(paragraph for section in sections for paragraph in section["paragraphs"])
    }


def called(paired: Paired, shares: list[dict[str, float] | None]) -> None:
    """A model's one answer to the norm question about each item, from a call with these probabilities."""
    project = paired.project
    endpoint = Endpoint.objects.create(project=project, name="local", base_url="http://127.0.0.1:9/v1", model="tiny")
    common = {"project": project, "dataset": paired.dataset, "instrument": paired.instrument, "endpoint": endpoint}
    job = Job.objects.create(name="j", kind="judge", personas=[{}], **common)
    respondent, condition = paired.model("tiny"), get_condition(project=project, factors={"temperature": 0})
    for item, found in zip(Item.objects.filter(dataset=paired.dataset).order_by("pk"), shares, strict=False):
        probabilities = {"norm": {"shares": found, "other": 0, "unresolved": 0}} if found else None
        cell = {"job": job, "item": item, "respondent": respondent, "condition": condition}
        call = Call.objects.create(status="ok", values={"norm": "culture"}, probabilities=probabilities, **cell)
        answer = Answer(respondent.pk, item.pk, "norm", "culture", condition.pk, source_id=call.pk)
        record_many(
            project=project, instrument=paired.instrument, answers=[answer], source_kind="call", on_conflict="keep"
        )


def test_the_mean_probability_is_the_models_rate(paired: Paired, parameters: dict[str, Any]):
    people = [paired.person(str(number)) for number in range(4)]
    for item, culture in enumerate((4, 3, 2)):
        given = ["culture"] * culture + ["preference"] * (4 - culture)
        paired.record([(who, item, "norm", option) for who, option in zip(people, given, strict=True)])
    parameters |= {"questions": ["norm"], "model_rates": "probabilities"}
    with pytest.raises(ReportError, match="log probabilities"):
        ask(paired, parameters)
    # Three quarters of what both options have, two thirds, a half; the last answer has none, and almost none.
    called(
        paired,
        [
            {"culture": 0.6, "preference": 0.2},
            {"culture": 0.4, "preference": 0.2},
            {"culture": 0.25, "preference": 0.25},
            {"culture": 0.004, "preference": 0.001},
        ],
    )
    found = ask(paired, parameters)
    (row,) = found["alignment_norm"]
    assert row["cells"]["items"] == 3
    # |3/4 - 1| + |2/3 - 3/4| + |1/2 - 1/2|, over three items
    assert row["cells"]["rate_mae"]["value"] == pytest.approx((1 / 4 + 1 / 12) / 3)
    assert row["cells"]["uncertainty_correlation"]["value"] > 0.9
    assert row["answers"] == {}
    assert "1 without probabilities of the option (tiny)" in found["text"]
    by_answers = ask(paired, parameters | {"model_rates": "answers"})["alignment_norm"][0]["cells"]
    assert by_answers["uncertainty_correlation"]["reason"] == "model agreement is the same on every item"
    Response.objects.filter(respondent__kind="model").delete()  # without a standing answer its call does not count
    with pytest.raises(ReportError, match="log probabilities"):
        ask(paired, parameters)
