import json
import sys

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llm.reading.parsing import (
    ANSWER_MODES,
    answer_format,
    answer_schema,
    lettered_options,
    parse_reply,
    split_reasoning,
)
from llm.reading.replytext import split_think
from materials.questions import parse_questions

YES_NO = [{"code": "yes", "text": "Yes, always"}, {"code": "no", "text": "No"}]
NORM = {"kind": "choice", "code": "norm", "text": "?", "options": YES_NO}
PREFERENCE = {"kind": "choice", "code": "preference", "text": "?", "options": YES_NO}
WHY = {"kind": "multi", "code": "why", "text": "?", "options": [{"code": c, "text": f"Why {c}"} for c in "xyz"]}
SURE = {"kind": "scale", "code": "sure", "text": "?", "minimum": -2, "maximum": 2}
AGE = {"kind": "number", "code": "age", "text": "?", "minimum": 18.5, "required": False}
NOTE = {"kind": "text", "code": "note", "text": "?"}
BETTER = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"}
ALL = [NORM, WHY, SURE, AGE, NOTE, BETTER]
REVERSED = {"norm": ["no", "yes"]}


def asked(*questions):
    return parse_questions(list(questions)).questions


def parse(text, *questions, orders=None, **options):
    return parse_reply(text, asked(*questions), orders or {}, **options)


def test_letters_follow_the_order_shown_and_labels_the_item():
    (norm, better) = asked(NORM, BETTER)
    assert [(o.letter, o.code, o.label) for o in lettered_options(norm, ["no", "yes"])] == [
        ("A", "no", "No"),
        ("B", "yes", "Yes, always"),
    ]
    content = {"one": "first text", "two": "second text"}
    assert [o.label for o in lettered_options(better, ["second", "first"], content)] == ["second text", "first text"]
    with pytest.raises(ValueError, match="norm: the order yes, yes does not hold each option once"):
        lettered_options(norm, ["yes", "yes"])
    (many,) = asked({**NORM, "options": [{"code": f"c{n}", "text": f"t{n}"} for n in range(28)]})
    assert [o.letter for o in lettered_options(many)][24:] == ["Y", "Z", "AA", "AB"]


def test_the_schema_has_one_required_property_a_question():
    schema = answer_schema(asked(*ALL), {})
    assert schema["properties"] == {
        "norm": {"type": "string", "enum": ["A", "B"]},
        "why": {
            "type": "array",
            "items": {"type": "string", "enum": ["A", "B", "C"]},
            "minItems": 1,
            "maxItems": 3,
        },
        "sure": {"type": "integer", "minimum": -2, "maximum": 2},
        "age": {"type": ["number", "null"], "minimum": 18.5},
        "note": {"type": "string"},
        "better": {"type": "string", "enum": ["A", "B"]},
    }
    assert schema["required"] == ["norm", "why", "sure", "age", "note", "better"]
    assert schema["additionalProperties"] is False
    jsonschema.Draft202012Validator.check_schema(schema)


def test_optional_and_conditional_choices_may_be_null():
    conditional = {**PREFERENCE, "show_if": {"question": "norm", "any_of": ["yes"]}}
    assert answer_schema(asked(NORM, conditional), {})["properties"]["preference"] == {
        "type": ["string", "null"],
        "enum": ["A", "B", None],
    }
    assert parse('{"norm": "A", "preference": "B"}', NORM, conditional).values == {"norm": "yes", "preference": "no"}
    hidden = parse('{"norm": "B", "preference": "A"}', NORM, conditional)
    assert (hidden.status, hidden.values) == ("ok", {"norm": "no"})
    missing = parse('{"norm": "A", "preference": null}', NORM, conditional)
    assert (missing.status, missing.problem) == ("unparsed", "preference: an answer is required.")


def test_the_format_in_words():
    assert answer_format(asked(NORM, SURE, AGE), {}) == (
        'Answer with one JSON object and nothing else: {"norm": one of "A", "B", '
        '"sure": a whole number from -2 to 2, "age": a number of at least 18.5 or null}.'
    )


SPAN = {"kind": "span", "code": "q", "text": "?", "field": "story", "labels": [{"code": "good", "text": "good"}]}
PASSAGE = 'each {"text": words copied exactly from story, "label": one of "good"}'


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (NOTE | {"max_length": 1200}, "a text of at most 1,200 characters"),
        (WHY, 'a list of at least 1 letter among "A", "B", "C"'),
        (WHY | {"minimum": 2, "maximum": 2}, 'a list of 2 letters among "A", "B", "C"'),
        (WHY | {"required": False}, 'a list of letters among "A", "B", "C" or null'),
        (
            WHY | {"maximum": 2, "options": [*WHY["options"][:2], {"code": "none", "text": "None", "apart": True}]},
            'a list of 1 to 2 letters among "A", "B", "C" ("C" only alone)',
        ),
        (SPAN, f"a list of at least 1 passage without overlap, {PASSAGE}"),
        (SPAN | {"most": 3, "overlap": True, "required": False}, f"a list of at most 3 passages, {PASSAGE} or null"),
    ],
)
def test_models_are_told_what_the_instrument_refuses(question, words):
    assert answer_format(asked(question), {}).endswith(f'{{"{question["code"]}": {words}}}.')


def test_every_kind_is_read_from_json_into_codes():
    reply = {"norm": "A", "why": ["C", "A"], "sure": -1, "age": None, "note": " so ", "better": "B"}
    parsed = parse(json.dumps(reply), *ALL, orders={**REVERSED, "better": ["second", "first"]})
    assert (parsed.status, parsed.mode, parsed.problem) == ("ok", "json", "")
    assert parsed.values == {"norm": "no", "why": ["x", "z"], "sure": -1, "note": "so", "better": "first"}


@pytest.mark.parametrize(
    "text",
    [
        '{"norm": "A", "preference": "B"}',
        'Sure!\n```json\n{"norm": "a", "preference": "(B)"}\n```\nHope this helps.',
        '<think>{"norm": "B", "preference": "A"} or rather</think>{"norm": "A", "preference": "B"}',
        'the template opened it</think> {"norm": "A", "preference": "B"}',
        '<think>never closed {"norm": "A", "preference": "B"}',
        '{"norm": "No", "preference": "yes, always."}',
        '{"norm": "A. No", "preference": "B: Yes, always"}',
        'Draft {"norm": "A", "preference": "B"}, final {"preference": "B", "norm": "A"}',
        '{"norm": "A", "preference": "B", "because": {"norm": "B"}}',
    ],
)
def test_json_is_found_where_models_put_it(text):
    parsed = parse(text, NORM, PREFERENCE, orders={"norm": ["no", "yes"], "preference": ["no", "yes"]})
    assert (parsed.status, parsed.values) == ("ok", {"norm": "no", "preference": "yes"}), parsed.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The reply is empty."),
        ("<think>A or B", "The reply is empty."),
        ("I would say A.", "The reply holds no JSON object with the answers."),
        ('{"norm": "A"', "The reply holds no JSON object with the answers."),
        ('{"answer": "A"}', "The JSON object has no key norm, preference."),
        ('{"norm": "A"}', "preference: an answer is required."),
        ('{"norm": "A", "preference": "C"}', "preference: 'C' is not one of A, B."),
        ('{"norm": "A", "preference": "no"}', None),
        ('{"norm": "A", "preference": "B. Yes, always"}', "preference: 'B. Yes, always' fits several of A, B."),
        ('{"norm": "A", "preference": ["A"]}', "preference: \"['A']\" is not one of A, B."),
        ('{"norm": "A", "preference": 1}', "preference: '1' is not one of A, B."),
        (
            '{"norm": "A", "norm": "B", "preference": "A"}',
            'The JSON object has the key "norm" twice with different values.',
        ),
        (
            'Either {"norm": "A", "preference": "A"} or {"norm": "B", "preference": "A"}',
            "The reply holds several JSON objects that differ.",
        ),
        ("{" * 100_000, "The reply holds no JSON object with the answers."),
        ('{"norm":' * 5_000, "The reply holds no JSON object with the answers."),
    ],
)
def test_what_is_not_clearly_one_answer_is_unparsed_with_the_reason(text, problem):
    parsed = parse(text, NORM, PREFERENCE)
    if problem is None:
        assert parsed.status == "ok"
        return
    assert (parsed.status, parsed.values, parsed.problem) == ("unparsed", {}, problem)


@pytest.mark.parametrize(
    ("text", "value", "mode"),
    [
        ("A", "yes", "letter"),
        ("b.", "no", "letter"),
        ("(b)", "no", "letter"),
        ("**B**", "no", "letter"),
        ("[[A]]", "yes", "letter"),
        ("No", "no", "label"),
        ("**Yes, always.**", "yes", "label"),
        ("Answer: B", "no", "letter"),
        ("Answer: B because it is rude.", "no", "letter"),
        ("Answer: A because it is rude.", "yes", "letter"),
        ("Answer: No.", "no", "label"),
        ("The answer is (A).", "yes", "letter"),
        ("A guest who declines is polite, so my final answer is: **B**", "no", "letter"),
        ("Most people help. I would go with A.", "yes", "letter"),
        ("Most people help. I would go with B.", "no", "letter"),
        ("B. No", "no", "label"),
        ("B) Because it is rude", "no", "letter"),
        ("B, a guest sits down.", "no", "letter"),
        ("They would help, so\nB", "no", "letter"),
        ("I prefer A to B.", "yes", "letter"),
        ("I prefer B to A.", "no", "letter"),
        ("Not everyone agrees. Answer: B", "no", "letter"),
        ("I choose option A, since B is rude.", "yes", "letter"),
        ("<think>A? No, rather B.</think>\nA", "yes", "letter"),
        ('{"answer": "B"}', "no", "json"),
    ],
)
def test_a_single_choice_may_be_answered_in_words(text, value, mode):
    parsed = parse(text, NORM)
    assert (parsed.status, parsed.values, parsed.mode) == ("ok", {"norm": value}, mode), parsed.problem


@pytest.mark.parametrize(
    "text",
    [
        "Both have their merits, it depends.",
        "Answer: A or B",
        "Answer: A/B",
        "The answer is A if they are friends, otherwise no.",
        "Is the answer A?",
        "A or B.",
        "A is better than B.",
        "B is better than A.",
        "A beats B.",
        "(A) is worse than B.",
        "(B) is worse than A.",
        "A. Because B is rude",
        "B. Because A is rude",
        "I would not choose A.",
        "I wouldn't go with B.",
        "I prefer A or B.",
        "A, B",
        "(a) or (b)",
        "It is not A.",
        "Neither (A) fits.",
        "A guest should help.",
        "a polite refusal",
        "Answer: a polite refusal is best",
        "I cannot help with that.",
        "downgrade: the table",
        "Answer: Both",
        "Always",
        "Vitamin-B",
        "In the U.S.A. it is fine",
        "A's turn",
        "B. Yes, always",
        "Answer with 'Answer: A' or 'Answer: B'. Answer: B",
        "C",
        "Answer: C",
        "yes",
    ],
)
def test_a_letter_is_never_guessed(text):
    parsed = parse(text, NORM)
    assert (parsed.status, parsed.values) == ("unparsed", {})
    assert parsed.problem.startswith("norm: ")


def test_a_label_that_is_another_options_letter_is_unclear():
    options = [{"code": "one", "text": "B"}, {"code": "two", "text": "C"}]
    assert parse("B", {**NORM, "options": options}).status == "unparsed"
    assert parse("A", {**NORM, "options": options}).values == {"norm": "one"}


def test_pairs_and_ties_come_back_in_the_codes_of_the_instrument():
    content = {"one": "Short text.", "two": "Long text."}
    order = {"better": ["second", "first"]}
    assert parse("A", BETTER, orders=order, content=content).values == {"better": "second"}
    assert parse("Short text.", BETTER, orders=order, content=content).values == {"better": "first"}
    tied = {**BETTER, "allow_tie": True}
    for text in ("C", "Tie", "both equally", '{"better": "tie"}'):
        assert parse(text, tied, content=content).values == {"better": "tie"}, text
    assert parse("Tie", BETTER, content=content).status == "unparsed"


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        (SURE, "2", 2),
        (SURE, "Answer: -1.", -1),
        (SURE, "3", None),
        (SURE, "1.5", None),
        (SURE, "1 or 2", None),
        (SURE, "I give it a 2", None),
        (SURE, '{"sure": "2"}', 2),
        (AGE, "The answer is 42.5", 42.5),
        (AGE, "12", None),
        (AGE, '{"age": true}', None),
        (NOTE, "Because it is polite.", "Because it is polite."),
        (WHY, "A, C", ["x", "z"]),
        (WHY, "Answer: C and (b)", ["y", "z"]),
        (WHY, "A, D", None),
        (WHY, '{"why": "A"}', ["x"]),
        (WHY, '{"why": []}', None),
    ],
)
def test_the_other_kinds_alone(question, text, value):
    parsed = parse(text, question)
    expected = ("unparsed", {}) if value is None else ("ok", {question["code"]: value})
    assert (parsed.status, parsed.values) == expected, parsed.problem


def test_what_sounds_like_a_refusal_is_unparsed():
    assert parse("I cannot answer that.", NORM).status == "unparsed"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "B"}, ("B", "")),
        ({"content": None}, ("", "")),
        ({}, ("", "")),
        ({"content": " B ", "reasoning_content": "hm"}, ("B", "hm")),
        ({"content": "B", "reasoning": "hm", "reasoning_content": "hm"}, ("B", "hm")),
        ({"content": "<think>in</think>B", "reasoning": "out"}, ("B", "out\n\nin")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, "b", 3]}, ("ab", "")),
        ({"content": {"text": "x"}, "reasoning": ["not text"]}, ("", "not text")),
    ],
)
def test_answer_and_reasoning_are_split(message, expected):
    assert split_reasoning(message) == expected


def test_thinking_that_is_never_closed_is_no_answer():
    assert split_think("<think>A. B. A") == ("", "A. B. A")
    assert split_think("B <think>or A") == ("B", "or A")
    assert split_think('<thinking>so {"q": "B"}\n```') == ('{"q": "B"}', "so")


def lines_run(text, mode):
    """How many lines of llm's own code reading this text runs: a measure that no busy machine changes."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if "/llm/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        split_think(text)
        parse(
            text, SURE if mode == "number" else BETTER, mode=mode, sentence="The final decision is Response {letter}."
        )
    finally:
        sys.settrace(before)
    return count


PARTS = ["<think>", "</think>", "{", "(a", "answer: ", '{"a":', "(A) ", "Answer: A\n", "the ", "\n", "{} ", "Response "]
PARTS += ["The final decision is Response A.", "The final decision is Response ", '{"better": "A"} ', ", ", "1", "因"]


@settings(deadline=None, max_examples=60)
@given(
    part=st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join),
    mode=st.sampled_from([mode for mode, _ in ANSWER_MODES]),
)
@example(part="The final decision is Response A.", mode="sentence")
@example(part='{"better": "A"} ', mode="auto")
def test_a_long_reply_takes_no_more_steps_than_a_bounded_number(part, mode):
    assert lines_run(part * (400_000 // len(part)), mode) < 60_000
