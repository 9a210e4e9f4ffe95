"""The scenarios that come with the protocol, as item contents."""

import json
from functools import cache
from pathlib import Path
from typing import Any

SCENARIOS_FILE = Path(__file__).parent / "data" / "scenarios.jsonl"

FIELDS = (
    "external_id",
    "setting",
    "receiver_country",
    "actor_country",
    "relation",
    "actor_role",
    "receiver_role",
    "actor_age",
    "actor_gender",
    "receiver_age",
    "receiver_gender",
    "situation",
    "cultural_expectation",
    "personal_preference",
    "preference_type",
    "option_culture",
    "option_preference",
)
PREFERENCE_TYPES = ("convenience", "habit", "value_style")


@cache
def all_scenarios() -> tuple[dict[str, Any], ...]:
    """The 48 scenarios in file order; each has exactly the keys FIELDS, all with string values. Do not change them."""
    with SCENARIOS_FILE.open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)
