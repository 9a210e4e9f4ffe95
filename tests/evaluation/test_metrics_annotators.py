"""Pairs of annotators, their confusions, disputed items and gold accuracy, against hand counts and the pair alone."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.metrics import raters
from evaluation.metrics.annotators import annotator_pairs, confusion_table, disputed_items, gold_accuracy

CATEGORIES = ["A", "B", "C"]


@pytest.fixture
def ratings():
    """40 items, four raters, a third of the ratings missing."""
    rng = np.random.default_rng(12)
    table = pd.DataFrame(rng.choice(CATEGORIES, size=(40, 4), p=[0.6, 0.3, 0.1]), columns=list("rstu"))
    return table.mask(rng.random((40, 4)) < 0.3)


def test_each_pair_is_what_the_two_give_alone(ratings):
    pairs = annotator_pairs(ratings, CATEGORIES)
    assert len(pairs) == 6
    for pair in pairs.itertuples():
        two = ratings[[pair.first, pair.second]]
        alone, shared = raters.cohen_kappa(two), two.dropna()
        assert (pair.cohen_kappa, pair.n) == (pytest.approx(alone.value), alone.n)
        assert pair.observed_agreement == pytest.approx((shared[pair.first] == shared[pair.second]).mean())


def test_pairs_without_a_kappa_say_why():
    ratings = pd.DataFrame({"r": ["A", "A", None], "s": ["A", "A", None], "t": [None, None, "A"]})
    reasons = annotator_pairs(ratings, CATEGORIES)["reason"].tolist()
    assert (
        reasons
        == ["every rating is the same category, so agreement beyond chance is 0/0"]
        + ["the two raters share no item"] * 2
    )
    assert annotator_pairs(ratings[["r"]], CATEGORIES).empty


def test_confusion_counts_first_in_rows_over_common_items():
    first = pd.Series(["A", "A", "B", None, "C"], index=list("vwxyz"))
    second = pd.Series(["B", "A", "A", "A", "B"], index=list("vzwxy"))
    found = confusion_table(first, second, CATEGORIES)
    assert found.loc["A"].tolist() == [1, 1, 0]
    assert found.loc["B"].tolist() == [1, 0, 0]
    assert found.loc["C"].tolist() == [1, 0, 0]


def test_most_disputed_come_first_and_single_ratings_not_at_all():
    ratings = pd.DataFrame(
        {"r": ["A", "A", "A", "A"], "s": ["A", "B", "B", None], "t": ["A", "B", "C", None]}, index=list("wxyz")
    )
    found = disputed_items(ratings, CATEGORIES)
    assert found.index.tolist() == ["y", "x", "w"]
    assert found["disagreement"].tolist() == pytest.approx([1, 2 / 3, 0])
    assert found["entropy"].tolist() == pytest.approx([math.log2(3), stats.entropy([1, 2], base=2), 0])


def test_gold_accuracy_counts_answers_to_known_items_only():
    ratings = pd.DataFrame({"r": list("AABBC"), "s": [None, None, None, "A", None]}, index=list("vwxyz"))
    found = gold_accuracy(ratings, pd.Series({"w": "A", "v": "B", "x": "B", "elsewhere": "A"}), CATEGORIES)
    # Wilson (1927) by hand for 2 of 3.
    z, p, n = stats.norm.ppf(0.975), 2 / 3, 3
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found["r"].value, found["r"].n) == (pytest.approx(p), 3)
    assert (found["r"].low, found["r"].high) == pytest.approx(
        [(centre + side) / (1 + z * z / n) for side in (-half, half)]
    )
    assert not found["s"].defined
    assert found["s"].reason == "no answer to an item whose answer is known"
