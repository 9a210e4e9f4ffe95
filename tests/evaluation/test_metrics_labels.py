"""Labels from several ratings: ties are told, and Dawid-Skene finds what crowd-kit finds."""

import numpy as np
import pandas as pd
import pytest

from evaluation.metrics.labels import dawid_skene, majority_labels

CATEGORIES = ["A", "B", "C"]
# 24 items, one string a rater, a dot for no rating.
GIVEN = {
    "p": ".C.CABA.ABBBA.C.C.ACBABC",
    "q": "CAC.AA..A.BCABC.A..ABABC",
    "r": "BAC.ABAAABBA.AAAC..BBCBC",
    "s": ".C..C.C.ABB.A.BA.CBBB.CC",
}


@pytest.fixture
def ratings():
    return pd.DataFrame({rater: list(answers) for rater, answers in GIVEN.items()}).replace(".", None)


def test_majority_with_ties_and_without_ratings():
    ratings = pd.DataFrame({"r": ["B", "B", None], "s": ["A", "B", None], "t": [None, "A", None]}, index=list("xyz"))
    found = majority_labels(ratings, CATEGORIES, ties="undefined")
    assert found["label"].tolist() == [None, "B", None]
    assert found["reason"].tolist() == ["categories are tied", "", "nobody rated it"]
    assert found["share"].tolist() == pytest.approx([1 / 2, 2 / 3, np.nan], nan_ok=True)
    assert majority_labels(ratings, CATEGORIES, ties="first_declared")["label"].tolist() == ["A", "B", None]


def test_dawid_skene_equals_crowd_kit(ratings):
    """Values of crowd-kit 1.4.2, run until its likelihood no longer moved."""
    found = dawid_skene(ratings, CATEGORIES, tolerance=1e-12)
    assert found.converged
    assert "".join(found.labels["label"]) == "BCCCABAAABBBABCACCACBABC"
    assert found.prevalence.tolist() == pytest.approx([0.340832587, 0.322874963, 0.336292450], abs=1e-6)
    expected = [[0.934669, 0.065331, 0], [0.157569, 0.586221, 0.256210], [0.470664, 0, 0.529336]]
    assert found.confusion["q"].to_numpy() == pytest.approx(np.array(expected), abs=1e-5)
    uncertain = found.labels.query("probability < 0.99")["probability"].tolist()
    assert sorted(uncertain) == pytest.approx([0.458802, 0.591819, 0.626021, 0.720408], abs=1e-5)


def test_more_iterations_never_fit_worse(ratings):
    fits = [dawid_skene(ratings, CATEGORIES, tolerance=1e-12, max_iterations=n) for n in (1, 2, 5, 20)]
    assert [fit.log_likelihood for fit in fits] == sorted(fit.log_likelihood for fit in fits)
    assert not any(fit.converged for fit in fits)


def test_good_raters_outweigh_a_careless_majority():
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=400)
    accuracies = {"good": 0.95, "better": 0.95, "w": 0.35, "x": 0.35, "y": 0.35}
    given = {r: np.where(rng.random(400) < a, truth, rng.integers(3, size=400)) for r, a in accuracies.items()}
    ratings = pd.DataFrame({rater: np.array(CATEGORIES)[codes] for rater, codes in given.items()})
    right = np.array(CATEGORIES)[truth]
    found = dawid_skene(ratings, CATEGORIES)
    majority = majority_labels(ratings, CATEGORIES, ties="first_declared")
    assert (found.labels["label"] == right).mean() > (majority["label"] == right).mean() + 0.03
    # A rater who is right with probability a and else guesses gives the true category with a + (1 - a) / 3.
    assert np.diag(found.confusion["good"]) == pytest.approx([0.9667] * 3, abs=0.04)


def test_what_dawid_skene_cannot_label_says_why():
    ratings = pd.DataFrame({"r": ["A", None], "s": ["B", None]}, index=["x", "y"])
    found = dawid_skene(ratings, CATEGORIES)
    assert found.labels["label"].tolist() == [None, None]
    assert found.labels["reason"].tolist() == ["categories are tied", "nobody rated it"]
    assert found.confusion["r"].loc["C"].isna().all()
