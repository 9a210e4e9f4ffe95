"""Cramer's V, chi-square tails and false discovery rates against scipy and by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import association
from evaluation.metrics.association import (
    benjamini_hochberg,
    chi_square,
    cramers_v,
    cramers_v_corrected,
    phi_coefficient,
)


def test_v_by_hand_and_phi_carry_the_same_size():
    table = [[30, 10], [10, 30]]
    assert cramers_v(table).value == pytest.approx(0.5)
    assert phi_coefficient(table).value == pytest.approx(0.5)
    assert phi_coefficient(table[::-1]).value == pytest.approx(-0.5)


def test_empty_levels_change_nothing():
    assert cramers_v([[5, 9, 0], [0, 0, 0], [8, 2, 0]]) == cramers_v([[5, 9], [8, 2]])


@pytest.mark.parametrize("table", [[[3, 4]], [[3, 0], [5, 0]], [[0, 0], [0, 0]]])
def test_one_level_or_outcome_is_undefined(table):
    assert not cramers_v(table).defined
    assert not cramers_v_corrected(table).defined
    assert chi_square(table).dof is None
    assert math.isnan(chi_square(table).p)


def test_correction_takes_independence_to_zero_and_leaves_large_tables_alone():
    assert cramers_v_corrected([[10, 10], [10, 10]]).value == 0
    large = np.array([[30, 10], [10, 30]]) * 10_000
    assert cramers_v_corrected(large).value == pytest.approx(cramers_v(large).value, abs=1e-4)
    assert not cramers_v_corrected([[1, 0], [0, 1]]).defined


def test_tail_is_exact_for_two_degrees_of_freedom_where_floats_end():
    found = chi_square(np.array([[300_042, 100], [200_000, 90_000], [250_000, 30_000]]))
    assert found.p == 0
    assert found.log10_p == pytest.approx(-found.chi2 / 2 / math.log(10), rel=1e-12)


@pytest.mark.parametrize("dof", [1, 3, 6, 9])
def test_tail_joins_scipy_where_both_exist(dof, monkeypatch):
    chi2 = 1000.0
    reference = stats.chi2.logsf(chi2, dof)
    assert math.isfinite(reference)
    monkeypatch.setattr(association.stats.chi2, "logsf", lambda *_: -math.inf)
    assert association._log_tail(chi2, dof) == pytest.approx(reference, rel=1e-9)


def test_false_discovery_family_leaves_nulls_out():
    q = benjamini_hochberg([0.62, math.nan, 0.695, math.nan, 1e-300])
    np.testing.assert_allclose(q, [0.695, math.nan, 0.695, math.nan, 3e-300])
    assert np.isnan(benjamini_hochberg([math.nan])).all()


def test_counts_must_be_whole_and_not_negative():
    for table in ([[1.5, 2], [3, 4]], [[-1, 2], [3, 4]], [1, 2]):
        with pytest.raises(ValueError, match=r"whole counts|a table of rows and columns"):
            cramers_v(table)
