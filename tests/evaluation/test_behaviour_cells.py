"""Cells of answers counted by hand."""

import numpy as np

from evaluation.behaviour_report.cells import Cells, Column, counted, counted_units, paired_decisions, sided_units
from evaluation.metrics.sides import SIDES, TURNS

BY = ["question", "attr_model"]


def cells_of(rows: list[tuple[int, int, int, int, int, int]]) -> Cells:
    """Rows of model, level of the factor, item, answers, decisions, culture."""
    model, level, item, *counts = np.array(rows, dtype=np.int32).T
    places = np.arange(4, dtype=np.int32)
    columns = {
        "question": Column("question", places[:1], ["personal"]),
        "attr_model": Column("respondent", places[:2], ["base", "instruct"]),
        "cond_config": Column("condition", places[:2], ["C1", "C2"]),
        "item": Column("item", places, range(4)),
        "item_scenario": Column("item", places // 2, ["s0", "s1"]),
    }
    owners = {"question": np.zeros_like(model), "respondent": model, "condition": level, "item": item}
    return Cells(owners, dict(zip(("n_rows", "n", "n_culture"), counts, strict=True)), columns)


CELLS = cells_of(
    [
        (0, 0, 0, 1, 1, 1),  # base, C1
        (0, 0, 1, 1, 1, 1),
        (0, 0, 2, 3, 3, 1),
        (0, 1, 0, 1, 1, 0),  # base, C2
        (0, 1, 1, 2, 2, 1),
        (1, 0, 0, 1, 1, 0),  # instruct, C1
        (1, 0, 3, 2, 0, 0),
    ]
)


def test_cells_are_counted_by_levels():
    assert counted(CELLS, ["attr_model", "cond_config"]).to_numpy().tolist() == [
        ["base", "C1", 5, 5, 3],
        ["base", "C2", 3, 3, 1],
        ["instruct", "C1", 3, 1, 0],
    ]


def test_units_with_the_same_counts_are_counted_together():
    by_item = counted_units(CELLS, ["attr_model"], unit="item")
    assert by_item.to_numpy().tolist() == [
        ["base", 2, 2, 1, 1],  # item 0: culture and preference
        ["base", 3, 3, 1, 1],
        ["base", 3, 3, 2, 1],
        ["instruct", 1, 1, 0, 1],
        ["instruct", 2, 0, 0, 1],
    ]
    by_scenario = counted_units(CELLS, ["cond_config"], unit="item_scenario")
    assert by_scenario.to_numpy().tolist() == [["C1", 3, 3, 2, 1], ["C1", 5, 3, 1, 1], ["C2", 3, 3, 1, 1]]


def test_cases_are_paired_by_what_most_of_their_answers_say():
    levels = {"case": [], "across": "cond_config", "left": "C1", "right": "C2"}
    turned = paired_decisions(CELLS, BY, **levels, unit="item", counts=TURNS)
    # Item 0 turns, item 1 is split under C2, item 2 was not asked there; that of the instruct model neither.
    assert turned.drop(columns="question").to_numpy().tolist() == [["base", 1, 0, 0, 0, 1], ["base", 1, 1, 1, 0, 1]]
    of_scenarios = paired_decisions(CELLS, BY, **levels, unit="item_scenario", counts=[*SIDES, *TURNS])
    assert of_scenarios[of_scenarios["n_asked"] > 0].to_numpy().tolist() == [
        ["personal", "base", 2, 2, 1, 0, 2, 1, 1, 0, 1]  # items 0 and 1
    ]
    models = {"case": ["cond_config"], "across": "attr_model", "left": "base", "right": "instruct"}
    pair = paired_decisions(CELLS, ["question"], **models, unit="item", counts=TURNS)
    assert pair.to_numpy().tolist() == [["personal", 1, 1, 1, 0, 1]]


def test_decisions_of_two_levels_stay_together_by_unit():
    sides = sided_units(CELLS, BY, across="cond_config", left="C1", right="C2", unit="item_scenario")
    assert sides.drop(columns="question").to_numpy().tolist() == [
        ["base", 2, 2, 3, 1, 1],  # items 0 and 1
        ["base", 3, 1, 0, 0, 1],
        ["instruct", 1, 0, 0, 0, 1],
    ]
