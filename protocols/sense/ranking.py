"""Which preferences rank models, and the ranking that people made."""

import random
from collections.abc import Mapping, Sequence

PREFERENCES_EACH = 5  # of each annotator and topic
# SenseJudge, section 4.2.2: the human leaderboard, best first.
REFERENCE = ("deepseek-r1", "claude-3-7-sonnet", "gpt-4o", "qwen2.5-72b-instruct", "gpt-3.5")


def drawn_preferences(ids: Mapping[tuple[str, str], Sequence[str]], *, each: int, seed: int) -> dict[str, list[str]]:
    """So many preferences of each annotator, or all there are, by topic. `ids`: by annotator and topic.

    >>> drawn_preferences({("ann", "math"): ["p1"], ("bob", "math"): ["p2", "p3"]}, each=1, seed=1)["math"][0]
    'p1'
    """
    found: dict[str, list[str]] = {}
    for (annotator, topic), own in sorted(ids.items()):
        drawn = random.Random(f"{seed}/{annotator}/{topic}").sample(sorted(own), min(each, len(own)))
        found.setdefault(topic, []).extend(sorted(drawn))
    return found
