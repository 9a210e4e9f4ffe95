"""The parts of the benchmark that do not depend on the machine; nothing is timed here."""

import json
import math
import os

import pytest

from bench import demo_survey, processor, recording, reporting, smoke, timing
from bench.importing import scenario_lines
from materials.models import Item
from protocols.pact.scenarios import all_scenarios
from responses.models import Response


def test_the_verdict_is_given_before_rounding():
    assert timing.verdict("record_many / COPY", 2.1, 3) == "record_many / COPY 2.10 (target <= 3): holds"
    assert timing.verdict("a / b", 3.0, 3) == "a / b 3.00 (target <= 3): holds"
    assert timing.verdict("a / b", 3.001, 3) == "a / b 3.00 (target <= 3): falls short"


def test_a_ratio_is_of_medians():
    assert timing.ratio([1.0, 100.0, 3.0], [1.5, 0.1, 9.0]) == 2.0


def test_a_rate_counts_by_the_median():
    assert timing.rate(5000, [9.0, 0.5, 0.4], "items") == "10,000 items/s (median of 3; 0.50 s for 5,000)"


def test_steps_take_turns_and_every_second_round_runs_backwards():
    calls: list[tuple[str, int]] = []
    steps = {name: lambda number, name=name: calls.append((name, number)) for name in "ab"}
    seconds = timing.interleaved(steps, rounds=3)
    assert calls == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert {name: len(values) for name, values in seconds.items()} == {"a": 3, "b": 3}


@pytest.mark.skipif(not processor.PROC.joinpath("self/stat").exists(), reason="there is no /proc on this system")
def test_processor_time_is_this_process_and_grows_with_work():
    before = processor.tree_seconds(os.getpid())
    while sum(os.times()[:2]) < before + 0.1:
        math.factorial(2000)
    assert processor.tree_seconds(os.getpid()) >= before + 0.05
    assert processor.own_ticks(2**22 + 1) == 0


def test_items_are_the_scenarios_with_ids_of_their_own():
    lines = [json.loads(line) for line in scenario_lines(50).splitlines()]
    assert len({line["external_id"] for line in lines}) == 50
    first = all_scenarios()[0]
    assert lines[0] | {"external_id": ""} == lines[48] | {"external_id": ""} == first | {"external_id": ""}


def test_copy_and_record_many_store_the_same_rows(project, make_dataset):
    items = list(Item.objects.filter(dataset=make_dataset(project, n=3)))
    rows, seconds = recording.measure_recording(project, items, rounds=1)
    assert rows == 3 * 2 * recording.PEOPLE
    assert {name: len(values) for name, values in seconds.items()} == {"record_many": 1, "COPY": 1}
    fields = ("respondent_id", "item_id", "question", "condition_id", "value", "answered_at", "seconds", "source_kind")
    stored = [set(Response.objects.filter(sample=sample).values_list(*fields)) for sample in range(4)]
    assert len(stored[0]) == rows
    assert stored == [stored[0]] * 4


def test_the_report_is_built_from_answers_of_the_demos_size(db):
    answers, seconds = reporting.measure_report(rounds=1)
    assert answers == (120 * 7 + 48 * 6) * 2
    assert len(seconds) == 1


def test_the_survey_line_names_both_sides():
    cost = demo_survey.SurveyCost(people=2, pages=100, requests=200, seconds=2.0, web=0.5, database=0.2, clients=0.1)
    assert str(cost).startswith("50 pages/s, 100 requests/s (2 people, 16 clients, 100 pages, 2.0 s)")
    assert str(cost).endswith("server 7.0 ms (gunicorn 5.0, PostgreSQL 2.0), client 1.0 ms")


def test_arguments_are_checked(capsys):
    with pytest.raises(SystemExit):
        smoke.main(["--slow"])
    assert "unrecognized arguments: --slow" in capsys.readouterr().err
