"""Entries to begin with in each list of a design, by code as (label, entry)."""

from collections.abc import Mapping
from typing import Any

from studies.filters import FILTERS

Offers = Mapping[str, tuple[str, Mapping[str, Any]]]

_YES_NO = [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}]
_UNSAID = {"code": "unsaid", "text": "I prefer not to say", "apart": True}
_SCALE = {
    "kind": "scale",
    "code": "rating",
    "text": "How much do you agree?",
    "low_label": "not at all",
    "high_label": "fully",
}
PEOPLE: Offers = {
    "country": (
        "Country",
        {
            "kind": "choice",
            "code": "country",
            "text": "In which country have you lived for most of the last five years?",
            "reason": "Answers are compared between countries.",
            "options": [{"code": "Brazil", "text": "Brazil"}, {"code": "India", "text": "India"}],
        },
    ),
    "age_group": (
        "Age group",
        {
            "kind": "choice",
            "code": "age_group",
            "text": "How old are you?",
            "reason": "Answers are compared between age groups.",
            "options": [{"code": "younger", "text": "18 to 39"}, {"code": "older", "text": "40 or over"}, _UNSAID],
        },
    ),
    "gender": (
        "Gender",
        {
            "kind": "choice",
            "code": "gender",
            "text": "What is your gender?",
            "reason": "To describe who took part.",
            "options": [
                {"code": "female", "text": "Female"},
                {"code": "male", "text": "Male"},
                {"code": "other", "text": "Another gender, or none"},
                _UNSAID,
            ],
        },
    ),
    "choice": (
        "One of some answers",
        {"kind": "choice", "code": "choice", "text": "Have you lived abroad?", "options": _YES_NO},
    ),
    "multi": (
        "Several of some answers",
        {
            "kind": "multi",
            "code": "several",
            "text": "Which of these do you do?",
            "options": [{"code": "cook", "text": "I cook"}, {"code": "host", "text": "I have guests"}],
        },
    ),
    "scale": ("A number on a labelled scale", _SCALE),
    "number": (
        "Any number",
        {"kind": "number", "code": "number", "text": "How many people live with you?", "minimum": 0, "integer": True},
    ),
    "slider": (
        "A number on a slider",
        {
            "kind": "number",
            "code": "share",
            "text": "How many of ten people you know would agree?",
            "minimum": 0,
            "maximum": 10,
            "integer": True,
            "slider": True,
        },
    ),
    "text": (
        "An answer in words",
        {"kind": "text", "code": "words", "text": "Is there something we should know?", "required": False},
    ),
    "rank": (
        "An order of some answers",
        {
            "kind": "rank",
            "code": "order",
            "text": "What matters most to you?",
            "options": [{"code": "respect", "text": "Respect"}, {"code": "care", "text": "Care"}],
        },
    ),
}
ATTENTION: Offers = {
    "choice": (
        "Choose a named answer",
        {
            "question": {
                "kind": "choice",
                "code": "attention",
                "text": "To show that you read this, choose Blue.",
                "options": [{"code": "red", "text": "Red"}, {"code": "blue", "text": "Blue"}],
            },
            "expected": "blue",
        },
    ),
    "number": (
        "Enter a named number",
        {
            "question": {
                "kind": "number",
                "code": "attention",
                "text": "This question checks that the page is being read. Please enter the number 4.",
                "minimum": 0,
                "maximum": 10,
                "integer": True,
            },
            "expected": 4,
        },
    ),
    "scale": (
        "Choose a named point of a scale",
        {"question": _SCALE | {"code": "attention", "text": "Please choose 2 here."}, "expected": 2},
    ),
    "text": (
        "Enter a named word",
        {
            "question": {
                "kind": "text",
                "code": "attention",
                "text": "Please write the word “tea” here.",
                "multiline": False,
            },
            "expected": "tea",
        },
    ),
}
COMPREHENSION: Offers = {
    "choice": (
        "One of some answers",
        {
            "question": {
                "kind": "choice",
                "code": "about",
                "text": "What are the situations about?",
                "options": [{"code": "customs", "text": "Customs"}, {"code": "sums", "text": "Sums"}],
            },
            "expected": "customs",
        },
    ),
    "number": (
        "A number",
        {
            "question": {"kind": "number", "code": "how_many", "text": "How many situations will you read?"},
            "expected": 7,
        },
    ),
}
FACTORS: Offers = {
    "factor": (
        "Factor with two levels",
        {
            "name": "framing",
            "within": True,
            "levels": [{"code": "plain"}, {"code": "abroad", "text": "Imagine that you are **abroad**."}],
        },
    ),
}
FILTER_OFFERS: Offers = {kind: (model.label, {"kind": kind}) for kind, model in FILTERS.items()}
