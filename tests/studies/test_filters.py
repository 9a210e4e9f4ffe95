from dataclasses import replace
from itertools import pairwise

import pytest

from studies.design import DesignError
from studies.filters import DEFAULT_FILTERS, Run, Submission, apply_filters, in_words, parse_filters

APPROVED = Submission("APPROVED", code="DONE42")
GOOD = Run(
    1,
    ended=True,
    attention_passed=True,
    seconds=300,
    code="DONE42",
    has_platform_id=True,
    submissions=(APPROVED,),
)


def out(kind, *runs, **parameters):
    """Why each run is out, alone with this filter."""
    return parse_filters([{"kind": kind, **parameters}])[0].reasons(runs)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (replace(GOOD, ended=False), {"did not come to the end": 1}),
        (replace(GOOD, has_platform_id=False), {"no platform id": 1}),
        (replace(GOOD, submissions=(Submission("RETURNED"),)), {"returned on the platform": 1}),
        (replace(GOOD, submissions=(Submission(),)), {"the platform has not told yet": 1}),
        (replace(GOOD, attention_passed=False), {"failed the attention checks": 1}),
        (replace(GOOD, submissions=(APPROVED, APPROVED)), {"more than one submission": 1}),
        (
            replace(GOOD, submissions=(replace(APPROVED, shared=True),)),
            {"another person came with the same submission": 1},
        ),
        (replace(GOOD, submissions=(replace(APPROVED, code="OTHER"),)), {"entered another code on the platform": 1}),
        (
            replace(GOOD, submissions=(replace(APPROVED, return_requested=True),)),
            {"asked to return on the platform": 1},
        ),
        (replace(GOOD, submissions=(Submission("REJECTED"),)), {"rejected on the platform": 1}),
    ],
)
def test_each_default_filter_stops_one_kind_of_session_and_says_why(run, why):
    rows, passed = apply_filters(DEFAULT_FILTERS, [GOOD, run])
    assert passed == [GOOD]
    assert [dict(row.out) for row in rows if row.out] == [why]
    assert all(later.came == earlier.kept for earlier, later in pairwise(rows))


def test_a_run_is_counted_out_once_at_the_first_filter_that_stops_it():
    rows, _ = apply_filters(DEFAULT_FILTERS, [replace(GOOD, ended=False, attention_passed=False)])
    assert [(row.came, row.kept) for row in rows] == [(1, 0)] + [(0, 0)] * 5


def test_without_a_platform_its_records_say_nothing():
    run = replace(GOOD, has_platform_id=False, submissions=None)
    assert apply_filters(DEFAULT_FILTERS, [run])[1] == [run]


def test_who_came_again_after_a_return_is_no_duplicate():
    assert out("duplicates", replace(GOOD, submissions=(Submission("RETURNED"), APPROVED))) == [""]


def test_too_fast_is_judged_on_the_logarithm_among_those_who_came_so_far():
    usual = [replace(GOOD, seconds=280 + 5 * n) for n in range(20)]
    hasty, slow = replace(GOOD, seconds=20), replace(GOOD, seconds=3000)
    assert [bool(why) for why in out("too_fast", *usual, hasty, slow)] == [False] * 20 + [True, False]
    dropped_out = replace(GOOD, seconds=1, ended=False)
    filters = parse_filters([{"kind": "completed"}, {"kind": "too_fast"}])
    rows, _ = apply_filters(filters, [*usual, *[dropped_out] * 30, hasty])
    assert dict(rows[1].out) == {"more than 3 SD faster than the others": 1}
    assert out("too_fast", hasty) == out("too_fast", replace(GOOD, seconds=None)) == [""]
    assert out("too_fast", hasty, hasty) == ["", ""]


def test_straight_lining_is_the_same_place_for_every_question():
    lines = {"personal": (0, 0, 0, 0, 0), "norm": (1, 1, 1, 1, 1)}
    varied = lines | {"norm": (1, 1, 1, 1, 0)}
    short = {code: places[:4] for code, places in lines.items()}
    runs = [replace(GOOD, places=places) for places in (lines, varied, short, {})]
    assert [bool(why) for why in out("straight_lining", *runs)] == [True, False, False, False]
    assert [bool(why) for why in out("straight_lining", *runs, questions=["personal"], at_least=4)] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([{"kind": "completed"}, {"kind": "luck"}], "Filters, at 2"),
        ([{"kind": "too_fast", "sd": 0}], "Filters, at 1 > too_fast > sd"),
        ([{"kind": "attention"}, {"kind": "attention"}], "attention is there twice"),
        ("all", "Filters: "),
    ],
)
def test_filters_that_cannot_be_used_say_where(data, place):
    with pytest.raises(DesignError, match=place):
        parse_filters(data)


def test_filters_in_words_and_back():
    assert parse_filters([entry.model_dump(mode="json") for entry in DEFAULT_FILTERS]) == DEFAULT_FILTERS
    told = [in_words(entry) for entry in parse_filters([{"kind": "too_fast"}, {"kind": "straight_lining"}])]
    assert told == ["Too fast (sd 3)", "Straight-lining (at least 5)"]
