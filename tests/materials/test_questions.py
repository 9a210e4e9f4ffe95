import pytest
from hypothesis import given
from hypothesis import strategies as st

from materials.questions import (
    AnswerError,
    QuestionError,
    check_value,
    draw_orders,
    is_shown,
    option_codes,
    option_label,
    order_factor,
    parse_questions,
)


def options(*codes: str) -> list[dict[str, str]]:
    return [{"code": code, "text": code.upper()} for code in codes]


QUESTIONS = parse_questions(
    [
        {"kind": "choice", "code": "choice", "text": "?", "options": options("a", "b"), "required": False},
        {
            "kind": "multi",
            "code": "multi",
            "text": "?",
            "options": options("a", "b", "c"),
            "required": False,
            "maximum": 2,
        },
        {"kind": "scale", "code": "scale", "text": "?", "minimum": -2, "maximum": 2, "required": False},
        {"kind": "pairwise", "code": "pair", "text": "?", "first_field": "x", "second_field": "y", "allow_tie": True},
        {"kind": "text", "code": "text", "text": "?", "required": False, "max_length": 20},
        {"kind": "number", "code": "number", "text": "?", "minimum": 0, "maximum": 1e9},
        {"kind": "number", "code": "whole", "text": "?", "integer": True},
    ]
).questions
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["a", "first", "tie", "2", " 1 "]),
    st.lists,
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.code)
@given(value=ANYTHING)
def test_a_checked_value_is_stored_form_or_a_sentence(question, value):
    try:
        stored = check_value(question, value)
    except AnswerError:
        return
    if stored is not None:
        assert check_value(question, stored) == stored
        assert type(check_value(question, stored)) is type(stored)
    else:
        assert not question.required


@pytest.mark.parametrize(
    ("code", "value", "stored"),
    [
        ("multi", ["c", "a", "a"], ["a", "c"]),
        ("multi", [], []),
        ("scale", "-2", -2),
        ("scale", 1.0, 1),
        ("number", "1e3", 1000),
        ("number", 0.1, 0.1),
        ("whole", 3.0, 3),
        ("text", " a\x00 \x00", "a"),
        ("text", "\ud800", None),
        ("pair", "tie", "tie"),
    ],
)
def test_stored_forms(code: str, value: object, stored: object):
    question = next(question for question in QUESTIONS if question.code == code)
    assert check_value(question, value) == stored
    assert type(check_value(question, value)) is type(stored)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("multi", ["a", "b", "c"]),
        ("multi", "a"),
        ("scale", 3),
        ("scale", 0.5),
        ("scale", True),
        ("number", -1),
        ("number", "nan"),
        ("number", float("inf")),
        ("whole", 0.5),
        ("text", "x" * 21),
        ("pair", "A"),
        ("pair", None),
    ],
)
def test_refused_values(code: str, value: object):
    question = next(question for question in QUESTIONS if question.code == code)
    with pytest.raises(AnswerError):
        check_value(question, value)


def ordered(code: str, *codes: str, group: str = "") -> dict[str, object]:
    return {
        "kind": "choice",
        "code": code,
        "text": "?",
        "options": options(*codes),
        "randomise": True,
        "order_group": group,
    }


@given(key=st.text(max_size=30))
def test_an_order_is_a_permutation_and_a_function_of_its_key(key: str):
    questions = parse_questions(
        [
            ordered("one", "a", "b", "c", group="g"),
            ordered("two", "c", "b", "a", group="g"),
            ordered("three", "a", "b", "c", "d"),
            {
                "kind": "pairwise",
                "code": "pair",
                "text": "?",
                "first_field": "x",
                "second_field": "y",
                "allow_tie": True,
            },
            {"kind": "choice", "code": "fixed", "text": "?", "options": options("a", "b")},
        ]
    ).questions
    orders = draw_orders(questions, key=key)
    assert orders == draw_orders(questions, key=key)
    assert set(orders) == {"one", "two", "three", "pair"}
    for question in questions[:4]:
        assert sorted(orders[question.code]) == sorted(option_codes(question))
    assert orders["one"] == orders["two"]
    assert orders["pair"][-1] == "tie"


def test_every_order_comes_up_about_equally_often():
    questions = parse_questions([ordered("one", "a", "b", "c")]).questions
    drawn = [tuple(draw_orders(questions, key=f"1/{n}")["one"]) for n in range(3000)]
    counts = [drawn.count(order) for order in set(drawn)]
    assert len(counts) == 6
    assert all(400 < count < 600 for count in counts)  # 500 expected; five standard deviations are 102


def test_order_as_a_factor():
    assert order_factor({}) == {}
    assert order_factor({"one": ["b", "a"], "two": ["b", "a"]}) == {"option_order": "b|a"}
    assert order_factor({"two": ["a", "b"], "one": ["b", "a"]}) == {"option_order": "one: b|a; two: a|b"}


def test_show_if_looks_at_earlier_answers():
    first, one, many = parse_questions(
        [
            {"kind": "multi", "code": "m", "text": "?", "options": options("a", "b"), "required": False},
            {"kind": "text", "code": "t", "text": "?", "show_if": {"question": "m", "any_of": ["b"]}},
            {"kind": "text", "code": "u", "text": "?"},
        ]
    ).questions
    assert is_shown(first, {})
    assert [is_shown(one, {"m": given}) for given in (["a", "b"], ["a"], [], None)] == [True, False, False, False]
    assert not is_shown(one, {})
    assert is_shown(many, {})


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        ([], "at questions"),
        ([{"kind": "text", "code": "a", "text": "?"}] * 2, "used twice"),
        (
            [{"kind": "text", "code": "a", "text": "?", "show_if": {"question": "b", "any_of": ["x"]}}],
            "not asked before",
        ),
        ([{"kind": "choice", "code": "a", "text": "?", "options": options("x", "x")}], "same code"),
        (
            [{"kind": "choice", "code": "a", "text": "?", "options": options("x")}],
            "at questions > 1 > options",
        ),
        ([{"kind": "riddle", "code": "a", "text": "?"}], "riddle"),
        ([{"kind": "scale", "code": "a", "text": "?", "minimum": 1, "maximum": 1}], "1 to 100"),
        ([{"kind": "scale", "code": "a", "text": "?", "labels": ["x"]}], "one for each point"),
        ([{"kind": "number", "code": "a", "text": "?", "minimum": 2, "maximum": 1}], "maximum is below the minimum"),
        (
            [{"kind": "number", "code": "a", "text": "?", "minimum": 0.2, "maximum": 0.8, "integer": True}],
            "no whole number",
        ),
        (
            [{"kind": "multi", "code": "a", "text": "?", "options": options("x", "y"), "minimum": 3}],
            "the minimum is 3, but 2 options can be chosen together",
        ),
        (
            [{"kind": "multi", "code": "a", "text": "?", "options": options("x", "y"), "minimum": 2, "maximum": 1}],
            "maximum is below the minimum",
        ),
        ([{"kind": "text", "code": "A b", "text": "?"}], "code"),
        ([{"kind": "text", "code": "a", "text": "?", "colour": "red"}], "colour"),
    ],
)
def test_a_wrong_instrument_is_refused_with_its_place(questions: list, words: str):
    with pytest.raises(QuestionError, match=words) as refused:
        parse_questions(questions)
    assert len(refused.value.faults) == 1


def test_labels_come_from_the_item():
    pair = QUESTIONS[3]
    assert [option_label(pair, code, {"x": "X", "y": "Y"}) for code in ("first", "second", "tie")] == [
        "X",
        "Y",
        "Both equally",
    ]


def test_an_option_apart_stays_last_and_excludes_all_others():
    silent = {"code": "silent", "text": "I prefer not to say", "apart": True}
    (question,) = parse_questions(
        [
            {
                "kind": "multi",
                "code": "which",
                "text": "?",
                "options": [silent, *options("a", "b", "c")],
                "randomise": True,
                "minimum": 2,
            }
        ]
    ).questions
    assert {draw_orders([question], key=str(draw))["which"][-1] for draw in range(20)} == {"silent"}
    assert check_value(question, ["silent"]) == ["silent"]
    with pytest.raises(AnswerError, match="choose either 'I prefer not to say' or other options"):
        check_value(question, ["a", "b", "silent"])
    with pytest.raises(QuestionError, match="none of them can stand apart"):
        parse_questions([{"kind": "rank", "code": "order", "text": "?", "options": [silent, *options("a")]}])
