"""Agreement among annotators against hand counts, published numbers, statsmodels and irrCAC."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from evaluation.metrics import agreement, raters
from evaluation.metrics.criteria import agreement_summary, category_agreement, criterion_agreement
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
    found = raters.cohen_kappa(pd.DataFrame(rows, columns=["r", "s"]))
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
    assert "here are 3" in raters.cohen_kappa(three).reason
    apart = pd.DataFrame({"r": [1, None], "s": [None, 0]})
    assert raters.cohen_kappa(apart).reason == "the two raters share no item"
    assert raters.cohen_kappa(pd.DataFrame({"r": [1, 1], "s": [1, 1], "t": [None, None]})).n == 2


def test_three_raters_two_labels_tie_unanimity_to_pairwise_agreement():
    ratings = pd.DataFrame(np.random.default_rng(2).integers(0, 2, size=(50, 3)), columns=list("rst"))
    u = raters.unanimity(ratings).value
    assert agreement.observed_agreement(category_counts(ratings, [0, 1])).value == pytest.approx(u + (1 - u) / 3)


def test_unanimity_without_a_complete_item_is_undefined():
    found = raters.unanimity(pd.DataFrame({"r": ["A", None], "s": [None, "B"]}))
    assert not found.defined
    assert "2 of 2 items left out" in found.reason
    assert not raters.unanimity(pd.DataFrame({"r": ["A", "B"]})).defined


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


# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", part D: four observers, twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
FIVE = [1, 2, 3, 4, 5]
# Three raters and 30 items, none missing.
COMPLETE = "311 111 444 223 323 133 333 111 214 111 242 444 433 311 333 "
COMPLETE += "141 444 414 144 333 444 212 131 233 222 332 434 222 444 111"


@pytest.fixture
def observed():
    return pd.DataFrame(OBSERVERS, index=list("ABCD")).T


@pytest.fixture
def rated():
    return pd.DataFrame([[int(digit) for digit in item] for item in COMPLETE.split()], columns=list("rst"))


# The first three digits are printed in the source; the rest are krippendorff 0.9.0's and evalica 0.4.2's.
@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548814),
        ("interval", 0.8491071428571428),
        ("ratio", 0.7974027747116121),
    ],
)
def test_alpha_of_every_scale_with_missing_ratings(observed, scale, expected):
    assert agreement_summary(observed, FIVE, scale=scale)["krippendorff_alpha"].value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("identity", 0.775444068127),
        ("linear", 0.858739136433),
        ("quadratic", 0.914000723552),
        ("ordinal", 0.898939769908),
    ],
)
def test_ac2_equals_irrcac_with_missing_ratings(observed, weights, expected):
    counts = category_counts(observed, FIVE)
    assert agreement.gwet_ac2(counts, weights=weights, scores=FIVE).value == pytest.approx(expected)
    assert agreement.gwet_ac2(counts, weights="identity") == agreement.gwet_ac1(counts)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_equals_statsmodels(rated, weights):
    table = np.histogram2d(rated["r"], rated["s"], bins=4)[0]
    found = raters.weighted_kappa(rated[["r", "s"]], [1, 2, 3, 4], weights=weights, scores=[1, 2, 3, 4])
    assert found.value == pytest.approx(cohens_kappa(table, wt=weights).kappa)


def test_ordinal_weighted_kappa_equals_irrcac(rated):
    found = raters.weighted_kappa(rated[["r", "s"]], [1, 2, 3, 4], weights="ordinal")
    assert found.value == pytest.approx(0.34964, abs=1e-5)


def test_nominal_alpha_does_not_know_the_order_of_categories(complete):
    alpha = agreement.krippendorff_alpha
    assert alpha(complete[:, [2, 0, 1]]).value == pytest.approx(alpha(complete).value)
    assert alpha(complete[:, [2, 0, 1]], scale="ordinal").value != pytest.approx(alpha(complete, scale="ordinal").value)


# irrCAC 0.4.4, whose variances are Gwet's.
@pytest.mark.parametrize(
    ("scale", "name", "low", "high"),
    [
        ("nominal", "brennan_prediger", 0.334883558321, 0.687338663901),
        ("nominal", "gwet_ac1", 0.336225148033, 0.68904561009),
        ("nominal", "fleiss_kappa", 0.32997242692, 0.682988689731),
        ("interval", "gwet_ac2", 0.186087265199, 0.755293374986),
        ("ordinal", "gwet_ac2", 0.217966584205, 0.736939550883),
    ],
)
def test_analytic_intervals_are_gwets_without_missing_ratings(rated, scale, name, low, high):
    found = agreement_summary(rated, [1, 2, 3, 4], scale=scale)[name]
    assert (found.low, found.high) == pytest.approx((low, high))


def test_alphas_interval_is_nearly_gwets(rated):
    found = agreement_summary(rated, [1, 2, 3, 4])["krippendorff_alpha"]
    assert (found.low, found.high) == pytest.approx((0.3355, 0.6885), abs=0.003)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "ratio"])
def test_bootstrap_and_analytic_intervals_are_alike(scale):
    rng = np.random.default_rng(6)
    truth = rng.integers(1, 5, size=200)
    ratings = {r: np.where(rng.random(200) < 0.6, truth, rng.integers(1, 5, size=200)) for r in "rs"}
    ratings = pd.DataFrame(ratings).mask(rng.random((200, 2)) < 0.1)
    analytic = agreement_summary(ratings, [1, 2, 3, 4], scale=scale)
    bootstrap = agreement_summary(ratings, [1, 2, 3, 4], scale=scale, seed=3)
    for name, found in analytic.items():
        bounds = (bootstrap[name].low, bootstrap[name].high)
        assert (found.low, found.high) == pytest.approx(bounds, abs=0.025), name
        assert found.low < found.value < found.high


def test_a_seed_fixes_the_bootstrap(rated):
    once, again, other = (agreement_summary(rated, [1, 2, 3, 4], seed=seed)["gwet_ac1"] for seed in (1, 1, 2))
    assert once == again
    assert once != other


@pytest.mark.parametrize("seed", [None, 5])
def test_items_given_twice_in_one_cluster_tell_no_more(rated, seed):
    twice = pd.concat([rated, rated], ignore_index=True)
    alone = agreement_summary(rated, [1, 2, 3, 4], seed=seed)
    together = agreement_summary(twice, [1, 2, 3, 4], clusters=[*range(30), *range(30)], seed=seed)
    apart = agreement_summary(twice, [1, 2, 3, 4], seed=seed)
    for name in ("observed_agreement", "gwet_ac1", "fleiss_kappa"):
        assert (together[name].low, together[name].high) == pytest.approx((alone[name].low, alone[name].high))
        assert apart[name].low > alone[name].low


@pytest.mark.parametrize("seed", [None, 1])
def test_an_interval_that_cannot_be_says_why(seed):
    agreed = agreement_summary(pd.DataFrame({"r": [1, 1, 0], "s": [1, 1, 0]}), [0, 1], seed=seed)["gwet_ac1"]
    single = agreement_summary(pd.DataFrame({"r": [1], "s": [0]}), [0, 1], seed=seed)["gwet_ac1"]
    assert (agreed.value, agreed.reason) == (1, "all units contribute the same, so there is no interval")
    assert single.reason == "an interval needs two independent units"
    assert math.isnan(agreed.low)
    assert math.isnan(single.high)


def test_resamples_without_a_value_are_counted():
    found = agreement_summary(pd.DataFrame({"r": [1, 1, 1, 0], "s": [1, 1, 0, 0]}), [0, 1], seed=1, n_resamples=500)
    assert found["fleiss_kappa"].reason.endswith("of 500 resamples left out: undefined")
    assert found["brennan_prediger"].reason == ""
    apart = pd.DataFrame({"r": [1, 0], "s": [1, 0]})
    reasons = {agreement_summary(apart, [0, 1], seed=seed, n_resamples=1)["fleiss_kappa"].reason for seed in range(9)}
    assert "no resample has a value, so there is no interval" in reasons


def test_specific_agreement_comes_with_intervals(rated):
    found = category_agreement(rated, [1, 2, 3, 4, 5])
    assert found[4].value == agreement.specific_agreement(category_counts(rated, FIVE), category=3).value
    assert found[4].low < found[4].value < found[4].high
    assert "never chosen" in found[5].reason


def test_pooled_intervals_take_the_criteria_of_an_item_together(rated):
    long = rated.reset_index(names="item").melt("item", var_name="rater", value_name="value")
    both = pd.concat([long.assign(criterion=name) for name in "pq"])
    columns = {"item": "item", "criterion": "criterion", "rater": "rater", "value": "value"}
    found = criterion_agreement(both, **columns, categories=[1, 2, 3, 4])
    assert found.pooled["gwet_ac1"].low == pytest.approx(found.per_criterion["p"]["gwet_ac1"].low)
    assert math.isnan(found.macro["gwet_ac1"].low)
