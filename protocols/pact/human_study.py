"""The study of people as a file for `create_study`: five countries, 63 scenarios of which each person answers 7.

The paper names counts and screens; how scenarios are dealt out, the scale of the ratings and which personal choices are
explained it leaves open: here places balanced over relation and receiver, 1 to 5, and two of seven by seed.
"""

import secrets
from collections.abc import Collection, Mapping
from typing import Any

from protocols.pact.countries import UnknownCountryError, find
from protocols.pact.instruments import DEMOGRAPHICS, INSTRUCTIONS, PAIRED_QUESTIONS, PARTICIPANT_COUNTRIES, QuestionData

NAME, SLUG, INSTRUMENT = "Norms and preferences of people", "pact-human-study", "pact-human"
ITEMS_EACH, PER_COUNTRY, EXPLAINED = 7, 40, 2
OUTCOMES = ("completed", "no_consent", "failed_attention", "quota_full")

# The published lists, but for Brazil, for which they name two countries that are 16,000 km away.
CLOSE: Mapping[str, tuple[str, ...]] = {
    "Brazil": ("Argentina",),
    "India": ("Bangladesh", "Nepal", "Pakistan"),
    "South Africa": ("Ethiopia", "Zimbabwe"),
    "United Kingdom": ("Ireland",),
    "United States": ("Canada", "Mexico"),
}

WHY: QuestionData = {
    "kind": "text",
    "code": "why",
    "text": "Why would you do what you chose for yourself?",
    "help": "One sentence is enough.",
    "required": False,
    "max_length": 600,
}
QUESTIONS: list[QuestionData] = [*PAIRED_QUESTIONS, WHY]

ATTENTION: QuestionData = {
    "kind": "number",
    "code": "attention",
    "text": "This question checks that the page is being read. Please enter the number 4.",
    "integer": True,
    "minimum": 0,
    "maximum": 10,
}

CONSENT = """\
## About this study

We study everyday situations in which a custom and a personal preference point to different actions. There are no right
or wrong answers. You must be at least 18 years old.

**What is stored.** Your answers, when each page was shown and answered, how often the page lost the focus, was resized
or had something pasted into it (counts, never contents), and the country, age group and gender that you choose. The
platform's identifiers are stored encrypted, apart from your answers, to tell it that you took part.

**What happens with it.** Answers without identifiers are analysed, compared with answers of language models, and may be
published.

**How to leave.** Taking part is voluntary. You can close the page at any time and return your place on the platform.
Ask us to have your answers deleted.
"""

DEBRIEF = """\
## Thank you

Your answers are stored. The order of the two actions was drawn at random for each situation, so that their position
does not decide the result. Each custom that was named is a common one, which not everybody in that country follows.
"""


class HumanStudyError(ValueError):
    """The study cannot be made of these scenarios; the text says why and what to do."""


def new_codes() -> dict[str, str]:
    """A code for each end, to be entered on the platform."""
    return {outcome: f"C{secrets.token_hex(4).upper()}" for outcome in OUTCOMES}


def human_study(
    scenario_countries: Collection[str],
    *,
    dataset: str,
    contact: str,
    codes: Mapping[str, str],
    per_country: int = PER_COUNTRY,
    minutes: int = 12,
    seed: int = 1,
) -> dict[str, Any]:
    """The file, as docs/studies.md describes it; the instrument holds QUESTIONS.

    `scenario_countries` are the texts in the dataset's field `receiver_country`: a person's country is written as it is
    there. Raises HumanStudyError when no scenario is set in one of the five.
    """
    spelled = _spellings(scenario_countries)
    if lacking := [own for own in PARTICIPANT_COUNTRIES if _code(own) not in spelled]:
        raise HumanStudyError(
            f"No scenario is set in {', '.join(lacking)}, so people there would get none of their own country: add "
            "scenarios, or write the country as an English name or an ISO 3166 code."
        )
    own = {country: spelled[_code(country)] for country in PARTICIPANT_COUNTRIES}
    close = {
        own[country]: [spelled[_code(other)] for other in others if _code(other) in spelled]
        for country, others in CLOSE.items()
    }
    return {
        "name": NAME,
        "slug": SLUG,
        "dataset": dataset,
        "instrument": INSTRUMENT,
        "platform": "prolific",
        "texts": {
            "title": "Everyday customs and preferences",
            "consent": CONSENT,
            "instructions": INSTRUCTIONS,
            "debrief": DEBRIEF,
        },
        "design": {
            "items_each": ITEMS_EACH,
            "minutes": minutes,
            "seed": seed,
            "contact": contact,
            "confirm_platform_id": True,
            "strata": ["country"],
            "relation": {"attribute": "country", "field": "receiver_country", "close": close},
            "balance": ["relation", "receiver_age", "receiver_gender"],
            "item_template": {
                "item_fields": [
                    "situation",
                    {"field": "cultural_expectation", "label": "What is usual there"},
                    {"field": "personal_preference", "label": "What the actor prefers"},
                ]
            },
            "asked_on": {WHY["code"]: EXPLAINED},
            "attention_checks": [{"question": ATTENTION, "expected": 4}],
            "quotas": [{"attributes": {"country": country}, "most": per_country} for country in own.values()],
        },
        "demographics": [_with_countries(question, own) for question in DEMOGRAPHICS],
        "filters": [
            {"kind": kind}
            for kind in ("completed", "platform_id", "platform_finished", "attention", "duplicates", "suspicious")
        ],
        "completion_codes": dict(codes),
    }


def _code(country: str) -> str:
    return find(country).iso3


def _spellings(countries: Collection[str]) -> dict[str, str]:
    """How each known country is written there, by its code."""
    found: dict[str, str] = {}
    for country in sorted(countries):
        try:
            found.setdefault(_code(country), country)
        except UnknownCountryError:  # it can only be far
            continue
    return found


def _with_countries(question: QuestionData, own: Mapping[str, str]) -> QuestionData:
    if question["code"] != "country":
        return question
    return question | {"options": [{"code": written, "text": country} for country, written in own.items()]}
