from hypothesis import given
from hypothesis import strategies as st

from materials.keys import RESERVED, form_keys, option_keys


def test_digits_in_order_then_letters_that_no_command_uses():
    keys = option_keys([f"o{i}" for i in range(14)])
    assert keys == [*"1234567890", "a", "b", "c", "d"]


def test_wanted_keys_stay_and_are_not_given_twice():
    assert option_keys(["a", "b", "c"], wanted=["", "1", "N"]) == ["2", "1", "n"]


def test_a_command_keeps_its_key_and_an_option_the_one_it_has_first():
    assert option_keys(["a", "b", "c"], wanted=["u", "y", "Y"]) == ["1", "y", "2"]


def test_no_key_of_a_form_is_given_twice_while_digits_suffice():
    pair, scale = (["a", "b"], ["", ""]), (["1", "2", "3"], ["", "", ""])
    assert form_keys([pair, scale, pair]) == [["4", "5"], ["1", "2", "3"], ["6", "7"]]
    assert form_keys([pair] * 5) == [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"], ["9", "0"]]
    assert form_keys([pair] * 6) == [["1", "2"]] * 6
    assert form_keys([scale, scale]) == [["1", "2", "3"]] * 2
    assert form_keys([(["a", "b"], ["y", "n"])] * 2) == [["y", "n"]] * 2
    assert form_keys([([], []), pair]) == [[], ["1", "2"]]


def test_a_scale_keeps_its_digits():
    assert option_keys(["0", "1", "2"]) == ["0", "1", "2"]
    assert option_keys([str(i) for i in range(1, 11)]) == [*"123456789", "0"]
    assert option_keys(["-1", "0", "1"]) == ["2", "0", "1"]


@given(st.integers(0, 60))
def test_keys_are_distinct_and_free_of_commands(n):
    keys = [key for key in option_keys([f"o{i}" for i in range(n)]) if key]
    assert len(set(keys)) == len(keys)
    assert not RESERVED & set(keys)
