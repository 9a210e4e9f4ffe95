from materials.item_parts import Entry, Part, item_parts, pairs
from materials.presentation import shown_questions
from materials.questions import parse_questions

CONTENT = {"question": "Shall we?", "one": "Yes.", "two": "No.", "turns": ["a", "b"], "meta": {"k": 1}, "none": None}
QUESTIONS = parse_questions(
    [
        {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"},
        {"kind": "scale", "code": "sure", "text": "Sure?", "low_label": "no", "high_label": "yes"},
        {"kind": "number", "code": "age", "text": "Age?", "minimum": 0, "integer": True},
        {"kind": "text", "code": "why", "text": "Why?", "show_if": {"question": "sure", "any_of": [1, 2]}},
    ]
)


def shown(orders=None, answers=None):
    questions = shown_questions(QUESTIONS, CONTENT, orders=orders or {}, answers=answers or {}, errors={"why": "No."})
    return {question.code: question for question in questions}


def test_chosen_fields_in_their_order_with_their_labels():
    parts = item_parts(CONTENT, ["turns", {"field": "question", "label": "Asked"}, "missing"])
    assert parts == [Part("Turns", entries=(Entry("a"), Entry("b"))), Part("Asked", text="Shall we?")]


def test_every_field_when_none_are_chosen():
    parts = item_parts(CONTENT, [], without=["one", "two"])
    assert [part.label for part in parts] == ["Question", "Turns", "Meta", "None"]
    assert [part.label for part in item_parts({"Option A": "", "own_action": ""}, [])] == ["Option A", "Own action"]
    assert parts[2].code == '{\n  "k": 1\n}'


def test_sides_follow_the_order_and_codes_stay_with_their_text():
    (sides,) = pairs(QUESTIONS, CONTENT, {"better": ["second", "first"]}).values()
    assert sides == [Part("A", text="No."), Part("B", text="Yes.")]
    options = shown({"better": ["second", "first"]})["better"].options
    assert [(option.label, option.code, option.hotkey) for option in options] == [
        ("A", "second", "6"),
        ("B", "first", "7"),
    ]


def test_keys_are_distinct_over_the_form_and_shared_ones_are_known():
    assert not any(option.shared for question in shown().values() for option in question.options)
    yes_no = [{"code": code, "text": code, "hotkey": code[0]} for code in ("yes", "no")]
    third = [{"code": "a", "text": "A", "hotkey": "a"}, {"code": "b", "text": "B", "hotkey": "n"}]
    asked = [
        {"kind": "choice", "code": f"q{i}", "text": "?", "options": options}
        for i, options in enumerate([yes_no, yes_no, third])
    ]
    questions = shown_questions(parse_questions(asked), {}, orders={}, answers={}, errors={})
    assert [[(option.hotkey, option.shared) for option in question.options] for question in questions] == [
        [("y", True), ("n", True)],
        [("y", True), ("n", True)],
        [("a", False), ("n", True)],
    ]


def test_ends_of_a_scale_limits_conditions_and_errors():
    questions = shown(answers={"sure": 2})
    assert questions["sure"].ends == ("no", "yes")
    assert [option.help for option in questions["sure"].options] == ["no", "", "", "", "yes"]
    assert questions["sure"].selected == ["2"]
    assert questions["age"].limits == {"min": 0, "step": 1}
    assert questions["why"].show_if == '{"name": "answer_sure", "any_of": ["1", "2"]}'
    assert questions["why"].error == "No."
