"""Checks of a scenario before people see it: pure functions of its texts; each fault is words for a funnel."""

import re
from collections.abc import Iterator, Mapping, Sequence

from protocols.pact.countries import all_countries, other_countries
from protocols.pact.scenarios import PREFERENCE_TYPES

TEXTS = (
    "situation", "cultural_expectation", "personal_preference", "option_culture", "option_preference", "actor_role",
    "receiver_role",
)  # fmt: skip
EMPTY = "with an empty field"
ALIKE = "with options that hardly differ"
UNEVEN = "with options of very different lengths"
NAMES_A_GROUP = "with a preference that names a country, an age or a gender"
REVEALS = "with a situation that says what is right"

_GROUPS = re.compile(
    r"\b(?:young|younger|old|older|elderly|teenage\w*|aged?|years? old|wom[ae]n|m[ae]n|male|female|girl|boy|lady|ladies"
    r"|gentlem[ae]n|he|she|his|her|hers|him)\b",
    re.IGNORECASE,
)
_JUDGING = re.compile(
    r"\b(?:should|ought|must|supposed to|appropriate|inappropriate|polite|impolite|rude|proper|wrong|correct|respectful"
    r"|disrespectful|expected to)\b",
    re.IGNORECASE,
)


def faults(
    scenario: Mapping[str, str], *, most_overlap: float, most_length_ratio: float, wording: bool
) -> Iterator[str]:
    """What is wrong with it, the gravest first; nothing for a good one.

    `most_overlap`: largest Jaccard overlap of the options' words, 0 to 1. `most_length_ratio`: of the longer option's
    characters to the shorter's, 1 or more. `wording`: whether words that name a group or say what is right are faults.
    """
    if any(not scenario.get(name, "").strip() for name in TEXTS):
        yield EMPTY
        return
    one, other = scenario["option_culture"], scenario["option_preference"]
    if word_overlap(one, other) > most_overlap:
        yield ALIKE
    if max(len(one), len(other)) > most_length_ratio * min(len(one), len(other)):
        yield UNEVEN
    if not wording:
        return
    preference = scenario["personal_preference"]
    if _GROUPS.search(preference) or _named_country(preference):
        yield NAMES_A_GROUP
    if _JUDGING.search(scenario["situation"]):
        yield REVEALS


def word_overlap(one: str, other: str) -> float:
    """Jaccard overlap of the two texts' words, 0 to 1.

    >>> word_overlap("Take the bag.", "Keep the bag.")
    0.5
    """
    first, second = _words(one), _words(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def typed(countries: Sequence[str]) -> list[str]:
    """A type of preference for each row, from its country: the types take turns within each country.

    >>> typed(["Chile", "Peru", "Chile"])
    ['convenience', 'convenience', 'habit']
    """
    seen: dict[str, int] = {}
    types = []
    for country in countries:
        types.append(PREFERENCE_TYPES[seen.get(country, 0) % len(PREFERENCE_TYPES)])
        seen[country] = seen.get(country, 0) + 1
    return types


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _named_country(text: str) -> bool:
    return any(re.search(rf"\b{re.escape(country.name)}\b", text) for country in (*all_countries(), *other_countries()))
