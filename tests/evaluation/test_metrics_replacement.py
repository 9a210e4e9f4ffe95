"""The alternative annotator test against values by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evaluation.metrics.replacement import alternative_annotator_test


def table(n: int, **flipped: int) -> pd.DataFrame:
    """Three people and a model who all say 1 of n items, but for the first so many of each."""
    columns = {name: [0] * flipped.get(name, 0) + [1] * (n - flipped.get(name, 0)) for name in ("r", "s", "t", "model")}
    return pd.DataFrame(columns)


def test_wins_and_p_values_are_those_of_the_hand():
    found = alternative_annotator_test(table(40, model=10, r=4), model="model", epsilon=0.2)
    r, s, t = found.annotators
    # On 4 items the model says as r does: a tie. On 6 only the model differs from all others.
    assert (r.advantage, r.own_advantage, r.n) == (34 / 40, 1.0, 40)
    difference = np.array([1] * 6 + [0] * 34)
    assert r.p_value == pytest.approx(stats.ttest_1samp(difference, 0.2, alternative="less").pvalue)
    # Left out s: of r and t one agrees with the model on the first 4, one with s.
    assert (s.advantage, s.own_advantage) == (34 / 40, 1.0)
    assert s == s.__class__(**{name: getattr(t, name) for name in t.__slots__ if name != "annotator"}, annotator="s")
    assert r.q_value == pytest.approx(r.p_value * (1 + 1 / 2 + 1 / 3))  # all p-values are the same
    assert not r.won
    assert found.winning_rate.value == 0
    assert found.advantage.value == pytest.approx(34 / 40)


def test_a_model_that_says_as_most_people_wins_against_all():
    found = alternative_annotator_test(table(40, r=10, s=1, t=1), model="model", epsilon=0.1)
    assert [one.won for one in found.annotators] == [True, True, True]
    assert (found.winning_rate.value, found.winning_rate.n) == (1.0, 3)
    assert found.winning_rate.low == pytest.approx(0.4385, abs=1e-4)  # Wilson's of 3 of 3


def test_the_interval_of_the_advantage_is_over_annotators():
    answers = np.random.default_rng(2).integers(0, 2, size=(40, 4))
    found = alternative_annotator_test(pd.DataFrame(answers, columns=list("rstm")), model="m", epsilon=0.1)
    half = 4.302653 * np.std([one.advantage for one in found.annotators], ddof=1) / 3**0.5
    assert half > 0
    assert found.advantage.high - found.advantage.low == pytest.approx(2 * half)


def test_items_count_only_with_the_model_and_another_annotator():
    rated = table(40).astype(object)
    rated.loc[:9, "model"] = None
    rated.loc[10:14, ["s", "t"]] = None
    rated.loc[20:, "t"] = None
    found = alternative_annotator_test(rated, model="model", epsilon=0.1, min_items=20)
    assert [(one.annotator, one.n) for one in found.annotators] == [("r", 25), ("s", 25)]
    assert found.reason == "1 of 3 annotators left out: fewer than 20 items"


def test_without_enough_items_it_says_so():
    found = alternative_annotator_test(table(29), model="model", epsilon=0.1)
    assert found.reason == "no annotator shares 30 items with the model and another annotator"
    with pytest.raises(ValueError, match="has no column 'tiny'"):
        alternative_annotator_test(table(29), model="tiny", epsilon=0.1)
