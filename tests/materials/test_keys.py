from hypothesis import given
from hypothesis import strategies as st

from materials.keys import RESERVED, option_keys


def test_digits_in_order_then_letters_that_no_command_uses():
    keys = option_keys([f"o{i}" for i in range(14)])
    assert keys == [*"1234567890", "a", "b", "c", "d"]


def test_wanted_keys_stay_and_are_not_given_twice():
    assert option_keys(["a", "b", "c"], wanted=["", "1", "N"]) == ["2", "1", "n"]


def test_a_scale_keeps_its_digits():
    assert option_keys(["0", "1", "2"]) == ["0", "1", "2"]
    assert option_keys([str(i) for i in range(1, 11)]) == [*"123456789", "0"]
    assert option_keys(["-1", "0", "1"]) == ["2", "0", "1"]


@given(st.integers(0, 60))
def test_keys_are_distinct_and_free_of_commands(n):
    keys = [key for key in option_keys([f"o{i}" for i in range(n)]) if key]
    assert len(set(keys)) == len(keys)
    assert not RESERVED & set(keys)
