"""What models and people are asked in SenseBench and SenseJudge: question lists as plain data."""

from typing import Any

from protocols.sense.categories import subcategories, topics

QuestionData = dict[str, Any]

NO_CATEGORY = "none"
KEEP = "keep"
FIRST, SECOND = "first", "second"
# The words of the paper's judgment prompt; models see A and B in place of {letter}.
DECISION = "The final decision is Response {letter}."
EQUAL = 3  # the middle of the comparison's scale

DENOISE_QUESTIONS: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "quality",
        "text": "Should this dialogue be kept for a benchmark?",
        "options": [
            {"code": KEEP, "text": "Keep it"},
            {"code": "redundant", "text": "Drop it: it repeats itself or asks for nothing new"},
            {"code": "ambiguous", "text": "Drop it: nobody can tell what is asked for"},
            {"code": "low_quality", "text": "Drop it: it is garbled, empty of content or not a request"},
            {"code": "too_simple", "text": "Drop it: every assistant would answer it equally well"},
        ],
    }
]

CATEGORY_QUESTIONS: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "category",
        "text": "Which kind of task does the last message of the dialogue set?",
        "options": [
            *(
                {"code": code, "text": f"{topics()[entry.topic]}: {entry.title} ({entry.description})"}
                for code, entry in subcategories().items()
            ),
            {"code": NO_CATEGORY, "text": "None of these"},
        ],
    }
]

RESPONSE_QUESTIONS: list[QuestionData] = [
    {
        "kind": "text",
        "code": "response",
        "text": "Answer the last message of the dialogue.",
        "max_length": 100_000,
    }
]

COMPARISON_QUESTIONS: list[QuestionData] = [
    {
        "kind": "scale",
        "code": "comparison",
        "text": "Which response is better?",
        "minimum": 1,
        "maximum": 5,
        "labels": ["A is much better", "A is better", "About equal", "B is better", "B is much better"],
    }
]

MANUAL_QUESTIONS: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "separates",
        "text": "Do the responses of strong and weak models really differ in quality?",
        "help": "Look at format, length, detail and whether what was asked for was done.",
        "options": [{"code": "yes", "text": "Yes", "hotkey": "y"}, {"code": "no", "text": "No", "hotkey": "n"}],
    },
    {
        "kind": "text",
        "code": "cleaned",
        "text": "The last message, cleaned of faults in format and wording",
        "help": "Leave it empty where the message is good as it is.",
        "required": False,
        "max_length": 100_000,
        "show_if": {"question": "separates", "any_of": ["yes"]},
    },
]

PAIR_QUESTIONS: list[QuestionData] = [
    {
        "kind": "pairwise",
        "code": "better",
        "text": "Which response do you prefer?",
        "first_field": "response_1",
        "second_field": "response_2",
    }
]

PREFERENCE_QUESTIONS: list[QuestionData] = [
    {
        "kind": "text",
        "code": "preference",
        "text": "What does this person prefer?",
        "max_length": 20_000,
    }
]
