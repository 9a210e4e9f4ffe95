"""The norm-personal gap against statsmodels and by hand."""

import math

import numpy as np
import pytest
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar

from evaluation.metrics.gap import mcnemar_exact, norm_personal_gap


@pytest.fixture
def survey():
    rng = np.random.default_rng(7)
    respondents = rng.integers(0, 15, 120)
    lean = rng.normal(size=15)[respondents]
    personal, norm = (rng.random(120) < 1 / (1 + np.exp(-lean - shift)) for shift in (0.5, 0.0))
    return personal.astype(float), norm.astype(float), respondents


def test_interval_is_the_cluster_robust_one_of_statsmodels(survey):
    personal, norm, respondents = survey
    found = norm_personal_gap(personal, norm, respondents=respondents)
    fit = OLS(personal - norm, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": respondents})
    assert found.cluster_se == pytest.approx(fit.bse[0])
    assert (found.paired.low, found.paired.high) == pytest.approx(tuple(fit.conf_int()[0]))
    assert found.paired.value == pytest.approx(fit.params[0])


@pytest.mark.parametrize(("first", "second"), [(0, 0), (5, 0), (3, 8), (7, 7)])
def test_mcnemar_is_that_of_statsmodels(first, second):
    reference = mcnemar([[4, first], [second, 9]], exact=True).pvalue
    assert mcnemar_exact(first, second) == pytest.approx(min(1.0, reference))


def test_sign_is_allowing_for_oneself_beyond_the_norm():
    found = norm_personal_gap([1, 1, 1, 0], [0, 0, 1, 0], respondents=list("abab"))
    assert (found.gap, found.n_personal_only, found.n_norm_only) == (0.5, 2, 0)


def test_missing_answers_enter_the_rates_but_not_the_pairs():
    found = norm_personal_gap([1, math.nan, 0, 1], [0, 1, math.nan, 1], respondents=list("aabb"))
    assert (found.n_personal, found.n_norm, found.paired.n) == (3, 3, 2)
    assert found.gap == pytest.approx(0)
    assert found.paired.value == 0.5


def test_nobody_and_one_respondent():
    nobody = norm_personal_gap([], [], respondents=[])
    assert math.isnan(nobody.gap)
    assert math.isnan(nobody.mcnemar_p)
    assert nobody.paired.reason == "no respondent answered both questions about one item"
    one = norm_personal_gap([1, 0], [0, 0], respondents=["a", "a"])
    assert one.paired.value == 0.5
    assert math.isnan(one.paired.low)
    assert one.paired.reason == "an interval needs two respondents"
