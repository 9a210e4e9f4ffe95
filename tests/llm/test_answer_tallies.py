"""Shares of options and places, with values worked out by hand."""

import math

import pytest

from llm.pages.answer_tallies import Tally, label_shares, position_shares
from llm.pages.histogram import MOST_BINS, histogram
from materials.questions import parse_questions
from responses.intervals import wilson_share

YES_NO = [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}]
CHOICE = {"kind": "choice", "code": "q", "text": "?", "options": YES_NO, "randomise": True}
PAIR = {"kind": "pairwise", "code": "p", "text": "?", "first_field": "a", "second_field": "b", "allow_tie": True}


def questions(*asked):
    return parse_questions(list(asked)).questions


def test_shares_count_each_answer_once_whatever_the_order():
    tallies = [Tally("q", ("yes", "no"), "yes", 6), Tally("q", ("no", "yes"), "yes", 2), Tally("q", (), "no", 2)]
    (labels,) = label_shares(questions(CHOICE), tallies, {"q": 10}, {("q", "yes"): (0.75, 4)})
    assert [(option.code, option.count, option.share.value) for option in labels.options] == [
        ("yes", 8, 0.8),
        ("no", 2, 0.2),
    ]
    assert labels.options[0].probability == 0.75
    assert math.isnan(labels.options[1].probability)
    assert labels.n_probabilities == 4


def test_a_question_that_nobody_answered_has_no_distribution():
    assert label_shares(questions(CHOICE), [], {}, {}) == []


def test_answers_that_follow_the_place_differ_from_what_is_expected():
    tallies = [Tally("q", ("yes", "no"), "yes", 100), Tally("q", ("no", "yes"), "no", 100)]
    (positions,) = position_shares(questions(CHOICE), tallies)
    first, last = positions.places
    assert (first.share.value, first.expected, first.differs) == (1.0, 0.5, True)
    assert (last.share.value, last.expected) == (0.0, 0.5)
    yes = positions.options[0]
    assert (yes.first.value, yes.first.n, yes.last.value, yes.last.n) == (1.0, 100, 0.0, 100)


def test_answers_that_follow_the_option_are_as_expected_also_when_one_order_came_more_often():
    tallies = [Tally("q", ("yes", "no"), "yes", 90), Tally("q", ("no", "yes"), "yes", 30)]
    (positions,) = position_shares(questions(CHOICE), tallies)
    first = positions.places[0]
    assert (first.share.value, first.expected) == (0.75, 0.75)
    assert not first.differs


def test_ties_stay_out_because_their_place_is_fixed():
    tallies = [
        Tally("p", ("first", "second", "tie"), "first", 3),
        Tally("p", ("second", "first", "tie"), "first", 1),
        Tally("p", ("second", "first", "tie"), "tie", 50),
    ]
    (positions,) = position_shares(questions(PAIR), tallies)
    assert positions.n == 4
    assert positions.places[0].share.value == 0.75
    assert positions.places[1].share.value == 0.25


@pytest.mark.parametrize("order", [(), ("yes", "no")])
def test_one_order_tells_nothing_about_places(order):
    assert position_shares(questions(CHOICE), [Tally("q", order, "yes", 5), Tally("q", order, "no", 5)]) == []


def test_the_interval_of_nothing_is_undefined_and_that_of_extremes_stays_within_0_and_1():
    assert math.isnan(wilson_share(0, 0).value)
    nothing, everything = wilson_share(0, 10), wilson_share(10, 10)
    assert (nothing.low, round(nothing.high, 4)) == (0.0, 0.2775)  # 1.96² / (10 + 1.96²)
    assert (round(everything.low, 4), round(everything.high, 9)) == (0.7225, 1.0)


@pytest.mark.parametrize("values", [[0.3], [0.0, 0.0], [0.1] * 50 + [0.2] * 50, [0.1 + n / 1000 for n in range(500)]])
def test_every_value_is_in_one_bin_and_there_are_few_bins(values):
    bins = histogram(sorted(values))
    assert sum(one.count for one in bins) == len(values)
    assert len(bins) <= MOST_BINS
    assert bins[0].low <= min(values)
    assert bins[-1].high >= max(values)


def test_a_time_out_does_not_press_all_others_into_one_bin():
    bins = histogram([*(0.1 + n / 1000 for n in range(199)), 60.0])
    assert (bins[-1].open, bins[-1].count, bins[-1].high) == (True, 1, 60.0)
    assert len(bins) > 5
