from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.design import DesignError, assign_items, attention_place, parse_design, parse_texts

LEVELS = st.lists(st.sampled_from("abc"), min_size=2, max_size=40)
CHECK = {
    "question": {
        "kind": "choice",
        "code": "attention",
        "text": "Choose blue.",
        "options": [{"code": "blue", "text": "Blue"}, {"code": "red", "text": "Red"}],
    },
    "expected": "blue",
}
SMALL = {"items_each": 2, "minutes": 5, "item_template": {"item_fields": ["situation"]}}


def sessions(strata, items_each, seed, n):
    return [assign_items(strata, items_each=items_each, number=number, seed=seed) for number in range(1, n + 1)]


@given(strata=LEVELS, data=st.data(), seed=st.integers())
def test_every_item_is_used_equally_often_or_once_more_after_any_number_of_people(strata, data, seed):
    items_each = data.draw(st.integers(1, len(strata)))
    counts = Counter(dict.fromkeys(range(len(strata)), 0))
    for items in sessions(strata, items_each, seed, data.draw(st.integers(1, 30))):
        assert len(items) == len(set(items)) == items_each
        counts.update(items)
        assert max(counts.values()) - min(counts.values()) <= 1


@given(strata=LEVELS, data=st.data(), seed=st.integers())
def test_each_person_gets_each_level_in_proportion(strata, data, seed):
    items_each = data.draw(st.integers(1, len(strata)))
    sizes = Counter(strata)
    for items in sessions(strata, items_each, seed, 10):
        drawn = Counter(strata[item] for item in items)
        lowest = max((drawn[level] - 1) / size for level, size in sizes.items())
        highest = min((drawn[level] + 1) / size for level, size in sizes.items())
        assert lowest < highest


@given(per_level=st.integers(1, 12), data=st.data(), seed=st.integers())
def test_levels_of_equal_size_differ_by_at_most_one_within_a_person(per_level, data, seed):
    strata = ["same", "close", "far"] * per_level
    items_each = data.draw(st.integers(3, len(strata)))
    for items in sessions(strata, items_each, seed, 10):
        drawn = Counter(strata[item] for item in items)
        assert max(drawn.values()) - min(drawn.values()) <= 1
        assert len(drawn) == 3


def test_the_seed_decides_items_and_order_and_blocks_differ():
    strata = ["x"] * 12
    assert sessions(strata, 4, 1, 9) == sessions(strata, 4, 1, 9)
    assert sessions(strata, 4, 1, 9) != sessions(strata, 4, 2, 9)
    blocks = [[sorted(items) for items in sessions(strata, 4, 1, 9)][start : start + 3] for start in (0, 3, 6)]
    assert sorted(blocks[0]) != sorted(blocks[1]) != sorted(blocks[2])


@given(items_each=st.integers(2, 40), number=st.integers(1, 500), seed=st.integers())
def test_the_attention_check_is_neither_first_nor_last(items_each, number, seed):
    assert 1 <= attention_place(items_each=items_each, number=number, seed=seed) <= items_each - 1


def test_the_attention_check_takes_every_place():
    places = {attention_place(items_each=5, number=number, seed=3) for number in range(1, 200)}
    assert places == {1, 2, 3, 4}


def test_too_few_items_is_a_sentence():
    with pytest.raises(DesignError, match="There are 3 items, and each person needs 4"):
        assign_items(["x"] * 3, items_each=4, number=1, seed=0)


def test_a_design_names_fields_in_short_or_with_a_label():
    design = parse_design({**SMALL, "item_template": {"item_fields": ["a", {"field": "b", "label": "B"}]}})
    assert [(entry.field, entry.label) for entry in design.item_template.item_fields] == [("a", ""), ("b", "B")]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"items_each": 0}, "Design, at items_each"),
        ({"itmes": 3}, "Design, at itmes"),
        ({"item_template": {"item_fields": []}}, "Design, at item_template > item_fields"),
        ({"items_each": 1, "attention_check": CHECK}, "items_each must be at least 2"),
        ({"attention_check": {**CHECK, "expected": "green"}}, "the expected answer is not allowed"),
    ],
)
def test_a_faulty_design_is_refused_with_its_place(change, sentence):
    with pytest.raises(DesignError, match=sentence):
        parse_design({**SMALL, **change})


def test_texts_need_a_title_and_consent():
    with pytest.raises(DesignError, match="Texts, at consent"):
        parse_texts({"title": "A"})


def test_the_expected_answer_is_compared_without_letter_case():
    check = parse_design({**SMALL, "attention_check": CHECK}).attention_check
    assert check.is_passed("Blue ")
    assert not check.is_passed("red")
