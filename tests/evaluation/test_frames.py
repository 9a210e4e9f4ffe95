"""Counts from the database against counts done by hand."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment
from annotation.services import create_label_project, submit
from evaluation.frames import read_frames
from evaluation.parameters import AlignmentParameters, ReportError
from evaluation.sections.comparison import Frames
from llm.models import Call, Endpoint, Job
from materials.models import Item
from projects.models import User
from responses.services import get_condition
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db


def frames_of(paired: Paired, parameters: dict[str, Any], **changes: Any) -> Frames:
    return Frames(**read_frames(paired.project, AlignmentParameters.parse(parameters | changes)))


def totals(frame: Any, *by: str) -> dict[Any, tuple[int, int]]:
    sums = frame.groupby(list(by))[["n", "n_culture"]].sum()
    return {key: (int(n), int(culture)) for key, (n, culture) in zip(sums.index, sums.to_numpy(), strict=True)}


def test_answers_of_people_are_counted_by_question_item_and_country(answered: Paired, parameters: dict[str, Any]):
    people = frames_of(answered, parameters).people
    assert totals(people, "question", "item") == {
        ("personal", "scenarios-0"): (3, 2),
        ("personal", "scenarios-1"): (3, 1),
        ("norm", "scenarios-0"): (3, 3),
        ("norm", "scenarios-1"): (3, 2),
    }
    brazil = people[(people["country"] == "Brazil") & (people["question"] == "norm")]
    assert totals(brazil, "item") == {"scenarios-0": (2, 2), "scenarios-1": (2, 1)}


def test_answers_of_models_are_counted_by_persona_and_prompt(answered: Paired, parameters: dict[str, Any]):
    models = frames_of(answered, parameters).models
    assert totals(models, "persona", "country", "prompt") == {
        (False, "", "plain v1"): (6, 2),
        (True, "Brazil", "plain v1"): (6, 6),
        (True, "India", "plain v1"): (6, 0),
    }
    assert set(models["temperature"]) == {"0"}
    assert models["demo_model"].all()


def test_superseded_answers_do_not_count(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.person("a"), 0, "personal", "preference")], option_order="culture|preference")
    people = frames_of(answered, parameters, questions=["personal"]).people
    assert totals(people, "item") == {"scenarios-0": (3, 1), "scenarios-1": (3, 1)}


@pytest.mark.parametrize(("purpose", "n"), [("label", 1), ("training", 0), ("gold", 0), ("attention", 0)])
def test_answers_that_train_or_check_annotators_do_not_count(
    paired: Paired, parameters: dict[str, Any], annotator: User, purpose: str, n: int
):
    labelling = create_label_project(
        project=paired.project, name="Labels", dataset=paired.dataset, instrument=paired.instrument, by=None
    )
    place = labelling.assignments.order_by("rank").first()
    submit(place, annotator, {"personal": "culture", "norm": "culture"})
    Assignment.objects.filter(pk=place.pk).update(purpose=purpose)
    assert frames_of(paired, parameters, kinds=["annotator"], people="all").people["n"].sum() == 2 * n


@pytest.mark.parametrize(("people", "expected"), [("all", 5), ("real", 1), ("simulated", 4)])
def test_simulated_and_real_people_are_told_apart(
    answered: Paired, parameters: dict[str, Any], people: str, expected: int
):
    answered.record([(answered.person("real", simulated=False), 0, "norm", "culture")])
    answered.record([(answered.person("d"), 0, "norm", "culture")])
    frames = frames_of(answered, parameters, people=people)
    assert frames.persons["persons"].sum() == expected
    assert len(frames.persons) == len(frames.persons.drop_duplicates(["kind", "simulated", "country"]))


def test_only_the_chosen_models_and_questions_enter(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.model("other"), 0, "norm", "culture")])
    assert set(frames_of(answered, parameters).models["model"]) == {"other", "tiny"}
    chosen = frames_of(answered, parameters, models=["other"], questions=["norm"])
    assert totals(chosen.models, "model", "question") == {("other", "norm"): (1, 1)}
    assert set(chosen.people["question"]) == {"norm"}


def test_pairs_are_counted_by_respondent(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.person("a"), 2, "personal", "culture")])  # no norm answer: no pair
    pairs = frames_of(answered, parameters).pairs
    assert pairs["n"].sum() == 6
    india = pairs[pairs["country"] == "India"]
    assert india[["personal", "norm", "n"]].to_numpy().tolist() == [[0, 1, 2]]


def test_calls_without_an_answer_are_counted_by_status(answered: Paired, parameters: dict[str, Any]):
    project = answered.project
    endpoint = Endpoint.objects.create(project=project, name="local", base_url="http://127.0.0.1:9/v1", model="tiny")
    common: dict[str, Any] = {
        "project": project,
        "kind": "judge",
        "endpoint": endpoint,
        "personas": [{}],
    }
    common |= {"dataset": answered.dataset, "instrument": answered.instrument}
    condition, items = get_condition(project=project, factors={}), Item.objects.all()
    for codes in ([], ["norm"], ["other"]):
        job = Job.objects.create(name=str(codes), question_codes=codes, **common)
        cell: dict[str, Any] = {"job": job, "respondent": answered.model("tiny"), "condition": condition}
        Call.objects.create(item=items[0], status="unparsed", **cell)
        Call.objects.create(item=items[1], status="ok", values={}, **cell)
    calls = frames_of(answered, parameters).calls
    assert calls.to_numpy().tolist() == [["tiny", "unparsed", 2]]
    # The ledger is written ahead only in part: what a job has yet to write into it is not asked either.
    Job.objects.filter(name="[]").update(status="paused", planned_calls=12)
    calls = frames_of(answered, parameters).calls
    assert calls.to_numpy().tolist() == [["tiny", "pending", 10], ["tiny", "unparsed", 2]]


def test_what_is_not_in_the_project_is_named(answered: Paired, parameters: dict[str, Any]):
    cases: list[tuple[dict[str, Any], str]] = [
        ({"dataset": "elsewhere"}, "no dataset elsewhere"),
        ({"instrument": "elsewhere"}, "no instrument elsewhere"),
        ({"questions": ["age"]}, "no question age; it has personal, norm"),
        ({"option": "yes"}, "not a choice with the option yes"),
        ({"models": ["huge"]}, "No model named huge"),
        ({"people": "some"}, "at people"),
        ({"questions": []}, "at questions"),
    ]
    for changes, words in cases:
        with pytest.raises(ReportError, match=words):
            frames_of(answered, parameters, **changes)


def test_the_choice_about_simulated_people_has_no_default(parameters: dict[str, Any]):
    del parameters["people"]
    with pytest.raises(ReportError, match="at people"):
        AlignmentParameters.parse(parameters)


def test_the_cost_grows_with_groups_and_not_with_answers(paired: Paired, parameters: dict[str, Any]):
    people = [paired.person(str(number), country=("Brazil", "India")[number % 2]) for number in range(300)]
    rows = [(who, item, code, "culture") for who in people for item in range(4) for code in ("personal", "norm")]
    paired.record(rows)
    with CaptureQueriesContext(connection) as queries:
        frames = frames_of(paired, parameters)
    assert len(queries) <= 13
    assert len(frames.people) == 2 * 4 * 2
    assert frames.people["n"].sum() == 2400
    assert frames.pairs["n"].sum() == 1200
