"""PACT: do models follow a country's custom or a person's preference, and do people decide as they do?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from protocols.pact.instruments import PARTICIPANT_COUNTRIES
from protocols.pact.stages import behaviour, building, filtering, judging, people, reading, validating
from protocols.stages import Protocol, Source

_DATA = Path(__file__).parent / "data"
# Few rows of the five countries; lax checks, since a tiny model repeats itself; one case of each pair of countries.
TRIAL: Mapping[str, Mapping[str, Any]] = {
    "read": {"countries": PARTICIPANT_COUNTRIES, "rows_each": 3},
    "filter_check": {"check": 6},
    "check": {"most_overlap": 1, "most_length_ratio": 20, "wording": False},
    "people": {"sample": 4, "annotators": 2, "shared": 2},
    "behaviour": {"cases_each": 1},
    "behaviour_report": {"resamples": 100},
    "study": {"source": "all", "scenarios": 10, "per_country": 4},
    "align": {"personas": False},
    "alignment_report": {"people": "simulated", "sessions": "completed", "resamples": 100},
}

PROTOCOL = Protocol(
    name="pact",
    title="PACT",
    says="Whether models follow a country’s custom or a person’s preference, and whether people decide the same way.",
    sources=(
        Source(
            "normad",
            "NormAd-ETI",
            "The authors’ table: ID, Country, Story, Rule-of-Thumb, Gold Label, as CSV, JSON lines or Parquet.",
            _DATA / "source_normad.csv",
        ),
        Source(
            "cultureatlas",
            "CultureAtlas",
            "The authors’ benchmark file with its numbered columns, or a table with country, assertion, positive and "
            "negative.",
            _DATA / "source_cultureatlas.csv",
        ),
        Source("plain", "Other norms", "A table with country, story and norm; also id, setting, negative and label."),
    ),
    stages=(
        reading.STAGE,
        *filtering.STAGES,
        *building.STAGES,
        *validating.STAGES,
        *judging.STAGES,
        *behaviour.STAGES,
        *people.STAGES,
    ),
    trial=TRIAL,
)
