"""A short complete question of each kind: to begin with in a form, and to be copied where questions are JSON."""

import json
from typing import Any

EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "choice": (
        "One of some answers",
        {
            "kind": "choice",
            "code": "usual",
            "text": "Is this usual where you live?",
            "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
        },
    ),
    "item_choice": (
        "One of the item's own texts",
        {
            "kind": "choice",
            "code": "own_action",
            "text": "What would you do?",
            "options": [{"code": "a", "text_field": "option_a"}, {"code": "b", "text_field": "option_b"}],
            "randomise": True,
        },
    ),
    "scale": (
        "A number on a labelled scale",
        {
            "kind": "scale",
            "code": "appropriate",
            "text": "How appropriate is it?",
            "minimum": 1,
            "maximum": 5,
            "low_label": "not at all",
            "high_label": "fully",
        },
    ),
    "pairwise": (
        "Which of two texts of the item",
        {
            "kind": "pairwise",
            "code": "better",
            "text": "Which reply is better?",
            "first_field": "reply_a",
            "second_field": "reply_b",
            "allow_tie": True,
        },
    ),
    "text": (
        "An answer in words",
        {"kind": "text", "code": "note", "text": "What should be known about this?", "required": False},
    ),
    "follow_up": (
        "An answer in words, asked only after another one",
        {
            "kind": "text",
            "code": "why",
            "text": "What is usual instead?",
            "required": False,
            "show_if": {"question": "usual", "any_of": ["no"]},
        },
    ),
    "number": (
        "Any number",
        {
            "kind": "number",
            "code": "guests",
            "text": "How many guests are there?",
            "minimum": 0,
            "maximum": 500,
            "integer": True,
        },
    ),
    "slider": (
        "A number on a slider",
        {
            "kind": "number",
            "code": "share",
            "text": "How many of ten people do so?",
            "minimum": 0,
            "maximum": 10,
            "integer": True,
            "slider": True,
            "low_label": "nobody",
            "high_label": "everybody",
        },
    ),
    "rank": (
        "An order of some answers",
        {
            "kind": "rank",
            "code": "order",
            "text": "Which of these matter most here?",
            "options": [
                {"code": "respect", "text": "Respect"},
                {"code": "care", "text": "Care"},
                {"code": "thrift", "text": "Thrift"},
            ],
            "top": 2,
            "randomise": True,
        },
    ),
    "best_worst": (
        "The best and the worst of some answers",
        {
            "kind": "best_worst",
            "code": "extremes",
            "text": "Which tone fits best, and which worst?",
            "options": [
                {"code": "warm", "text": "Warm"},
                {"code": "neutral", "text": "Neutral"},
                {"code": "formal", "text": "Formal"},
            ],
        },
    ),
    "span": (
        "Passages of one of the item's texts",
        {
            "kind": "span",
            "code": "claims",
            "text": "Mark what the reply says as a fact, and what as an opinion.",
            "field": "reply_a",
            "labels": [{"code": "fact", "text": "Fact"}, {"code": "opinion", "text": "Opinion"}],
            "most": 10,
            "required": False,
        },
    ),
    "multi": (
        "Several of some answers",
        {
            "kind": "multi",
            "code": "reasons",
            "text": "What does the custom express?",
            "options": [
                {"code": "respect", "text": "Respect"},
                {"code": "care", "text": "Care"},
                {"code": "thrift", "text": "Thrift"},
            ],
            "maximum": 2,
        },
    ),
}

ALONE = {name: example for name, example in EXAMPLES.items() if "show_if" not in example[1]}  # asked after no other


def examples() -> list[tuple[str, str]]:
    """(what it is for, the question as JSON) of each example."""
    return [(title, json.dumps(question, indent=2)) for title, question in EXAMPLES.values()]
