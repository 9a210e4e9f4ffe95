"""What a person says of a community: its topic, and its place as a path from the whole to the part."""

import json
import re
from functools import cache
from pathlib import Path

_FILE = Path(__file__).parent / "data" / "topics.json"
_CONTINENTS_FILE = Path(__file__).parent / "data" / "continents.json"
_PATH = re.compile(r"GLOBAL|[A-Z]{2}(-[A-Z0-9]+)*\+?")

GLOBAL = "GLOBAL"


@cache
def topics() -> dict[str, str]:
    """The ten topics a community can have, by code; the paper has ten and does not name them."""
    found: dict[str, str] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def scope(geopath: str) -> str:
    """The continent of the path's country, or GLOBAL. Raises ValueError with a sentence for what is no geopath.

    A geopath is GLOBAL or a country's two letters (ISO 3166), then parts of it, as in US-CA or US-CA-CITY+; the plus
    stands for a place and what surrounds it.

    >>> scope("US-CA-CITY+"), scope("GLOBAL")
    ('North America', 'GLOBAL')
    """
    if not _PATH.fullmatch(geopath):
        raise ValueError(
            f"{geopath!r} is no geopath; write GLOBAL or a country and its parts in capitals, as US-CA or US-CA-CITY+."
        )
    if geopath == GLOBAL:
        return GLOBAL
    country = geopath[:2]
    if country not in _continents():
        raise ValueError(f"{geopath!r} begins with {country}, which is no country's code; GB and US are such codes.")
    return _continents()[country]


@cache
def _continents() -> dict[str, str]:
    by_continent: dict[str, str] = json.loads(_CONTINENTS_FILE.read_text(encoding="utf-8"))
    return {country: continent for continent, countries in by_continent.items() for country in countries.split()}
