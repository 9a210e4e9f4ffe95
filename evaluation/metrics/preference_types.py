"""What kind of preference a text speaks of, by the keywords in it: an aid to reading, not a label by people."""

from collections.abc import Mapping, Sequence

OTHER = "other"


def preference_type(text: object, rules: Mapping[str, Sequence[str]]) -> str:
    """The type with the most keywords in the text, the earliest of `rules` where several have as many.

    Keywords are compared with the text in lower case and may be parts of words. Text without any, or no text, is
    `OTHER`. Source: PACT, appendix G.

    >>> preference_type("Wears a mask, for health", {"style": ["mask", "hat"], "health": ["health", "diet"]})
    'style'
    """
    lowered = text.lower() if isinstance(text, str) else ""
    hits = {name: sum(keyword in lowered for keyword in keywords) for name, keywords in rules.items()}
    best = max(hits, key=hits.__getitem__, default=OTHER)
    return best if hits.get(best) else OTHER
