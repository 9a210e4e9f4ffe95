"""The reports' benchmark on few answers; nothing is timed here."""

import pytest
from django.db import connection

from bench import report, report_data
from bench.report_data import MODELS, PARAMETERS, Size
from evaluation.behaviour_report.parameters import BehaviourParameters
from projects.models import Project
from responses.models import Response


def test_arguments_decide_what_is_measured():
    assert tuple(report.parse(["--quick"]).parts) == report.PARTS
    assert report.parse(["--part", "growth"]).parts == ["growth"]


def test_the_full_size_is_that_of_the_published_benchmark():
    size = Size(scenarios=6_640)
    assert (size.items, size.answers) == (318_720, 318_720 * 6 * 3)


@pytest.mark.django_db(transaction=True)
def test_answers_go_in_beside_their_indexes_and_foreign_keys():
    def indexes() -> list[tuple[str, str]]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'responses_response'")
            return sorted(cursor.fetchall())

    before = indexes()
    project = report_data.fill(Size(scenarios=1, samples=2), slug="small")
    assert indexes() == before
    answers = Response.objects.filter(project=project)
    assert answers.count() == Size(scenarios=1, samples=2).answers
    assert set(answers.values_list("respondent__attributes__model", flat=True)) == set(MODELS)
    assert Project.objects.get().datasets.get().items.filter(content__has_keys=["scenario", "relation"]).count() == 48
    assert BehaviourParameters.parse(PARAMETERS).unit == "item_scenario"
