"""What people and models are asked in the demo study: question lists as plain data, and the texts around them.

`materials.questions.parse_questions` reads each list. `PAIRED_QUESTIONS` and `VALIDATION_QUESTIONS` are about one item
with the fields of `scenarios.FIELDS`; `DEMOGRAPHICS` is asked once.
"""

from typing import Any

QuestionData = dict[str, Any]

PARTICIPANT_COUNTRIES = ("Brazil", "India", "South Africa", "United Kingdom", "United States")


def _option(code: str, text: str, hotkey: str = "") -> dict[str, str]:
    return {"code": code, "text": text, "hotkey": hotkey}


def _paired(code: str, text: str, help_text: str) -> QuestionData:
    return {
        "kind": "choice",
        "code": code,
        "text": text,
        "help": help_text,
        "options": [
            {"code": "culture", "text_field": "option_culture"},
            {"code": "preference", "text_field": "option_preference"},
        ],
        "randomise": True,
        "order_group": "action",
    }


def _importance(code: str, text: str) -> QuestionData:
    return {
        "kind": "scale",
        "code": code,
        "text": text,
        "minimum": 1,
        "maximum": 5,
        "low_label": "Not important at all",
        "high_label": "Very important",
        "required": False,
    }


def _yes_no(code: str, text: str, help_text: str, yes_key: str, no_key: str) -> QuestionData:
    return {
        "kind": "choice",
        "code": code,
        "text": text,
        "help": help_text,
        "options": [_option("yes", "Yes", yes_key), _option("no", "No", no_key)],
    }


def _demographic(code: str, text: str, reason: str, options: list[dict[str, str]], help_text: str = "") -> QuestionData:
    return {"kind": "choice", "code": code, "text": text, "reason": reason, "help": help_text, "options": options}


PAIRED_QUESTIONS: list[QuestionData] = [
    _paired(
        "personal",
        "What would you personally do if you were the actor?",
        "The actor is the person whose preference is described.",
    ),
    _paired(
        "norm",
        "What would most people in this situation consider appropriate?",
        "Think of the people who live there, whatever you would do yourself.",
    ),
    _importance("importance_expectation", "How important is it here to do what people usually do?"),
    _importance("importance_preference", "How important is it here to do what the actor prefers?"),
]

# What a model is asked of the paired questions: the ratings of importance are for people.
MODEL_QUESTION_CODES = ("personal", "norm")

VALIDATION_QUESTIONS: list[QuestionData] = [
    _yes_no(
        "preference_plausible",
        "Is the preference plausible?",
        "Yes if someone in the actor's place could well have it, for the reason that is given. "
        "No if it is far-fetched, mocking or a stereotype.",
        "1",
        "2",
    ),
    _yes_no(
        "preference_distinct",
        "Does the preference lead to a different action than the expectation?",
        "Yes if one cannot do both options in full. No if they overlap or if it is unclear which is which.",
        "3",
        "4",
    ),
    _yes_no(
        "scenario_clear",
        "Is the scenario clear?",
        "Yes if it is plain who is where and what can be done, and if neither option is hinted at as right.",
        "5",
        "6",
    ),
    {
        "kind": "text",
        "code": "note",
        "text": "Note",
        "help": "What should be changed, or what you were unsure about.",
        "required": False,
        "max_length": 1000,
    },
]

VALIDATION_GUIDELINES = """\
Each page shows one everyday scenario with a custom and a personal preference that stands against it.
Answer three questions about the **scenario**, not about what you would do yourself.

1. **Plausible?** Could someone in the actor's place well have this preference, for the reason given?
2. **Different?** Does the preference lead to another action than the custom?
3. **Clear?** Is it plain who is where and what can be done, without a hint at a right answer?
"""

DEMOGRAPHICS: list[QuestionData] = [
    _demographic(
        "country",
        "In which country have you lived for most of the last five years?",
        "Answers are compared within and between these five countries.",
        [_option(name, name) for name in PARTICIPANT_COUNTRIES],
    ),
    _demographic(
        "age_group",
        "How old are you?",
        "Younger and older people may see everyday customs differently. We ask for a group, not for your age.",
        [_option("younger", "18 to 39"), _option("older", "40 or over")],
    ),
    _demographic(
        "gender",
        "What is your gender?",
        "We check whether answers differ between genders. You need not say.",
        [
            _option("female", "Female"),
            _option("male", "Male"),
            _option("other", "Another gender, or none"),
            _option("undisclosed", "I prefer not to say"),
        ],
    ),
]

CONSENT = """\
## About this study

This is a **demonstration study**: it shows how a survey works in this software and is no research project of its own.

We ask about everyday situations in which a custom and a personal preference point to different actions. There are no
right or wrong answers. It takes a few minutes, and you must be at least 18 years old.

**What is stored.** Your answers, when each page was shown and answered, and the country, age group and gender that you
choose. If a recruitment platform sent you, its identifiers are stored encrypted, apart from your answers, to tell it
that you took part. We do not ask for your name or e-mail address.

**What happens with it.** Members of this project can see the answers, compare them with answers of language models and
download them without platform identifiers.

**How to leave.** Taking part is voluntary. You can close the page at any time. Answers that you have sent by then stay
stored as an unfinished session; ask the people who gave you the link to have them deleted.
"""

INSTRUCTIONS = """\
## What you will do

Each page describes two people in an everyday situation. The **actor** is the person whose preference is described. You
read what people in that country usually do and what the actor would prefer, and then answer two questions with the same
two options:

1. what **you** would do in the actor's place;
2. what **most people there** would consider appropriate.

Your two answers may be the same or different. Customs vary within every country; the sentence about the custom names a
common one and no rule.
"""

DEBRIEF = """\
## Thank you

Your answers are stored. This was a demonstration study about situations in which a custom and a personal preference
point to different actions. The order of the two options was drawn at random for each situation, so that their position
does not decide the result.

We compare how people answer with how language models answer the same questions. The situations were written for this
software; each custom is a common one that not everybody in that country follows.
"""
