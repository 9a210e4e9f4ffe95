"""Rates and turns counted by unit, against the metrics of single answers, and what their intervals draw."""

import numpy as np
import pandas as pd
import pytest

from evaluation.metrics.flips import decision_flips, option_position_audit
from evaluation.metrics.sides import SIDES, TURNS, sided_rates, turned_decisions

DRAWN = {"n_resamples": 2000, "seed": 1}


def by_unit(left: np.ndarray, right: np.ndarray, units: np.ndarray) -> pd.DataFrame:
    """The turns frame of decisions about the same cases, NaN where there is none; all were asked on both sides."""
    both = ~np.isnan(left) & ~np.isnan(right)
    counts = [~np.isnan(left), left == 1, ~np.isnan(right), right == 1]
    counts += [np.ones_like(both), both, both & (left > right), both & (left < right)]
    of_cases = pd.DataFrame(dict(zip((*SIDES, *TURNS), counts, strict=True))).astype(int)
    of_units = of_cases.groupby(units).sum()
    return of_units.groupby(list(of_units)).size().reset_index(name="units")


def decisions(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    left, right = rng.choice([0.0, 1.0, np.nan], p=[0.3, 0.5, 0.2], size=(2, 60))
    return left, right


def test_numbers_are_those_of_single_answers():
    left, right = decisions(np.random.default_rng(3))
    turns = by_unit(left, right, np.arange(60) // 3)
    flips, found = decision_flips(left, right), turned_decisions(turns, **DRAWN)
    assert (found["same"].value, found["same"].n) == (pytest.approx(flips.same_rate), flips.n)
    assert found["to_preference"].value == pytest.approx(flips.to_preference_rate)
    assert found["to_culture"].value == pytest.approx(flips.to_culture_rate)
    assert found["mcnemar"].value == flips.mcnemar_p
    audit = option_position_audit(np.concatenate([left, right]), np.repeat([1.0, 0.0], 60), np.tile(np.arange(60), 2))
    rates = sided_rates(turns, **DRAWN)
    assert rates["delta_pp"].value == pytest.approx(audit.delta_pp)
    assert rates["left"].value == pytest.approx(1 - audit.culture_rate_first)
    for estimate in (*rates.values(), found["same"], found["to_culture"]):
        assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize("times", [1, 40])  # drawn unit by unit, and by how many of a sort
def test_an_interval_is_as_wide_as_units_make_it(times: int):
    culture = np.repeat(np.arange(5), times)  # of 4 decisions of each unit, on the left; none on the right
    sides = pd.DataFrame({"n_left": 4, "n_left_culture": culture, "n_right": 4, "n_right_culture": 0})
    frame = sides.groupby(list(sides)).size().reset_index(name="units")
    found = sided_rates(frame, **DRAWN)["delta_pp"]
    spread = 100 * np.std(culture / 4) / np.sqrt(culture.size)
    assert found.value == pytest.approx(50)
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.1)


def test_what_both_sides_of_a_unit_share_does_not_widen_the_interval_of_their_difference():
    """One decision of four turns in each unit, however often a unit follows culture."""
    culture = np.array([1, 2, 3, 4] * 5)
    sides = pd.DataFrame({"n_left": 4, "n_left_culture": culture, "n_right": 4, "n_right_culture": culture - 1})
    found = sided_rates(sides.assign(units=1), **DRAWN)
    assert found["delta_pp"].value == pytest.approx(25)
    assert "all units contribute the same" in found["delta_pp"].reason
    assert found["left"].high - found["left"].low > 0.1


def test_what_is_undefined_says_why():
    one_side = pd.DataFrame(
        {"n_left": [2, 1], "n_left_culture": [1, 1], "n_right": 0, "n_right_culture": 0, "units": 1}
    )
    rates = sided_rates(one_side, **DRAWN)
    assert (rates["left"].defined, rates["right"].reason) == (True, "no decision")
    assert rates["delta_pp"].reason == "no decision on one side"
    assert sided_rates(one_side[:1], **DRAWN)["left"].reason == "an interval needs two independent units"
    nothing = turned_decisions(pd.DataFrame(0, index=range(2), columns=[*TURNS, "units"]), **DRAWN)
    assert {estimate.reason for estimate in nothing.values()} == {"no case is decided on both sides"}
