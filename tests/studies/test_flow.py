import pytest

from studies.design import Screening
from studies.flow import Parts, is_allowed, last_ending, steps_before_place, steps_of_place

FULL = Parts(
    platform_id=True,
    demographics=True,
    instructions=True,
    comprehension=True,
    pages=[[["a"], ["why"]], [["a"], []], [["a"], ["why"]]],
    checks={2: 0, 1: 1},
    debrief=True,
)


def test_the_full_order():
    assert [step.kind for step in steps_before_place(FULL)] == ["consent", "platform_id", "demographics"]
    steps = steps_of_place(FULL)
    assert " ".join(step.kind for step in steps) == (
        "instructions comprehension item item attention item attention item item debrief"
    )
    assert [(step.item, step.group, step.asked) for step in steps if step.kind == "item"] == [
        (0, 0, ("a",)),
        (0, 1, ("why",)),
        (1, 0, ("a",)),
        (2, 0, ("a",)),
        (2, 1, ("why",)),
    ]
    assert [step.check for step in steps if step.kind == "attention"] == [1, 0]


def test_what_a_study_lacks_is_left_out():
    assert [step.kind for step in steps_before_place(Parts())] == ["consent"]
    assert [step.kind for step in steps_of_place(Parts(pages=[[["a"]]]))] == ["item"]


def test_who_may_go_on():
    rules = [Screening(question="country", allowed=("India", "Nepal")), Screening(question="age", allowed=(1,))]
    assert is_allowed(rules, {"country": "Nepal", "age": 1})
    assert not is_allowed(rules, {"country": "Nepal", "age": 2})
    assert not is_allowed(rules, {"age": 1})
    assert is_allowed([], {})


@pytest.mark.parametrize(("passed", "ending"), [(False, "failed_attention"), (True, "completed"), (None, "completed")])
def test_how_the_last_screen_ends_a_session(passed, ending):
    assert last_ending(attention_passed=passed) == ending
