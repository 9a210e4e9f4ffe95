"""Whose answers a report counts, and how it says so."""

from typing import Any

import pytest

from tests.evaluation.conftest import Paired
from tests.evaluation.reports import built, row, rows

pytestmark = pytest.mark.django_db


def test_it_opens_with_what_its_people_and_model_are(answered: Paired, parameters: dict[str, Any]):
    first = built(answered, parameters).sections[0]
    assert first["code"] == "what_was_compared"
    assert "people in this report are simulated" in first["warnings"][0]
    assert "tiny is a demo model" in first["warnings"][1]


def test_a_mixture_of_people_says_how_many_of_each(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.person("real", simulated=False), 0, "norm", "culture")])
    first = built(answered, parameters, people="all").sections[0]["warnings"][0]
    assert "pools 1 real with 3 simulated people" in first
    real = built(answered, parameters, people="real")
    assert [sentence for sentence in real.sections[0]["warnings"] if "simulated" in sentence] == []
    assert rows(real, "people") == [{"kind": "Participant", "country": "Brazil", "persons": 1, "answers": 1}]


def test_every_row_with_simulated_or_demo_answers_is_marked(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    for table in (table for section in report.sections for table in section["tables"] if table["code"] != "items"):
        for found in table["rows"]:
            assert {"simulated", "demo-model"} & set(found["marks"]), (table["code"], found["cells"])


def test_every_figure_says_itself_whose_answers_it_shows(answered: Paired, parameters: dict[str, Any]):
    figures = [figure for section in built(answered, parameters).sections for figure in section["figures"]]
    assert {figure["spec"]["title"]["text"] for figure in figures} == {"Simulated people, demo model"}
    dots = next(figure["spec"]["data"]["values"] for figure in figures if figure["code"] == "alignment")
    assert all(dot["simulated"] and dot["demo_model"] for dot in dots if dot["who"] != "Human ceiling")


def test_a_figure_without_simulated_people_and_demo_models_needs_no_caution(paired: Paired, parameters: dict[str, Any]):
    person, model = paired.person("p", simulated=False), paired.model("large", demo_model=False)
    paired.record([(who, item, "norm", "culture") for who in (person, model) for item in range(2)])
    report = built(paired, parameters, people="real", questions=["norm"])
    figures = [figure for section in report.sections for figure in section["figures"]]
    assert figures
    assert not any("title" in figure["spec"] or "Outlined" in figure["caption"] for figure in figures)


def with_sessions(answered: Paired) -> Paired:
    """Beside three people without an outcome (2 of 3 culture on personal 0): one completed, two left, one failed."""
    given = {"done": ("completed", "preference"), "left": ("unfinished", "culture"), "gone": ("unfinished", "culture")}
    given["failed"] = ("failed_attention", "culture")
    for name, (outcome, option) in given.items():
        answered.record([(answered.person(name, outcome=outcome), 0, "personal", option)])
    answered.record([(answered.person("left", outcome="unfinished"), 1, "personal", "culture")])
    return answered


def test_only_completed_sessions_count_and_the_report_says_who_is_left_out(
    answered: Paired, parameters: dict[str, Any]
):
    report = built(with_sessions(answered), parameters)
    brazil = row(report, "by_country", question="personal", country="Brazil", who="People")
    assert (brazil["answers"], brazil["rate"]["value"]) == (5, 0.6)  # a, b and done: c, p, c, c and p
    assert row(report, "people", country="Brazil") == {
        "kind": "Participant",
        "country": "Brazil",
        "persons": 3,
        "answers": 9,
    }
    assert rows(report, "outcomes") == [
        {"outcome": "Failed the attention check", "persons": 1, "answers": 1, "counted": "no"},
        {"outcome": "Not finished", "persons": 2, "answers": 3, "counted": "no"},
    ]
    assert report.parameters["sessions"] == "completed"


def test_all_sessions_count_when_asked_for(answered: Paired, parameters: dict[str, Any]):
    report = built(with_sessions(answered), parameters, sessions="all")
    brazil = row(report, "by_country", question="personal", country="Brazil", who="People")
    assert (brazil["answers"], brazil["rate"]["value"]) == (9, pytest.approx(7 / 9))
    assert "All sessions are in, also those not completed (a table has how many)" in " ".join(
        report.sections[0]["paragraphs"]
    )
    assert row(report, "outcomes", outcome="Not finished")["counted"] == "yes"


def test_nobody_left_out_is_said_too(answered: Paired, parameters: dict[str, Any]):
    assert "nobody who answered is left out" in " ".join(built(answered, parameters).sections[0]["paragraphs"])
