"""CARE: do models react to news as communities do, and does it help to tell them which community it is?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocols.care.stages import (
    attitudes,
    communities,
    corpus,
    outcome,
    phrases,
    piloting,
    reading,
    sampling,
    simulating,
)
from protocols.stages import Protocol, Source

_DATA = Path(__file__).parent / "data"
# Three communities with two reactions to a post; two endpoints with the two shorter prompts make four set-ups.
TRIAL: Mapping[str, Mapping[str, Any]] = {
    "reactions": {"most": 2},
    "communities": {"most_sharing": 3},
    "salience": {"most": 12},
    "sample": {"article_characters": 600},
    "pilot": {"endpoints": [1, 2], "prompts": ["minimal", "definitions"]},
    "report": {"resamples": 200},
}

PROTOCOL = Protocol(
    name="care",
    title="CARE",
    says="Whether models react to news in the tones and with the attitudes of online communities, blind and when told "
    "which community it is.",
    sources=(
        Source(
            "posts",
            "Posts",
            "JSON lines with the names of pushshift’s dumps: id, subreddit, created_utc, title, selftext, url, "
            "num_comments. A link leads to an article by its address, whatever the scheme, www and tracking.",
            _DATA / "posts.jsonl",
        ),
        Source(
            "comments",
            "Comments",
            "JSON lines: id, link_id, parent_id, created_utc, score, body; author and stickied where there are any. Of "
            "the author is kept only whether the name is a bot’s.",
            _DATA / "comments.jsonl",
        ),
        Source(
            "articles",
            "Articles",
            "JSON lines: url, title, text; published_at and language where they are known. Without a language it is "
            "found out from the words.",
            _DATA / "articles.jsonl",
        ),
        Source(
            "tones",
            "List of tones",
            "JSON with a version and up to 26 tones, each with name, definition, example and a draft of its attitude. "
            "Without a file the list of this project is taken.",
            _DATA / "tones.v1.json",
        ),
    ),
    stages=(
        reading.READ,
        corpus.CORPUS,
        corpus.KEYPHRASES,
        corpus.REACTIONS,
        communities.COMMUNITIES,
        communities.TOPICS,
        phrases.SALIENCE,
        phrases.PHRASES,
        phrases.NEWS,
        sampling.SAMPLE,
        attitudes.TONES,
        attitudes.PROPOSALS,
        attitudes.ATTITUDES,
        piloting.PILOT,
        piloting.AUDIT,
        piloting.SET_UP,
        simulating.ANNOTATE,
        simulating.SIMULATE,
        simulating.ANNOTATE_SIMULATED,
        outcome.DERIVE,
        outcome.REPORT,
    ),
    trial=TRIAL,
    trial_answers={"geopath": "GB"},
)
