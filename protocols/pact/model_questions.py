"""What models are asked while scenarios are made: question lists as plain data, and the prompts they go with."""

from pathlib import Path

from protocols.pact.instruments import VALIDATION_QUESTIONS, QuestionData

PROMPTS = Path(__file__).parent / "prompts"
STYLES = ("current_compact_json", "survey_form", "natural_paragraph", "delimited_metadata", "minimal_direct")


def _text(code: str, text: str, most: int = 400) -> QuestionData:
    return {"kind": "text", "code": code, "text": text, "max_length": most}


USABILITY: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "usable",
        "text": "Can the statement be used?",
        "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
    },
    _text("usable_reason", "Why? One short sentence."),
]
USABILITY_CHECK: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "use",
        "text": "Should this row be used?",
        "help": "Yes if it is about how people treat each other, can be followed or not in an ordinary situation, and "
        "somebody else is there whom it matters to.",
        "options": [{"code": "yes", "text": "Yes", "hotkey": "1"}, {"code": "no", "text": "No", "hotkey": "2"}],
    },
]
EXPECTATION: list[QuestionData] = [
    _text("cultural_expectation", "What do people there usually do? One sentence that names the country.")
]
PREFERENCE: list[QuestionData] = [
    _text("personal_preference", "The preference with its motive, in one sentence about the actor."),
    _text("motivation", "The motive in one to three words.", 80),
    _text("option_culture", "The action that follows the expectation, as a short imperative.", 160),
    _text("option_preference", "The action that follows the preference, as a short imperative.", 160),
]
REWRITE: list[QuestionData] = [
    _text("situation", "The situation, in two or three sentences.", 800),
    _text("actor_role", "The role of the one who acts, in one to three words, such as guest.", 120),
    _text("receiver_role", "The role of the other person, in one to three words, such as host.", 120),
]
# A person may leave a note; a model has to say why.
JUDGE: list[QuestionData] = [
    *(question for question in VALIDATION_QUESTIONS if question["kind"] == "choice"),
    _text("judge_reason", "If any answer is no: why? Otherwise: none.", 300),
]
CRITERIA = tuple(question["code"] for question in VALIDATION_QUESTIONS if question["kind"] == "choice")
OVERRULE: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "keep",
        "text": "The model judge flagged this scenario. Should it be kept?",
        "options": [
            {"code": "yes", "text": "Keep it", "hotkey": "1"},
            {"code": "no", "text": "Remove it", "hotkey": "2"},
        ],
    },
    {"kind": "text", "code": "reason", "text": "Why?", "required": False, "max_length": 1000},
]
DECISION: list[QuestionData] = [
    {
        "kind": "choice",
        "code": "decision",
        "text": "What should the actor do?",
        "options": [
            {"code": "culture", "text_field": "option_culture"},
            {"code": "preference", "text_field": "option_preference"},
        ],
        "randomise": True,
    }
]
