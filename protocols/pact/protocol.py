"""PACT: do models follow a country's custom or a person's preference, and do people decide as they do?"""

from pathlib import Path

from protocols.pact.stages import behaviour, building, filtering, judging, people, reading, validating
from protocols.stages import Protocol, Source

_DATA = Path(__file__).parent / "data"

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
)
