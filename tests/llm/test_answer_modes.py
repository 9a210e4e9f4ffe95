import json
from collections import Counter
from pathlib import Path

import pytest

from llm.reading.parsing import ANSWER_MODES, answer_format, check_mode, parse_reply
from materials.questions import parse_questions

YES_NO = [{"code": "yes", "text": "Yes, always"}, {"code": "no", "text": "No"}]
NORM = {"kind": "choice", "code": "norm", "text": "?", "options": YES_NO}
WHY = {"kind": "multi", "code": "why", "text": "?", "options": [{"code": c, "text": f"Why {c}"} for c in "xyz"]}
SURE = {"kind": "scale", "code": "sure", "text": "?", "minimum": -2, "maximum": 2}
RATED = {**SURE, "minimum": 1, "maximum": 3, "labels": ["bad", "fair", "good"]}
AGE = {"kind": "number", "code": "age", "text": "?", "minimum": 18.5, "required": False}
NOTE = {"kind": "text", "code": "note", "text": "?"}
BETTER = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"}
VERDICT = "The final decision is Response {letter}."
REVERSED = {"norm": ["no", "yes"]}


def asked(*questions):
    return parse_questions(list(questions)).questions


def parse(text, *questions, orders=None, **options):
    return parse_reply(text, asked(*questions), orders or {}, **options)


def test_every_mode_has_a_name_for_forms():
    assert all(label for _, label in ANSWER_MODES)
    for mode, _ in ANSWER_MODES:
        fitting = RATED if mode == "number" else NORM
        check_mode(mode, VERDICT, asked(fitting))


@pytest.mark.parametrize(
    ("mode", "sentence", "questions", "reason"),
    [
        ("loose", "", [NORM], "'loose' is not an answer mode; use one of auto, json, "),
        ("letter", "", [NORM, SURE], "Several questions need the answer mode auto or json; letter reads one."),
        ("letter", "", [SURE], "letter reads choice or multi or pairwise or rank questions; sure is a scale."),
        ("label", "", [NOTE], "note is a text"),
        ("number", "", [NORM], "number reads scale or number questions; norm is a choice."),
        ("sentence", VERDICT, [WHY], "why is a multi"),
        ("sentence", "The answer is clear.", [NORM], "needs {letter} or {text} exactly once"),
        ("sentence_last", "{letter} or {text}", [NORM], "needs {letter} or {text} exactly once"),
        ("sentence", " {letter}.", [NORM], "needs words around {letter}"),
        ("sentence", VERDICT, [SURE], "The points of the scale sure have no letters"),
    ],
)
def test_a_mode_that_does_not_fit_the_questions_is_refused_with_the_reason(mode, sentence, questions, reason):
    for refuse in (
        lambda: check_mode(mode, sentence, asked(*questions)),
        lambda: parse("A", *questions, mode=mode, sentence=sentence),
        lambda: answer_format(asked(*questions), {}, mode, sentence),
    ):
        with pytest.raises(ValueError) as error:
            refuse()
        assert reason in str(error.value)


@pytest.mark.parametrize(
    ("question", "mode", "sentence", "words"),
    [
        (NORM, "json", "", 'Answer with one JSON object and nothing else: {"norm": one of "A", "B"}.'),
        (NORM, "letter", "", 'Answer with the letter of one option and nothing else: "A", "B".'),
        (
            WHY,
            "letter",
            "",
            'Answer with at least 1 letter of the options, separated by commas, and nothing else: "A", "B", "C".',
        ),
        (
            {
                **WHY,
                "minimum": 2,
                "maximum": 3,
                "options": [*WHY["options"], {"code": "no", "text": "None", "apart": True}],
            },
            "label",
            "",
            "Answer with 2 to 3 exact texts of the options, separated by commas, and nothing else: "
            '"Why x", "Why y", "Why z", "None" ("None" only alone).',
        ),
        (NORM, "label", "", 'Answer with the exact text of one option and nothing else: "No", "Yes, always".'),
        (BETTER, "label", "", "Answer with the exact text of one option and nothing else."),
        (RATED, "label", "", 'Answer with the exact text of one option and nothing else: "bad", "fair", "good".'),
        (RATED, "number", "", "Answer with a whole number from 1 to 3 and nothing else."),
        (AGE, "number", "", "Answer with a number of at least 18.5 and nothing else."),
        (
            BETTER,
            "sentence",
            VERDICT,
            "End your answer with exactly one of these sentences and write none of the others: "
            '"The final decision is Response A.", "The final decision is Response B."',
        ),
        (
            BETTER,
            "sentence",
            "I choose {text}",
            "End your answer with this sentence, filled in, and write it only once: "
            '"I choose [the exact text of one option]"',
        ),
    ],
)
def test_the_format_in_words_says_what_the_mode_reads(question, mode, sentence, words):
    assert answer_format(asked(question), REVERSED, mode, sentence) == words


@pytest.mark.parametrize(
    ("mode", "question", "text", "value"),
    [
        ("json", NORM, 'So: {"norm": "B"}', "no"),
        ("json", NORM, "B", None),
        ("letter", NORM, "b.", "no"),
        ("letter", NORM, "Answer: B", "no"),
        ("letter", NORM, "B. No", "no"),
        ("letter", NORM, "B. Yes, always", None),
        ("letter", NORM, "No", None),
        ("letter", NORM, '{"norm": "C"}', None),
        ("letter", NORM, "AB", None),
        ("letter", NORM, "A or B", None),
        ("letter", {**NORM, "options": [{"code": "one", "text": "B"}, {"code": "two", "text": "C"}]}, "B", "two"),
        ("letter", WHY, "(c), A", ["x", "z"]),
        ("letter", WHY, "Why x", None),
        ("letter", BETTER, "A", "first"),
        ("label", NORM, "Yes, always", "yes"),
        ("label", NORM, "**yes, always.**", "yes"),
        ("label", NORM, "A", None),
        ("label", NORM, "Answer: No", None),
        ("label", NORM, "No, I do not", None),
        ("label", NORM, "Yes", None),
        ("label", WHY, "Why z, why x", ["x", "z"]),
        ("label", WHY, "Why z, Why", None),
        ("label", RATED, "Good", 3),
        ("label", SURE, "-1", -1),
        ("label", BETTER, "short text", "first"),
        ("number", RATED, "2", 2),
        ("number", RATED, "Answer: 2.", 2),
        ("number", RATED, "2/3", None),
        ("number", RATED, "good", None),
        ("number", RATED, "4", None),
        ("number", AGE, "42.5", 42.5),
    ],
)
def test_a_named_mode_reads_nothing_but_itself(mode, question, text, value):
    parsed = parse(text, question, mode=mode, content={"one": "Short text", "two": "Long text"})
    if value is None:
        assert (parsed.status, parsed.values, parsed.mode) == ("unparsed", {}, "")
        assert parsed.problem.endswith(".")
    else:
        assert (parsed.values, parsed.mode) == ({question["code"]: value}, mode), parsed.problem


def test_texts_that_hold_commas_or_differ_in_case_only():
    options = [
        {"code": code, "text": text} for code, text in (("a", "us"), ("b", "US"), ("c", "us, them"), ("d", "them"))
    ]
    one, many = {**NORM, "options": options}, {**WHY, "options": options}
    assert parse("US", one, mode="label").values == {"norm": "b"}
    assert "fits several" in parse("Us", one, mode="label").problem
    assert parse("them, US", many, mode="label").values == {"why": ["b", "d"]}
    assert "in several ways" in parse("us, them", many, mode="label").problem


def test_an_option_without_text_is_not_named_by_marks_alone():
    for mode in ("auto", "label"):
        assert parse("**", BETTER, content={"one": "", "two": "x"}, mode=mode).status == "unparsed"


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ("The final decision is Response A.", "first", "first"),
        ("B is short.\n\n**The final decision is Response B.**", "second", "second"),
        ("The final decision is Response B. Indeed: The final decision is Response B.", "second", "second"),
        ("The final decision is Response A. No: The final decision is Response B.", None, "second"),
        ("the final decision is response a", None, "first"),
        ("The final decision is **Response A**.", None, "first"),
        ("The final decision is\nResponse A.", None, "first"),
        ("因此，The final decision is “Response Ａ”。因为它更好", None, "first"),
        ("因此The final decision is Response A.因为它更好", "first", "first"),
        ("The final decision is Response A/B.", None, None),
        ("The final decision is Response A or Response B.", None, None),
        ("The final decision is Response A. or Response B.", None, None),
        ("The final decision is Response A, B.", None, None),
        ("The final decision is Response AB.", None, None),
        ("The final decision is Response A.5", None, None),
        ("The final decision is Response A's.", None, None),
        ("The final decision is Response C.", None, None),
        ("Response A.", None, None),
        ("<think>The final decision is Response A.</think>", None, None),
        ("<think>The final decision is Response A.", None, None),
        ("<think>The final decision is Response A.</think> The final decision is Response B.", "second", "second"),
        ('{"better": "A"}', None, None),
    ],
)
def test_the_verdict_sentence(text, strict, lenient):
    for mode, value in (("sentence", strict), ("sentence_last", lenient)):
        parsed = parse(text, BETTER, mode=mode, sentence=VERDICT)
        expected = ("unparsed", {}, "") if value is None else ("ok", {"better": value}, mode)
        assert (parsed.status, parsed.values, parsed.mode) == expected, parsed.problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("grade: A", "yes"),
        ("A downgrade: A. grade: B", "no"),
        ("downgrade: A", None),
        ("re-grade: A", None),
        ("grade: A-", None),
        ("grade: A+", None),
        ("grade: A/B", None),
        ("grade: A or B", None),
        ("grade: A and surely so", "yes"),
        ("[grade: B]", "no"),
    ],
)
def test_a_sentence_is_no_part_of_a_longer_word_or_grade(text, value):
    parsed = parse(text, NORM, mode="sentence", sentence="grade: {letter}")
    assert parsed.values == ({} if value is None else {"norm": value}), parsed.problem


def test_sentences_with_texts():
    options = [{"code": "yes", "text": "Yes"}, {"code": "always", "text": "Yes, always"}]
    say = {"mode": "sentence", "sentence": "I say: {text}"}
    assert parse("I say: Yes, always", {**NORM, "options": options}, **say).values == {"norm": "always"}
    assert parse("I say: Yes.", {**NORM, "options": options}, **say).values == {"norm": "yes"}
    assert parse("I say: good", RATED, **say).values == {"sure": 3}
    after = {"mode": "sentence", "sentence": "{text} it is"}
    options = [{"code": "always", "text": "always"}, {"code": "yes", "text": "Yes, always"}]
    assert parse("Yes, always it is", {**NORM, "options": options}, **after).values == {"norm": "yes"}
    same = parse("I say: x", BETTER, content={"one": "x", "two": "x"}, **say)
    assert same.problem == "better: two options have the same sentence, so no reply can tell them apart."
    assert parse("[[B]]", BETTER, mode="sentence", sentence="[[{letter}]]").values == {"better": "second"}
    quoted = 'Output "[[A]]" if the first is better, "[[B]]" if the second is.'
    assert parse(quoted, BETTER, mode="sentence", sentence="[[{letter}]]").status == "unparsed"


def test_problems_say_what_to_write():
    none = parse("Hm.", BETTER, mode="sentence", sentence=VERDICT).problem
    assert none == (
        'better: the reply holds none of the sentences "The final decision is Response A." or '
        '"The final decision is Response B."; write one, as it stands.'
    )


@pytest.mark.parametrize(("file", "key"), [("gpt35", "gpt"), ("pandalm7b", "pandalm")])
def test_real_judges_verdicts_are_read_and_their_garbage_is_not_guessed(file, key):
    path = Path(__file__).parents[3] / "shared" / "data" / f"pandalm_{file}_verdicts.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the project")
    rows = json.loads(path.read_text())
    options = [{"code": code, "text": text} for code, text in (("one", "1"), ("two", "2"), ("tie", "Tie"))]
    codes = {"1": "one", "2": "two", "Tie": "tie"}
    for mode in ("auto", "label"):
        read = [parse(str(row[f"{key}_result"]), {**NORM, "options": options}, mode=mode).values for row in rows]
        assert [values.get("norm") for values in read] == [codes.get(str(row[f"{key}_result"])) for row in rows]
        assert Counter(len(values) for values in read)[0] == {"gpt35": 25, "pandalm7b": 107}[file]
    one_or_two = {**NORM, "options": options[:2]}
    say = {"mode": "sentence", "sentence": "Response {text} is better"}
    reasons = [(str(row[f"{key}_result"]), str(row[f"{key}_reason"])) for row in rows]
    read = [(verdict, parse(reason, one_or_two, **say).values.get("norm")) for verdict, reason in reasons]
    # Two reasons of gpt-3.5 contradict the verdict beside them; every other sentence that is found agrees with it.
    against = [(verdict, value) for verdict, value in read if value and value != codes.get(verdict)]
    assert against == {"gpt35": [("1", "two")] * 2, "pandalm7b": []}[file]
    assert sum(value is not None for _, value in read) == {"gpt35": 250, "pandalm7b": 505}[file]
    assert not any(parse(reason, one_or_two, mode=mode).values for _, reason in reasons for mode in ("auto", "letter"))
