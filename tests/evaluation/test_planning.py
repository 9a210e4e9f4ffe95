"""Plans simulated from a pilot, against what theory says of them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.figure_files import data_csv
from evaluation.metrics.planning import Planned, simulate_plan
from evaluation.planning_report.parameters import PlanningParameters
from evaluation.planning_report.sections import planning
from evaluation.sections.comparison import Comparison, Frames


def pilot(people: int, model: int, n: int = 4) -> pd.DataFrame:
    """Half of the items are answered with culture by all people, half by none; the model always answers culture."""
    culture = [people, 0] * (n // 2)
    return pd.DataFrame(
        {"item": range(n), "n_human": people, "n_human_culture": culture, "n_model": model, "n_model_culture": model}
    )


def planned(frame: pd.DataFrame, **changes: Any) -> Planned:
    options = {"n_items": 100, "answers_per_item": 10, "calls_per_item": 1, "effect": 0.2, "n_simulations": 400}
    return simulate_plan(frame, **(options | changes), seed=1)


def test_widths_and_power_are_those_of_theory_where_people_are_known():
    found = planned(pilot(people=10**6, model=1))
    # Gaps are 0 and 1, half of each: a standard deviation of 1/2; the model's majority is right on half of the items.
    half = 1.959964 * 0.5 / 10
    assert found.gap_width.value == pytest.approx(2 * half, rel=0.01)
    assert found.power.value == pytest.approx(stats.norm.cdf((0.2 - half) / 0.05), abs=0.03)
    assert found.majority_width.value == pytest.approx(0.192, abs=0.003)  # Wilson's of 50 of 100
    assert planned(pilot(10**6, 1), effect=1e-9).power.value == pytest.approx(0.05, abs=0.03)


def test_more_answers_calls_and_items_shorten_the_interval():
    frame = pilot(people=4, model=2).assign(n_model_culture=1)
    width = planned(frame).gap_width.value
    assert planned(frame, answers_per_item=40).gap_width.value < width
    assert planned(frame, calls_per_item=10).gap_width.value < width
    assert planned(frame, n_items=400).gap_width.value == pytest.approx(width / 2, rel=0.03)


def test_a_pilot_that_says_nothing_gives_no_plan():
    found = planned(pilot(people=3, model=0))
    assert np.isnan(found.power.value)
    assert "a pilot of two items" in found.power.reason


def test_a_plan_counts_participants_and_calls_and_says_what_is_enough():
    items = pd.DataFrame({"place": range(4), "item": list("wxyz")})
    people = pd.DataFrame(
        {"question": "norm", "item": list("wxyz"), "country": "", "n": 40, "n_culture": [40, 0, 20, 20]}
    )
    models = people.drop(columns="country").assign(
        n=1, n_culture=[1, 0, 1, 0], model="m", endpoint="", prompt="", temperature="", demo_model=False, persona=False
    )
    models = models.assign(country="", n=1)
    persons = pd.DataFrame({"kind": ["participant"], "simulated": False, "country": "", "persons": 20, "n": 160})
    empty = dict.fromkeys((name for name in Frames.__slots__), pd.DataFrame())
    named = pd.DataFrame({"dataset": ["d"], "instrument": ["i"], "question": ["norm"], "text": ["?"]})
    frames = Frames(
        **(empty | {"asked": named, "items": items, "people": people, "models": models, "persons": persons})
    )
    asked = {"dataset": "d", "instrument": "i", "questions": ["norm"], "people": "real", "calls_each": 2}
    parameters = PlanningParameters.parse(asked | {"simulations": 100, "width": 0.15, "items_each": 7})
    section = planning(Comparison(frames, parameters), parameters)
    assert section is not None
    (table,) = section.tables
    rows = {(row.cells["items"], row.cells["answers"]): row.cells for row in table.rows}
    assert (rows[100, 10]["participants"], rows[100, 10]["calls"]) == (143, 200)
    assert rows[25, 5]["enough"] == "no"
    assert rows[800, 40]["enough"] == "yes"
    enough = [row for row in rows.values() if row["enough"] == "yes"]
    width, power = section.figures
    for figure, wanted in ((width, 0.15), (power, 0.8)):
        line = figure.spec["layer"][0]["data"]["values"][0]
        assert (line["value"], line["label"]) == (wanted, f"wanted: {wanted}")
    assert {(point["items"], point["answers"]): point["value"] for point in width.spec["data"]["values"]} == {
        key: row["gap_width"]["value"] for key, row in rows.items()
    }
    assert data_csv(power.spec).splitlines()[0] == "value,low,high,n,reason,items,answers,enough,simulated,demo_model"
    assert f"enough: {min(row['participants'] for row in enough)}, with" in table.caption
