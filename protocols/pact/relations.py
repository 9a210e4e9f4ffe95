"""How far a scenario's country lies from a respondent's, by the lists of the published study or by distance."""

from collections.abc import Mapping
from typing import Literal

from protocols.pact.countries import Relation, relation

Rule = Literal["published", "distance"]

# Their lists call Myanmar and Singapore close to Brazil, 16,000 km away; their numbers only come out with that.
_PUBLISHED_CLOSE: Mapping[str, frozenset[str]] = {
    "Brazil": frozenset({"Myanmar", "Singapore"}),
    "India": frozenset({"Bangladesh", "Nepal", "Pakistan"}),
    "South Africa": frozenset({"Ethiopia", "Zimbabwe"}),
    "United Kingdom": frozenset({"Ireland"}),
    **dict.fromkeys(["United States", "United States of America"], frozenset({"Canada", "Mexico"})),
}


def country_relation(own: str, other: str, *, rule: Rule) -> Relation:
    """The relation of the second country to the first.

    "published": by the study's lists, and far where they say nothing. "distance": as `countries.relation`, which raises
    UnknownCountryError.
    """
    if rule == "distance":
        return relation(own, other)
    if own == other:
        return "same"
    return "close" if other in _PUBLISHED_CLOSE.get(own, ()) else "far"
