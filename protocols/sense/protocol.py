"""SenseJudge and SenseBench: does a judge who knows a person's preferences choose what that person chooses?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocols.sense.stages import challenge, filtering, judging, labels, leaderboard, results
from protocols.stages import Protocol, Source

# With one model under three names each dialogue has three pairs: one to write preferences from, two to test them. They
# differ above temperature 0 only, where a tiny model also repeats itself less, and so is cut off less.
TRIAL: Mapping[str, Mapping[str, Any]] = {
    "read": {"most": 8},
    "categorise": {"temperature": 2},  # below, a tiny model sorts all dialogues into one topic
    "contrast": {"strong": [1], "weak": [2], "temperature": 1, "max_tokens": 400},
    "challenge": {"least_share": 0},
    "respond": {"models": [1, 2, 3], "temperature": 1, "max_tokens": 400},
    "pairs": {"per_topic": 3},
    "labels": {"annotators": 2},
    "split": {"dev_per_topic": 1},
    "preferences": {"temperature": 1, "max_tokens": 400},
    "judge_dev": {"max_tokens": 48},
    "judge_test": {"max_tokens": 48},
    "baseline": {"max_tokens": 48},
    "accuracy": {"people": "simulated"},
    "cross": {"source": "", "targets": []},
    "judge_cross": {"max_tokens": 48},
    "ranking_pairs": {"models": [1, 2], "preferences_each": 1},
    "judge_ranking": {"max_tokens": 48},
    "ranking": {"people": "simulated"},
}

PROTOCOL = Protocol(
    name="sense",
    title="SenseJudge",
    says="Whether a model that is told a person’s preferences judges responses as that person does, on a benchmark "
    "made from dialogues, and how it ranks models.",
    sources=(
        Source(
            filtering.DIALOGUES,
            "Dialogues",
            "A row each, with messages (role and content) or one text: query, prompt or instruction. JSON lines, JSON, "
            "CSV, Parquet or Excel.",
            Path(__file__).parent / "data" / "dialogues.jsonl",
        ),
        Source(
            results.VERDICTS,
            "Verdicts of other judges",
            "A table with pair, judge, winner_order_12 and, where the second order was asked too, winner_order_21; a "
            "winner is 1, 2 or empty, numbered as the pair’s responses are.",
        ),
    ),
    stages=(
        *filtering.STAGES,
        *challenge.STAGES,
        *labels.STAGES,
        *judging.STAGES,
        *results.STAGES,
        *leaderboard.STAGES,
    ),
    trial=TRIAL,
    trial_answers={"separates": "yes"},
)
