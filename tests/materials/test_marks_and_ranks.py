"""Rankings, best and worst, and marked passages: from forms and replies to what is stored, and back."""

import json

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from llm.reading.parsing import answer_format, answer_schema, parse_reply
from materials.form_values import form_value
from materials.presentation import PREFIX, shown_questions
from materials.questions import AnswerError, QuestionError, check_value, draw_orders, parse_questions
from responses.showing import value_text

CODES = ["a", "b", "c", "d"]
OPTIONS = [{"code": code, "text": text} for code, text in zip(CODES, ["Amber", "Blue", "Coral", "Dun"], strict=True)]
LABELS = [{"code": "claim", "text": "Claim of fact"}, {"code": "view", "text": "Opinion"}]
SPAN = {"kind": "span", "code": "marks", "text": "?", "field": "reply", "labels": LABELS}
ALL = parse_questions(
    [
        {"kind": "rank", "code": "rank", "text": "?", "options": OPTIONS, "randomise": True},
        {"kind": "rank", "code": "top", "text": "?", "options": OPTIONS, "top": 2},
        {"kind": "best_worst", "code": "ends", "text": "?", "options": OPTIONS, "randomise": True},
        SPAN | {"required": False},
    ]
)
RANK, TOP, ENDS, MARKS = ALL.questions
OVERLAPPING = parse_questions([SPAN | {"overlap": True, "required": False}]).questions[0]
# Emoji, a combining accent, Hebrew, a family of code points that is one sign, and every kind of line end.
TEXT = "Tea 🍵🍵 is cafe\u0301 \u05e9\u05dc\u05d5\u05dd 👩‍👧 fine.\r\nTea is\rnot\u2028a 'claim 1-2: x'.\n"
TEXTS = st.text(alphabet=st.sampled_from(sorted(set(TEXT))), min_size=1, max_size=40)


@st.composite
def marked(draw, *, overlap: bool):
    text = draw(TEXTS)
    bounds = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True).map(sorted)
    spans, last = [], 0
    for start, end in sorted(draw(st.lists(bounds, max_size=5))):
        if overlap or start >= last:
            spans.append({"start": start, "end": end, "label": draw(st.sampled_from(["claim", "view"]))})
            last = end
    return text, spans


def posted(question, answers, content=None):
    """What the question's fields say when the page that shows these answers is sent as it is."""
    (shown,) = [
        entry
        for entry in shown_questions(ALL, content or {}, orders={}, answers=answers, errors={})
        if entry.code == question.code
    ]
    form = QueryDict(mutable=True)
    if question.kind == "rank":
        form.update({f"{shown.name}:{option.code}": "".join(option.given) for option in shown.options})
    elif question.kind == "best_worst":
        form.update({f"{shown.name}:{place}": option.code for option in shown.options for place in option.given})
    else:
        form[shown.name] = shown.value.replace("\n", "\r\n")
    return form_value(question, PREFIX + question.code, form)


@given(order=st.permutations(CODES))
def test_a_ranking_survives_form_and_reply(order):
    assert check_value(RANK, posted(RANK, {"rank": order})) == order
    assert check_value(TOP, posted(TOP, {"top": order[:2]})) == order[:2]
    shown = draw_orders([RANK], key="".join(order))
    letters = [chr(ord("A") + shown["rank"].index(code)) for code in order]
    for reply in (json.dumps({"rank": letters}), ", ".join(letters), " > ".join(letters)):
        assert parse_reply(reply, [RANK], shown).values == {"rank": order}


@given(ends=st.permutations(CODES).map(lambda order: {"best": order[0], "worst": order[1]}))
def test_best_and_worst_survive_form_and_reply(ends):
    assert check_value(ENDS, posted(ENDS, {"ends": ends})) == ends
    shown = draw_orders([ENDS], key=str(ends))
    letters = {place: chr(ord("A") + shown["ends"].index(code)) for place, code in ends.items()}
    assert parse_reply(json.dumps({"ends": letters}), [ENDS], shown).values == {"ends": ends}


@given(text_and_spans=marked(overlap=False))
def test_passages_survive_the_form(text_and_spans):
    text, spans = text_and_spans
    content = {"reply": text}
    stored = check_value(MARKS, spans, content)
    assert stored == sorted(spans, key=lambda span: span["start"])
    assert check_value(MARKS, posted(MARKS, {"marks": stored}, content) or [], content) == stored


@given(text_and_spans=marked(overlap=True))
def test_overlapping_passages_are_sorted_and_kept_once(text_and_spans):
    text, spans = text_and_spans
    stored = check_value(OVERLAPPING, [*spans, *spans], {"reply": text})
    assert check_value(OVERLAPPING, stored, {"reply": text}) == stored
    assert len(stored) == len({tuple(span.values()) for span in spans})


@given(text_and_spans=marked(overlap=False))
def test_a_quote_is_found_exactly_or_not_taken(text_and_spans):
    text, spans = text_and_spans
    reply = [{"text": text[span["start"] : span["end"]], "label": span["label"]} for span in spans]
    parsed = parse_reply(json.dumps({"marks": reply}), [MARKS], {}, content={"reply": text})
    if all(
        text.count(entry["text"]) == 1 and text.find(entry["text"], text.find(entry["text"]) + 1) < 0 for entry in reply
    ):
        assert parsed.values == {"marks": check_value(MARKS, spans, {"reply": text})}
    else:
        assert parsed.status == "unparsed"
        assert "more than once" in parsed.problem


def test_a_line_is_a_label_and_words_that_stand_there_once():
    start = TEXT.index("not")
    typed = f"Claim of fact: Tea 🍵🍵\n\nopinion : fine.\nclaim {start}-{start + 5}: not a"
    spans = check_value(MARKS, typed, {"reply": TEXT})
    assert [(TEXT[span["start"] : span["end"]], span["label"]) for span in spans] == [
        ("Tea 🍵🍵", "claim"),
        ("fine.", "view"),
        ("not\u2028a", "claim"),
    ]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("view: fine.\nclaim: Tea", "Line 2: the text holds 'Tea' more than once; quote more of it."),
        ("claim: coffee", "Line 1: the text does not hold 'coffee' as written."),
        ("rumour: Tea", "Line 1: begin it with one of claim, view and a colon."),
        ("claim 0-3: fine", "Line 1: 'fine' does not stand at 0-3; leave the numbers out."),
        ([{"start": 0, "end": 900, "label": "claim"}], "The passage 0-900 is not inside the text"),
        ([{"start": 3, "end": 3, "label": "claim"}], "The passage 3-3 is not inside the text"),
        ([{"start": 0, "end": 3, "label": "rumour"}], "'rumour' is not a label; use one of claim, view."),
        ([{"start": True, "end": 3, "label": "claim"}], "Start and end of a passage are whole numbers."),
        ([{"start": 0.0, "end": 3, "label": "claim"}], "Start and end of a passage are whole numbers."),
        ([{"start": 0, "end": 3}], "A passage has a start, an end and a label."),
        ({"start": 0, "end": 3, "label": "claim"}, "Give a list of passages."),
        (
            [{"start": 0, "end": 5, "label": "claim"}, {"start": 4, "end": 6, "label": "view"}],
            "'🍵🍵' overlaps with another passage.",
        ),
    ],
)
def test_wrong_passages_have_one_sentence(value, sentence):
    with pytest.raises(AnswerError) as caught:
        check_value(MARKS, value, {"reply": TEXT})
    assert caught.value.sentence.startswith(sentence)


def test_number_of_passages_and_a_field_without_text():
    required, most = parse_questions([SPAN, SPAN | {"code": "few", "most": 1}]).questions
    with pytest.raises(AnswerError, match="mark at least one passage"):
        check_value(required, [], {"reply": TEXT})
    with pytest.raises(AnswerError, match="mark at most 1 passages, not 2"):
        check_value(most, "claim 0-3\nclaim 4-5", {"reply": TEXT})
    with pytest.raises(AnswerError, match="which has 0 characters"):
        check_value(required, "claim 0-3", {"reply": ["a list"]})


@pytest.mark.parametrize(
    ("question", "value", "sentence"),
    [
        (RANK, ["a", "b"], "Put 4 options in order, not 2."),
        (RANK, ["a", "b", "c", "c"], "An option has two places."),
        (RANK, "abcd", "Give a list of options, the best first."),
        (RANK, {"a": "1", "b": "1"}, "Two options have place 1."),
        (RANK, {"a": "1", "c": "3"}, "No option has place 2 or 4."),
        (TOP, {"a": "3"}, "'3' is not a place from 1 to 2."),
        (ENDS, {"best": "a"}, "Choose the worst option as well."),
        (ENDS, {"best": "a", "worst": "a"}, "One option cannot be both the best and the worst."),
        (ENDS, ["a", "b"], "Give the best and the worst option."),
    ],
)
def test_wrong_rankings_have_one_sentence(question, value, sentence):
    with pytest.raises(AnswerError) as caught:
        check_value(question, value)
    assert caught.value.sentence == sentence


def test_a_refused_ranking_stays_on_the_form():
    assert posted(RANK, {"rank": {"a": "1", "b": "1"}}) == {"a": "1", "b": "1"}
    assert posted(ENDS, {"ends": {"best": "a", "worst": "a"}}) == {"best": "a", "worst": "a"}


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"kind": "rank", "code": "r", "text": "?", "options": OPTIONS, "top": 5}, "4 options for 5 places"),
        (SPAN | {"labels": [LABELS[0], {"code": "x", "text": "CLAIM"}]}, "two labels have the same code or text"),
        ({"kind": "number", "code": "n", "text": "?", "slider": True, "minimum": 1}, "a slider needs a minimum and"),
        ({"kind": "number", "code": "n", "text": "?", "low_label": "no"}, "only a slider has labels at its ends"),
        (
            {"kind": "text", "code": "t", "text": "?", "show_if": {"question": "first", "any_of": ["a"]}},
            "t cannot depend on first, a best_worst question",
        ),
    ],
)
def test_wrong_questions_are_refused(question, sentence):
    first = {"kind": "best_worst", "code": "first", "text": "?", "options": OPTIONS}
    with pytest.raises(QuestionError, match=sentence):
        parse_questions([first, question])


def test_models_are_told_what_to_write():
    schema = answer_schema(ALL.questions, {})["properties"]
    assert schema["top"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["A", "B", "C", "D"]},
        "minItems": 2,
        "maxItems": 2,
    }
    assert schema["ends"]["required"] == ["best", "worst"]
    assert schema["marks"]["items"]["properties"]["label"]["enum"] == ["claim", "view"]
    told = answer_format(ALL.questions, {})
    assert '"top": a list of letters among "A", "B", "C", "D" that puts the best 2 options in order' in told
    assert 'words copied exactly from reply, "label": one of "claim", "view"} (claim: Claim of fact' in told


@pytest.mark.parametrize(
    "reply",
    [
        '{"ends": "A"}',
        '{"ends": {"best": "A"}}',
        '{"ends": {"best": "A", "worst": "Z"}}',
        "A and B",
        '{"ends": ["A", "B"]}',
    ],
)
def test_an_unclear_reply_is_no_answer(reply):
    assert parse_reply(reply, [ENDS], {}).status == "unparsed"


def test_answers_in_words():
    assert value_text(TOP, ["c", "a"], {}) == "Coral > Amber"
    assert value_text(ENDS, {"best": "a", "worst": "d"}, {}) == "best: Amber; worst: Dun"
    span = {"start": 4, "end": 6, "label": "view"}
    assert value_text(MARKS, [span], {"reply": TEXT}) == "Opinion: “🍵🍵”"
    assert value_text(MARKS, [], {"reply": TEXT}) == "nothing marked"


SINGLE = parse_questions(
    [
        {"kind": "choice", "code": "choice", "text": "?", "options": OPTIONS},
        {"kind": "scale", "code": "scale", "text": "?"},
        {"kind": "pairwise", "code": "pair", "text": "?", "first_field": "x", "second_field": "y"},
    ]
)


@pytest.mark.parametrize(
    ("typed", "number"), [("50,5", 50.5), ("-0,25", -0.25), ("1,23456", 1.23456), ("7", 7), ("2.5", 2.5)]
)
def test_decimals_may_stand_after_a_comma(typed, number):
    question = parse_questions([{"kind": "number", "code": "n", "text": "?"}]).questions[0]
    assert check_value(question, form_value(question, "n", QueryDict(f"n={typed}"))) == number


@pytest.mark.parametrize("typed", ["1,000", "1,000,000", "1,5,5", "1.000,5"])
def test_a_number_that_could_be_two_is_refused(typed):
    question = parse_questions([{"kind": "number", "code": "n", "text": "?"}]).questions[0]
    with pytest.raises(AnswerError, match="is not a number"):
        check_value(question, form_value(question, "n", QueryDict(f"n={typed}")))


@pytest.mark.parametrize(
    ("question", "form"),
    [
        (SINGLE.questions[0], "answer_choice=a&answer_choice=b"),
        (SINGLE.questions[1], "answer_scale=1&answer_scale=2"),
        (SINGLE.questions[2], "answer_pair=first&answer_pair=second"),
        (TOP, "answer_top:a=1&answer_top:b=2&answer_top:a=2"),
        (ENDS, "answer_ends:best=a&answer_ends:worst=b&answer_ends:worst=c"),
    ],
)
def test_two_values_where_one_is_asked_for_are_refused(question, form):
    with pytest.raises(AnswerError):
        check_value(question, form_value(question, PREFIX + question.code, QueryDict(form)))
