"""The search over subsets of preferences against plain loops, and the majority vote it counts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.subsets import MOST_PREFERENCES, score_subsets, select_subsets
from evaluation.metrics.votes import majority_votes


@st.composite
def judged(draw):
    m = draw(st.integers(1, 6))
    vote = st.sampled_from([0.0, 1.0, float("nan")])
    row = st.tuples(st.lists(vote, min_size=m, max_size=m), st.booleans())
    votes, first = zip(*draw(st.lists(row, min_size=1, max_size=8)), strict=True)
    return np.array(votes), np.array(first)


def plain(votes, first):
    """Right rows of the two orders for each subset, by looking at one after the other."""
    m = votes.shape[1]
    subsets = [subset for size in range(1, m + 1) for subset in combinations(range(m), size)]
    right = {subset: majority_votes(votes[:, list(subset)], first)["right"] for subset in subsets}
    return {subset: (int(rows[first].sum()), int(rows[~first].sum())) for subset, rows in right.items()}


def selected(found):
    return [tuple(np.flatnonzero(members).tolist()) for members in found.subsets]


@given(judged(), st.booleans())
def test_the_search_finds_what_plain_loops_find(data, penalty):
    votes, first = data
    by_subset = plain(votes, first)
    metric = {subset: 2 * min(pair) if penalty else sum(pair) for subset, pair in by_subset.items()}
    found = select_subsets(votes, first, rule="paper", difference_penalty=penalty)
    assert found.best_metric == max(metric.values())
    assert selected(found) == [subset for subset, value in metric.items() if value == found.best_metric]
    worst = min(map(sum, by_subset.values()))
    released = select_subsets(votes, first, rule="released", difference_penalty=penalty)
    assert released.inverted_worst_metric == (~np.isnan(votes)).any(axis=1).sum() - worst
    if released.strategy == "inverted_worst":
        assert selected(released) == [subset for subset, pair in by_subset.items() if sum(pair) == worst]
        assert released.inverted_worst_metric > released.best_metric
    else:
        assert selected(released) == selected(found)


@given(judged())
def test_scores_are_means_over_subsets(data):
    votes, first = data
    subsets = np.eye(votes.shape[1], dtype=bool)
    tables = [majority_votes(votes[:, [column]], first) for column in range(votes.shape[1])]
    score, turned = (score_subsets(votes, first, subsets, inverted=inverted) for inverted in (False, True))
    assert score.mean_right == np.mean([table["right"].sum() for table in tables])
    assert score.mean_denominator == np.mean([table["voted"].sum() for table in tables])
    assert turned.mean_right == pytest.approx(score.mean_denominator - score.mean_right)


def test_hundreds_of_rows_are_counted_without_overflow():
    votes, first = np.ones((700, 8)), np.arange(700) < 400
    found = select_subsets(votes, first, rule="paper")
    assert (found.best_metric, len(found.subsets)) == (700, 255)
    assert select_subsets(votes, first, rule="paper", difference_penalty=True).best_metric == 600


def test_tables_larger_than_a_block_are_whole():
    votes = np.random.default_rng(3).integers(0, 2, (9, 18))
    members = np.arange(1, 2**18)[:, None] >> np.arange(18) & 1
    right = (members @ (2 * votes - 1).T > 0).sum(axis=1)
    found = select_subsets(votes, np.zeros(9), rule="paper")
    best = members[right == right.max()]
    assert found.best_metric == right.max()
    assert set(map(tuple, found.subsets.astype(int))) == set(map(tuple, best))


def test_nobody_votes():
    score = score_subsets([[float("nan")]], [True], [[True]])
    assert score.accuracy.reason == "no row has a vote"


@pytest.mark.parametrize(
    ("votes", "first", "words"),
    [
        ([[2]], [True], "at row 0, column 0 it is 2"),
        ([[1]], [True, False], "votes has 1, right_first has 2"),
        ([[1]], [None], "at position 0 it is NaN"),
        (np.ones((1, MOST_PREFERENCES + 1)), [True], f"1 to {MOST_PREFERENCES} preferences"),
        (np.ones((1, 0)), [True], "here are 0"),
    ],
)
def test_what_cannot_be_searched_is_refused(votes, first, words):
    with pytest.raises(ValueError, match=words):
        select_subsets(votes, first, rule="paper")
