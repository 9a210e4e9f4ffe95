"""SenseJudge and SenseBench: does a judge who knows a person's preferences choose what that person chooses?"""

from pathlib import Path

from protocols.sense.stages import challenge, filtering, judging, labels, leaderboard, results
from protocols.stages import Protocol, Source

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
)
