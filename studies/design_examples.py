"""An example of each part of a design that is written as JSON, by the form's field."""

import json
from typing import Any

_CHECK = {
    "kind": "choice",
    "code": "attention",
    "text": "To show that you read this, choose Blue.",
    "options": [{"code": "red", "text": "Red"}, {"code": "blue", "text": "Blue"}],
}
_EXAMPLES: dict[str, Any] = {
    "relation": {
        "name": "relation",
        "attribute": "country",
        "field": "receiver_country",
        "close": {"India": ["Nepal", "Pakistan"]},
    },
    "factors": [
        {
            "name": "framing",
            "within": True,
            "levels": [{"code": "plain"}, {"code": "abroad", "text": "Imagine that you are **abroad**."}],
        }
    ],
    "demographics": [
        {
            "kind": "choice",
            "code": "country",
            "text": "Where do you live?",
            "reason": "Answers are compared between countries.",
            "options": [{"code": "Brazil", "text": "Brazil"}, {"code": "India", "text": "India"}],
        },
        {
            "kind": "choice",
            "code": "age_group",
            "text": "How old are you?",
            "reason": "To describe who took part.",
            "required": False,
            "options": [
                {"code": "younger", "text": "18 to 39"},
                {"code": "older", "text": "40 or over"},
                {"code": "unsaid", "text": "I prefer not to say"},
            ],
        },
    ],
    "comprehension": {
        "questions": [
            {
                "kind": "choice",
                "code": "about",
                "text": "What are the situations about?",
                "options": [{"code": "customs", "text": "Customs"}, {"code": "sums", "text": "Sums"}],
            }
        ],
        "expected": {"about": "customs"},
        "tries": 2,
    },
    "attention_checks": [{"question": _CHECK, "expected": "blue"}],
    "translations": {
        "es": {
            "texts": {"title": "Costumbres", "consent": "Preguntamos por **situaciones cotidianas**."},
            "questions": {"country": {"text": "¿Dónde vive?", "options": {"Brazil": "Brasil", "India": "India"}}},
            "item_fields": {"situation": "situation_es"},
        }
    },
    "filters": [{"kind": "too_fast", "sd": 3}, {"kind": "straight_lining", "at_least": 5}],
}
EXAMPLES = {name: json.dumps(example, indent=2, ensure_ascii=False) for name, example in _EXAMPLES.items()}
