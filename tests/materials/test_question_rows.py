"""Questions as rows of a form: nothing here needs the database."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from materials.forms import InstrumentForm, initial_values
from materials.question_examples import EXAMPLES
from materials.question_lines import read_labels, read_options, write_labels, write_options
from materials.question_rows import KIND_NAMES
from materials.questions import KINDS, parse_questions
from materials.rows import MOST, posted, with_change
from protocols.care.stages.attitudes import PROPOSAL_QUESTIONS
from protocols.care.tones import SHIPPED, attitude_question, read_tones, tone_question
from protocols.pact import human_study, model_questions
from protocols.pact import instruments as pact
from protocols.sense import instruments as sense

RICH = [
    {
        "kind": "choice",
        "code": "tea",
        "text": "Tea?\n\n**Any?**",
        "help": "Hot.\nOr cold.",
        "reason": "To know.",
        "required": False,
        "options": [
            {"code": "1", "text": "A: the first", "hotkey": "a", "help": "Hot."},
            {"code": "b", "text_field": "option b", "hotkey": "|"},
            {"code": "c", "text": "{braces} | and (apart)"},
            {"code": "unsaid", "text": "I prefer not to say", "apart": True},
        ],
        "randomise": True,
        "order_group": "drinks",
    },
    {"kind": "scale", "code": "s", "text": "?", "minimum": 0, "maximum": 2, "labels": ["low", " mid", "high"]},
    {"kind": "scale", "code": "ends", "text": "?", "minimum": 0, "maximum": 2, "labels": ["low", "", ""]},
    {"kind": "scale", "code": "t", "text": "?", "show_if": {"question": "tea", "any_of": ["1", "b"]}},
    {"kind": "multi", "code": "m", "text": "?", "options": [{"code": c, "text": c} for c in "ab"], "maximum": 1},
    {"kind": "number", "code": "n", "text": "?", "minimum": -0.5, "show_if": {"question": "t", "any_of": [1, 2]}},
    {
        "kind": "span",
        "code": "marks",
        "text": "?",
        "field": "reply",
        "labels": [{"code": "f", "text": "Fact", "hotkey": "f", "help": "Can be checked."}, {"code": "o", "text": "O"}],
        "overlap": True,
        "most": 3,
    },
]


def lists_of(module: Any) -> Iterator[list[dict[str, Any]]]:
    """The question lists that a module holds."""
    for value in vars(module).values():
        if isinstance(value, list) and value and isinstance(value[0], dict) and "kind" in value[0]:
            yield value


SHIPPED_LISTS = [
    *(questions for module in (pact, model_questions, human_study, sense) for questions in lists_of(module)),
    list(PROPOSAL_QUESTIONS),
    [tone_question([tone.name for tone in read_tones(SHIPPED.read_text()).tones]), attitude_question()],
]


def filled(questions: list[dict[str, Any]]) -> InstrumentForm:
    """A form that was posted as it was shown for these questions."""
    form = InstrumentForm(posted(InstrumentForm(initial=initial_values(title="T", name="n", questions=questions))))
    assert form.is_valid(), form.errors
    return form


@pytest.mark.parametrize("questions", [RICH, [question for _, question in EXAMPLES.values()], *SHIPPED_LISTS])
def test_form_to_json_to_form_changes_nothing(questions):
    form = filled(questions)
    assert parse_questions(form.instrument["questions"]) == parse_questions(questions)
    as_json = InstrumentForm(posted(form.written_as("json")))
    assert as_json.is_valid(), as_json.errors
    assert as_json.instrument == form.instrument
    assert posted(as_json.written_as("questions")) == posted(form)


def test_the_shipped_instruments_need_no_json_and_each_kind_has_a_name():
    assert len(SHIPPED_LISTS) > 10
    for questions in [*SHIPPED_LISTS, [question for _, question in EXAMPLES.values()]]:
        assert not [name for name in posted(filled(questions)) if name.endswith("-more")]
    assert set(KIND_NAMES) == set(KINDS)


def test_options_and_labels_are_lines():
    lines = ("yes | Yes, always | y | Every time.", "India", "a | {option_a}", "no | | n", "unsaid | Unsaid (apart)")
    options = read_options("\n".join(lines))
    assert options == [
        {"code": "yes", "text": "Yes, always", "hotkey": "y", "help": "Every time."},
        {"code": "India", "text": "India"},
        {"code": "a", "text_field": "option_a"},
        {"code": "no", "text": "no", "hotkey": "n"},
        {"code": "unsaid", "text": "Unsaid", "apart": True},
    ]
    assert read_options(write_options(options)) == options
    labels = [{"code": "fact", "text": "{A} fact (apart)", "help": "Can be checked."}]
    assert read_labels(write_labels(labels)) == labels


def changed(typed: dict[str, str], *changes: str) -> dict[str, str]:
    for change in changes:
        typed, _ = with_change(typed, change, InstrumentForm.base_fields)
    return typed


def added(*kinds: str) -> dict[str, str]:
    """What is posted once questions of these kinds were added to an empty form."""
    typed = posted(InstrumentForm(initial={"title": "T", "name": "n"}))
    for kind in kinds:
        typed = changed(typed | {"questions-new": kind}, "questions-add")
    return typed


def test_a_copy_stands_after_its_question_with_a_code_of_its_own():
    typed = changed(added("scale", "text"), "questions-0-copy", "questions-0-copy")
    codes = [typed[f"questions-{n}-code"] for n in range(int(typed["questions-count"]))]
    assert codes == ["appropriate", "appropriate_3", "appropriate_2", "note"]
    assert typed["questions-1-low_label"] == "not at all"


@pytest.mark.parametrize(
    ("typed", "place", "sentence"),
    [
        ({"questions-0-options": "yes | Yes"}, "options", "Give at least 2."),
        ({"questions-0-options": "é | Yes\nb"}, "options", "“é | Yes” needs a code before its text"),
        ({"questions-0-options": "a | A | ab\nb"}, "options", "“a | A | ab” has a key of more than one character."),
        ({"questions-0-options": "a | b | c | d | e\nb"}, "options", "has more parts than code | text | key | help."),
        ({"questions-0-options": "a\nb\na"}, "options", "usual has two options with the same code."),
        ({"questions-1-code": "usual"}, "code", "Question code usual is used twice."),
        ({"questions-1-show_if": "late: no"}, "show_if", "note depends on late, which is not asked before it."),
        ({"questions-1-show_if": "usual: never"}, "show_if", "note depends on never, which is no answer of usual."),
        ({"questions-2-first_field": ""}, "first_field", "This field is required."),
        ({"questions-3-minimum": "9"}, "__all__", "A scale needs a maximum 1 to 100 above its minimum."),
        ({"questions-4-most": "0"}, "most", "Input should be greater than or equal to 1."),
        ({"questions-1-max_length": "0"}, "max_length", "Input should be greater than or equal to 1."),
        ({"questions-1-more": '{"hotkey": "x"}'}, "__all__", "There is no setting hotkey."),
        ({"questions-0-text": "a\x00"}, "text", "Null characters are not allowed."),
    ],
)
def test_a_fault_has_one_sentence_at_its_row(typed, place, sentence):
    form = InstrumentForm(added("choice", "text", "pairwise", "scale", "span") | typed)
    at = int(next(iter(typed))[len("questions-")])
    assert not form.is_valid()
    rows = [row.errors for row in form["questions"].rows]
    assert [row for row in rows if row] == [rows[at]]
    assert sentence in "".join(rows[at][place])
    assert len(rows[at][place]) == 1
    assert form.errors["questions"][0].startswith(f"Question {at + 1}, ")


def test_a_code_of_digits_leads_on_as_text_and_a_point_as_number():
    typed = added("choice", "scale", "text", "text") | {
        "questions-0-options": "1 | One\n2 | Two",
        "questions-2-show_if": "usual: 1",
        "questions-3-show_if": "appropriate: 1",
    }
    form = InstrumentForm(typed)
    assert form.is_valid(), form.errors
    rules = [question["show_if"] for question in form.instrument["questions"]]
    assert [rule["any_of"] for rule in rules if rule] == [["1"], [1]]


def test_more_questions_than_forms_can_hold_stay_json():
    questions = [{"kind": "text", "code": f"q{n}", "text": "?"} for n in range(MOST + 1)]
    form = InstrumentForm({"title": "T", "name": "n", "written": "json", "json": json.dumps(questions)})
    assert form.is_valid(), form.errors
    same = form.written_as("questions")
    assert same.errors["json"] == ["A list of more than 100 questions can be written as JSON only."]
    assert same["json"].value() == json.dumps(questions)
    assert initial_values(title="T", name="n", questions=questions)["written"] == "json"
