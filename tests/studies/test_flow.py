import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.flow import Parts, outcome, plan

FULL = Parts(consent=True, demographics=True, instructions=True, items=3, attention_after=2, debrief=True)


def test_the_full_order():
    kinds = [step.kind for step in plan(FULL)]
    assert kinds == ["consent", "demographics", "instructions", "item", "item", "attention", "item", "debrief"]
    assert [step.item for step in plan(FULL) if step.kind == "item"] == [0, 1, 2]


@given(st.builds(Parts, items=st.integers(1, 20), attention_after=st.none() | st.integers(1, 19)))
def test_every_item_comes_once_and_the_check_stands_where_it_was_drawn(parts):
    steps = plan(parts)
    kinds = [step.kind for step in steps]
    assert [step.item for step in steps if step.kind == "item"] == list(range(parts.items))
    assert kinds.count("consent") == parts.consent
    if parts.attention_after is not None and parts.attention_after < parts.items:
        assert kinds[: kinds.index("attention")].count("item") == parts.attention_after


@pytest.mark.parametrize(
    ("consented", "remaining", "attention", "expected"),
    [
        (False, 9, None, "no_consent"),
        (True, 3, False, "started"),
        (True, 0, False, "failed_attention"),
        (True, 0, True, "completed"),
        (True, 0, None, "completed"),
    ],
)
def test_outcomes(consented, remaining, attention, expected):
    assert outcome(consented=consented, remaining=remaining, attention_passed=attention) == expected
