import itertools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm.reading.logprobs import LOWEST, Token
from llm.reading.probabilities import normalised, option_probabilities, sampled_probabilities
from materials.questions import parse_questions

YES_NO = [
    {"code": "yes", "text": "Yes, always"},
    {"code": "some", "text": "Yes, sometimes"},
    {"code": "no", "text": "No"},
]
NORM = {"kind": "choice", "code": "norm", "text": "?", "options": YES_NO}
RATING = {"kind": "scale", "code": "rating", "text": "?", "minimum": 1, "maximum": 10}
BETTER = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"}
MANY = {**NORM, "options": [{"code": f"c{n}", "text": f"text {n}"} for n in range(28)]}
VERDICT = "The final decision is Response {letter}."


def ask(question):
    return parse_questions([question]).questions[0]


def choosing(text, shares):
    """The token `text`, with alternatives: probability by text."""
    top = tuple((other, math.log(share)) for other, share in shares.items())
    return Token(text, math.log(shares[text]), top)


def tokens(*parts):
    return [choosing(part, {part: 1.0}) if isinstance(part, str) else choosing(*part) for part in parts]


def shares_of(parts, question, order=(), **options):
    found, reason = option_probabilities(tokens(*parts), ask(question), order, **options)
    assert found is not None, reason
    total = math.fsum([*found.shares.values(), found.other, found.unresolved])
    assert total <= 1 + 1e-9
    return (
        {code: round(share, 9) for code, share in found.shares.items()},
        round(found.other, 9),
        round(found.unresolved, 9),
    )


def reason_for(parts, question, order=(), **options):
    found, reason = option_probabilities(tokens(*parts), ask(question), order, **options)
    assert found is None
    return reason


def test_letters_in_json_are_found_by_key_whatever_the_token_holds_beside_them():
    ways = [
        ['{"norm": "', ("B", {"B": 0.6, "A": 0.3, "Z": 0.1}), '"}'],
        ['{"norm":', (' "B', {' "B': 0.6, '"A': 0.3, ' "Z': 0.1}), '"}'],
        ['{"norm"', (': "B"}', {': "B"}': 0.6, ':"A"}': 0.3, ': "Z"}': 0.1})],
        ['Sure: {"other": "A", "norm": "', ("B", {"B": 0.6, "A": 0.3, "Z": 0.1}), '"}'],
        [
            "<think>",
            "A",
            " or B {",
            '{"norm": "A"}',
            "</think>",
            '{"norm": "',
            ("B", {"B": 0.6, "a": 0.3, "Z": 0.1}),
            '"}',
        ],
    ]
    for way in ways:
        assert shares_of(way, NORM) == ({"yes": 0.3, "some": 0.6, "no": 0.0}, 0.1, 0.0), way


def test_letters_stand_for_the_order_that_was_shown():
    way = ['{"norm": "', ("B", {"B": 0.6, "A": 0.3}), '"}']
    assert shares_of(way, NORM, ["no", "yes", "some"])[0] == {"yes": 0.6, "some": 0.0, "no": 0.3}
    assert shares_of(["", ("A", {"A": 0.75, "B": 0.25})], BETTER, ["second", "first"])[0] == {
        "first": 0.25,
        "second": 0.75,
    }


def test_what_can_become_several_options_is_unresolved():
    way = ['{"norm": "', ("C", {"C": 0.5, "A": 0.3, "AB": 0.1, 'A"': 0.05}), '"}']
    codes, other, unresolved = shares_of(way, MANY)
    assert (codes["c2"], codes["c0"], codes["c27"], other, unresolved) == (0.5, 0.05, 0.1, 0.0, 0.3)
    way = ['{"rating": ', ("7", {"7": 0.5, "1": 0.2, "1}": 0.1, "10": 0.1, "11": 0.04, "7.5": 0.06}), "}"]
    codes, other, unresolved = shares_of(way, RATING)
    assert (codes["7"], codes["1"], codes["10"], other, unresolved) == (0.5, 0.1, 0.1, 0.1, 0.2)


def test_an_answer_of_several_tokens_is_followed_until_one_option_is_left():
    way = [("Yes", {"Yes": 0.8, "No": 0.15, "Maybe": 0.05}), (",", {",": 0.9, ".": 0.1})]
    codes, other, unresolved = shares_of([*way, (" always", {" always": 0.75, " sometimes": 0.25})], NORM, mode="label")
    assert codes == {"yes": round(0.8 * 0.9 * 0.75, 9), "some": round(0.8 * 0.9 * 0.25, 9), "no": 0.15}
    assert (other, unresolved) == (round(0.05 + 0.8 * 0.1, 9), 0)
    ten = ["", ("1", {"1": 0.8, "2": 0.2}), ("0", {"0": 0.5, "<end>": 0.5})]
    codes, other, unresolved = shares_of(ten, RATING, mode="number")
    assert (codes["10"], codes["1"], codes["2"], other, unresolved) == (0.4, 0.4, 0.2, 0, 0)


def test_a_reply_that_ends_where_options_are_open_leaves_them_open():
    codes, _, unresolved = shares_of([("1", {"1": 0.8, "2": 0.2})], RATING, mode="number")
    assert (codes["1"], codes["2"], unresolved) == (0, 0.2, 0.8)
    ended = [("1", {"1": 0.8, "2": 0.2}), ("<|im_end|>", {"<|im_end|>": 0.75, "0": 0.25})]
    assert shares_of(ended, RATING, mode="number")[0]["1"] == 0.6


@pytest.mark.parametrize(
    "way",
    [
        [("B", {"B": 0.7, "A": 0.3})],
        ["I would go with", (" B", {" B": 0.7, " A": 0.3}), " because A", " is rude."],
        ["Answer:", (" B", {" B": 0.7, " A": 0.3}), " because B", " is kind."],
        [("B", {"B": 0.7, "A": 0.3}), ". Because B fits."],
        ["**", ("B", {"B": 0.7, "A": 0.3}), "**"],
        ["answer:", (" b", {" b": 0.7, " a": 0.3})],
    ],
)
def test_letters_in_words_are_found_where_they_were_read(way):
    assert shares_of(way, BETTER)[0] == {"first": 0.3, "second": 0.7}


def test_quotes_and_emphasis_before_an_alternative_are_free():
    way = [("B", {"B": 0.6, "(A": 0.2, "**": 0.1, "\n": 0.05, "#": 0.05}), "."]
    assert shares_of(way, BETTER) == ({"first": 0.2, "second": 0.6}, 0.05, 0.15)


def test_an_answer_that_is_a_letter_and_a_text_at_once_is_weighed_as_both():
    options = [{"code": c, "text": text} for c, text in (("x", "none"), ("y", "B"), ("z", "Above"))]
    way = ['{"norm": "', ("B", {"B": 0.5, "Above": 0.3, "A": 0.2}), '"}']
    assert shares_of(way, {**NORM, "options": options}) == ({"x": 0, "y": 0.5, "z": 0.3}, 0, 0.2)


def test_two_tokens_of_the_same_text_are_told_apart_by_their_probability():
    top = (("Yes", math.log(0.6)), ("Yes", math.log(0.2)), ("No", math.log(0.2)))
    rest = tokens((", always", {", always": 0.5, ", sometimes": 0.5}))
    found, _ = option_probabilities([Token("Yes", math.log(0.6), top), *rest], ask(NORM), mode="label")
    assert found.shares == pytest.approx({"yes": 0.3, "some": 0.3, "no": 0.2})
    assert found.unresolved == pytest.approx(0.2)


def test_options_that_differ_in_case_or_accents_only_are_not_mixed_up():
    options = [{"code": "small", "text": "us"}, {"code": "large", "text": "US"}]
    assert "spell another answer" in reason_for(["US"], {**NORM, "options": options}, mode="label")
    options = [{"code": "acute", "text": "é1"}, {"code": "grave", "text": "è1"}]
    broken = reason_for(['{"norm": "è1"}'], {**NORM, "options": options}, text='{"norm": "é1"}')
    assert broken == "The tokens do not say what the reply says."


def test_the_verdict_sentence_is_found_where_it_stands():
    way = [
        "Response A is shorter. The final decision is Response",
        (" B", {" B": 0.7, " A": 0.2, " AB": 0.1}),
        ".",
        "<|eot_id|>",
    ]
    options = {"mode": "sentence", "sentence": VERDICT}
    assert shares_of(way, BETTER, **options) == ({"first": 0.2, "second": 0.7}, 0.1, 0)
    twice = [*way[:3], " ", "The final decision is Response B."]
    assert "2 times" in reason_for(twice, BETTER, **options)


def test_tokens_that_do_not_add_up_to_the_reply_are_aligned_from_its_end():
    reasoning = ["I think A, so {", '"better": "A"} or B. ']
    answer = ['{"better": "', ("B", {"B": 0.7, "A": 0.3}), '", "why": "caf', "\ufffd", "\ufffd", '"}', "<|im_end|>"]
    text = '{"better": "B", "why": "café"}'
    assert shares_of([*reasoning, *answer], BETTER, text=text)[0] == {"first": 0.3, "second": 0.7}
    kept = ["long ago. I go with", (" B", {" B": 0.7, " A": 0.3}), "."]  # the last of very many tokens
    assert shares_of(kept, BETTER, text="It was long ago. I go with B.")[0] == {"first": 0.3, "second": 0.7}
    assert "key stands in 2" in reason_for(['{"better": "B"} ', *answer], BETTER)
    assert reason_for(answer, BETTER, text='{"better": "A"}') == "The tokens do not say what the reply says."


@pytest.mark.parametrize(
    ("way", "question", "reason"),
    [
        ([], NORM, "The server sent no log probabilities."),
        (["Hm."], NORM, "names none"),
        (['{"norm": null}'], {**NORM, "required": False}, "norm: the question was left open."),
        (["<think>", '{"norm": "A"}', "</think>"], NORM, "The reply is empty."),
        (['{"norm": "A"} ', '{"norm": "A"}'], NORM, "2 JSON objects"),
        (["A guest may, so", " my final answer is B. I choose B."], NORM, "several places"),
        (["x"], {"kind": "text", "code": "t", "text": "?"}, "t: a text question has no probabilities"),
    ],
)
def test_without_a_place_there_is_a_reason(way, question, reason):
    assert reason in reason_for(way, question)


def test_without_alternatives_or_with_impossible_ones_there_is_a_reason():
    question = ask(NORM)
    bare = [Token('{"norm": "', 0.0), Token("A", -0.1), Token('"}', 0.0)]
    assert option_probabilities(bare, question) == (None, "No alternatives came with the tokens of the answer.")
    much = [Token('{"norm": "', 0.0), Token("A", -0.1, (("A", -0.1), ("B", -0.2))), Token('"}', 0.0)]
    assert "more than 1" in option_probabilities(much, question)[1]


def test_a_written_token_that_is_not_among_the_likeliest_still_counts():
    found, _ = option_probabilities(
        [Token('{"norm": "', 0.0), Token("A", math.log(0.1), (("B", math.log(0.6)),)), Token('"}', 0.0)], ask(NORM)
    )
    assert found.shares == pytest.approx({"yes": 0.1, "some": 0.6, "no": 0})
    found, _ = option_probabilities(
        [Token('{"norm": "', 0.0), Token("A", LOWEST, (("B", math.log(0.6)),)), Token('"}', 0.0)], ask(NORM)
    )
    assert found.shares == pytest.approx({"yes": 0, "some": 0.6, "no": 0})


def test_a_question_that_hangs_on_another_one_is_found_too():
    question = ask(NORM).model_copy(update={"show_if": object()})
    assert option_probabilities(tokens('{"x": 1, "norm": "', ("A", {"A": 0.9, "B": 0.1}), '"}'), question)[0].shares[
        "yes"
    ]


def test_each_question_of_a_reply_is_found_by_its_own_key():
    way = ['{"norm":"', ("A", {"A": 0.5, "C": 0.5}), '","why":"B","better":"', ("B", {"B": 0.7, "A": 0.3}), '"}']
    assert shares_of(way, NORM)[0] == {"yes": 0.5, "some": 0, "no": 0.5}
    assert shares_of(way, BETTER, ["second", "first"])[0] == {"second": 0.3, "first": 0.7}


def test_normalised_and_sampled():
    assert normalised({"a": 0.2, "b": 0.6}) == pytest.approx({"a": 0.25, "b": 0.75})
    assert normalised({"a": 0.0, "b": 0.0099}) is None
    assert sampled_probabilities([3, 4, 3, 3]) == {"3": 0.75, "4": 0.25}
    assert sampled_probabilities([]) == {}


# A model whose replies are known in full: probability by reply text. Its tokens are cut anywhere.


END = "<|im_end|>"


def cut_tokens(replies, written, cuts):
    """The tokens of `written` cut at `cuts`, with its end; alternatives are how other replies go on, as far."""
    result = []
    borders = [0, *sorted({cut for cut in cuts if 0 < cut < len(written)}), len(written), len(written) + len(END)]
    for start, end in itertools.pairwise(borders):
        nexts = {}
        for reply, share in replies.items():
            if reply.startswith(written[:start]):
                piece = reply[start:end] or END
                nexts[piece] = nexts.get(piece, 0) + share
        mass = math.fsum(nexts.values())
        result.append(choosing(written[start:end] or END, {piece: share / mass for piece, share in nexts.items()}))
    return result


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    written=st.integers(0, 2),
    cuts=st.lists(st.integers(0, 40), max_size=12),
)
def test_shares_do_not_depend_on_where_tokens_end(weights, written, cuts):
    shares = [weight / math.fsum(weights) for weight in weights]
    replies = {json.dumps({"why": "so A, B", "norm": letter}): s for letter, s in zip("ABC", shares, strict=True)}
    text = list(replies)[written]
    made = cut_tokens(replies, text, cuts)
    found, reason = option_probabilities(made, ask(NORM), text=text)
    assert found is not None, reason
    assert found.shares == pytest.approx(dict(zip(("yes", "some", "no"), shares, strict=True)))
    assert math.fsum([*found.shares.values(), found.other, found.unresolved]) <= 1 + 1e-9


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=10, max_size=10),
    written=st.integers(0, 9),
    cuts=st.sets(st.integers(0, 20), max_size=8),
)
def test_a_share_is_never_more_than_the_option_has_and_the_rest_is_unresolved(weights, written, cuts):
    shares = [weight / math.fsum(weights) for weight in weights]
    replies = {json.dumps({"rating": point}): s for point, s in zip(range(1, 11), shares, strict=True)}
    text = list(replies)[written]
    found, reason = option_probabilities(cut_tokens(replies, text, cuts), ask(RATING))
    assert found is not None, reason
    for point, share in zip(range(1, 11), shares, strict=True):
        assert found.shares[str(point)] <= share + 1e-9
    assert found.other == 0
    assert math.fsum([*found.shares.values(), found.unresolved]) == pytest.approx(1)


@settings(deadline=None)
@given(
    labels=st.lists(
        st.text('abA ,.("<é', min_size=1, max_size=6).map(str.strip).filter(bool), min_size=3, max_size=3, unique=True
    ),
    weights=st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
    written=st.integers(0, 2),
    cuts=st.sets(st.integers(0, 6), max_size=6),
    as_json=st.booleans(),
)
def test_no_option_gets_more_than_its_own_whatever_the_texts_share(labels, weights, written, cuts, as_json):
    shares = [weight / math.fsum(weights) for weight in weights]
    codes = ["a", "b", "c"]
    question = ask({**NORM, "options": [{"code": c, "text": label} for c, label in zip(codes, labels, strict=True)]})
    replies = dict(zip(labels, shares, strict=True))
    if as_json:
        replies = {json.dumps({"norm": label}, ensure_ascii=False): share for label, share in replies.items()}
        cuts = {cut + len('{"norm": ') for cut in cuts}
    text = list(replies)[written]
    made = cut_tokens(replies, text, cuts)
    found, reason = option_probabilities(made, question, mode="auto" if as_json else "label", text=text)
    if found is None:
        assert reason
        return
    for code, share in zip(codes, shares, strict=True):
        assert found.shares[code] <= share + 1e-9
    assert math.fsum([*found.shares.values(), found.other, found.unresolved]) <= 1 + 1e-9


def test_a_text_that_begins_with_a_mark_is_weighed_from_there():
    options = [{"code": "none", "text": "(none)"}, {"code": "joy", "text": "joy"}]
    way = [("(", {"(": 0.6, "joy": 0.4}), "none", ")"]
    assert shares_of(way, {**NORM, "options": options}, mode="label")[0] == {"none": 0.6, "joy": 0.4}
