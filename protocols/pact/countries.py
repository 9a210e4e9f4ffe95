"""The countries of the protocol: names, codes, regions, and how far one is from another."""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Relation = Literal["same", "close", "far"]
RELATIONS: tuple[Relation, ...] = ("same", "close", "far")

# In the published study every pair called close is at most 4,011 km apart and every pair called far at least 4,408 km.
CLOSE_KM = 4200.0

EARTH_RADIUS_KM = 6371.0088  # mean radius (IUGG)

_DATA = Path(__file__).parent / "data"
_ALIASES = {
    "united states of america": "US", "uk": "GB", "great britain": "GB", "turkey": "TR", "palestine": "PS",
    "czech republic": "CZ", "swaziland": "SZ", "burma": "MM", "macedonia": "MK", "cote d'ivoire": "CI", "drc": "CD",
    "côte d'ivoire": "CI", "cabo verde": "CV", "the bahamas": "BS", "the gambia": "GM", "macau": "MO", "congo": "CG",
    "saint vincent and the grenadines": "VC", "holy see": "VA", "brunei darussalam": "BN", "korea": "KR",
    "timor leste": "TL", "east timor": "TL", "viet nam": "VN", "russian federation": "RU",
}  # fmt: skip


@dataclass(frozen=True)
class Country:
    """One country; latitude and longitude in degrees are those of a point near its middle."""

    name: str
    iso2: str
    iso3: str
    region: str
    latitude: float
    longitude: float


class UnknownCountryError(ValueError):
    """The text names no country of the table."""


def all_countries() -> tuple[Country, ...]:
    """The countries that NormAd-ETI covers, by name."""
    return _read("countries.csv")


def other_countries() -> tuple[Country, ...]:
    """Those that other sources cover, too, by name."""
    return _read("more_countries.csv")


@cache
def _read(file_name: str) -> tuple[Country, ...]:
    with (_DATA / file_name).open(encoding="utf-8", newline="") as lines:
        return tuple(
            Country(
                name=row["name"],
                iso2=row["iso2"],
                iso3=row["iso3"],
                region=row["region"],
                latitude=float(row["latitude"]),
                longitude=float(row["longitude"]),
            )
            for row in csv.DictReader(lines)
        )


def find(text: str) -> Country:
    """The country with this name, ISO 3166 alpha-2 or alpha-3 code; case and underscores do not matter.

    Raises UnknownCountryError.
    """
    key = text.strip().replace("_", " ").casefold()
    try:
        return _index()[_ALIASES.get(key, key).casefold()]
    except KeyError:
        raise UnknownCountryError(
            f"{text!r} is not in the country table; use an English name or an ISO 3166 code such as BR or BRA."
        ) from None


def distance_km(one: Country, other: Country) -> float:
    """Great-circle distance in km between the middles of two countries (haversine formula); 0 to about 20,015."""
    latitude, other_latitude = math.radians(one.latitude), math.radians(other.latitude)
    half_longitude = math.radians(other.longitude - one.longitude) / 2
    chord = (
        math.sin((other_latitude - latitude) / 2) ** 2
        + math.cos(latitude) * math.cos(other_latitude) * math.sin(half_longitude) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, chord)))


def relation(own: str, other: str) -> Relation:
    """How the second country lies to the first: the same, close (at most 4,200 km) or far; symmetric.

    Raises UnknownCountryError.
    """
    one, two = find(own), find(other)
    if one == two:
        return "same"
    return "close" if distance_km(one, two) <= CLOSE_KM else "far"


@cache
def _index() -> dict[str, Country]:
    countries = (*all_countries(), *other_countries())
    return {key.casefold(): country for country in countries for key in (country.name, country.iso2, country.iso3)}
