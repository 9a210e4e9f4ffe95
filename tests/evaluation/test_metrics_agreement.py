"""Agreement among annotators against hand counts, published numbers and statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from evaluation.metrics import agreement
from evaluation.metrics.criteria import criterion_agreement
from evaluation.metrics.ratings import category_counts, ratings_matrix

ON_COUNTS = [
    agreement.observed_agreement,
    agreement.pooled_pair_agreement,
    agreement.brennan_prediger,
    agreement.gwet_ac1,
    agreement.fleiss_kappa,
    agreement.krippendorff_alpha,
]


@pytest.fixture
def complete():
    """40 items, four raters, three categories."""
    return np.random.default_rng(5).multinomial(4, [0.6, 0.3, 0.1], size=40)


def test_fleiss_and_free_marginal_kappa_equal_statsmodels(complete):
    assert agreement.fleiss_kappa(complete).value == pytest.approx(fleiss_kappa(complete))
    assert agreement.brennan_prediger(complete).value == pytest.approx(fleiss_kappa(complete, method="uniform"))


def test_cohen_kappa_equals_statsmodels():
    table = np.array([[20, 5, 1], [3, 12, 4], [2, 2, 9]])
    rows = [(i, j) for i in range(3) for j in range(3) for _ in range(table[i, j])]
    found = agreement.cohen_kappa(pd.DataFrame(rows, columns=["r", "s"]))
    assert found.value == pytest.approx(cohens_kappa(table).kappa)
    assert found.n == 58


def test_pact_appendix_a4_is_one_disagreement_in_27():
    counts = [[0, 2]] * 26 + [[1, 1]]
    assert agreement.observed_agreement(counts).value == pytest.approx(26 / 27)
    assert round(agreement.brennan_prediger(counts).value, 3) == 0.926
    assert round(agreement.gwet_ac1(counts).value, 3) == 0.962
    assert round(agreement.specific_agreement(counts, category=1).value, 3) == 0.981
    assert agreement.fleiss_kappa(counts).value < 0


def test_single_ratings_count_for_prevalence_only():
    paired, with_single = [[2, 0], [1, 1], [0, 2]], [[2, 0], [1, 1], [0, 2], [1, 0], [1, 0], [0, 0]]
    for unmoved in (agreement.observed_agreement, agreement.krippendorff_alpha, agreement.brennan_prediger):
        assert unmoved(with_single) == unmoved(paired)
    assert agreement.fleiss_kappa(with_single).value != agreement.fleiss_kappa(paired).value


def test_all_ratings_alike_leave_kappas_undefined_but_not_the_declared_ones():
    counts = [[3, 0], [3, 0]]
    assert not agreement.fleiss_kappa(counts).defined
    assert "0/0" in agreement.krippendorff_alpha(counts).reason
    assert agreement.brennan_prediger(counts).value == agreement.gwet_ac1(counts).value == 1
    assert not agreement.brennan_prediger([[3], [3]]).defined
    assert not agreement.gwet_ac1([[3], [3]]).defined


@pytest.mark.parametrize("function", ON_COUNTS)
@pytest.mark.parametrize(
    "counts", [[[1, 0], [0, 1]], [[0, 0]], np.zeros((0, 2))], ids=["one rater", "nothing", "empty"]
)
def test_no_pair_of_ratings_is_undefined_with_a_reason(function, counts):
    found = function(counts)
    assert math.isnan(found.value)
    assert found.reason == agreement.NO_PAIRS


def test_cohen_kappa_needs_exactly_two_raters_and_a_common_item():
    three = pd.DataFrame({"r": [1, 0], "s": [1, 0], "t": [0, 0]})
    assert "here are 3" in agreement.cohen_kappa(three).reason
    apart = pd.DataFrame({"r": [1, None], "s": [None, 0]})
    assert agreement.cohen_kappa(apart).reason == "the two raters share no item"
    assert agreement.cohen_kappa(pd.DataFrame({"r": [1, 1], "s": [1, 1], "t": [None, None]})).n == 2


def test_three_raters_two_labels_tie_unanimity_to_pairwise_agreement():
    ratings = pd.DataFrame(np.random.default_rng(2).integers(0, 2, size=(50, 3)), columns=list("rst"))
    u = agreement.unanimity(ratings).value
    assert agreement.observed_agreement(category_counts(ratings, [0, 1])).value == pytest.approx(u + (1 - u) / 3)


def test_unanimity_without_a_complete_item_is_undefined():
    found = agreement.unanimity(pd.DataFrame({"r": ["A", None], "s": [None, "B"]}))
    assert not found.defined
    assert "2 of 2 items left out" in found.reason
    assert not agreement.unanimity(pd.DataFrame({"r": ["A", "B"]})).defined


def test_criteria_pool_by_unit_and_average_by_criterion():
    rows = [("i", "p", "r", 1), ("i", "p", "s", 1), ("j", "p", "r", 1), ("j", "p", "s", 1), ("i", "q", "r", 1)]
    rows += [("i", "q", "s", 0), ("j", "q", "r", 1), ("k", "empty", "r", 1)]
    found = criterion_agreement(
        pd.DataFrame(rows, columns=["item", "criterion", "rater", "value"]),
        item="item",
        criterion="criterion",
        rater="rater",
        value="value",
        categories=[0, 1],
    )
    assert found.pooled["observed_agreement"].value == pytest.approx(2 / 3)
    assert found.macro["observed_agreement"].value == pytest.approx(1 / 2)
    assert found.macro["observed_agreement"].reason == "1 of 3 criteria left out: undefined"


def test_faults_in_ratings_are_named():
    twice = pd.DataFrame({"item": [1, 1], "rater": ["r", "r"], "value": [0, 1]})
    with pytest.raises(ValueError, match="one row for each item and rater"):
        ratings_matrix(twice, item="item", rater="rater", value="value")
    with pytest.raises(ValueError, match="'C' is not among the declared categories"):
        category_counts(pd.DataFrame({"r": ["A", "C"]}), ["A", "B"])
    with pytest.raises(ValueError, match="whole counts of 0 or more"):
        agreement.observed_agreement([[2, -1]])
