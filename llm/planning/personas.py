"""Personas: attributes of whom a model answers as, and every combination of their values. Pure code."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

MAX_PERSONAS = 10_000
TAKEN = frozenset({"model", "endpoint", "persona"})


def check_persona(value: Any) -> Any:
    """The persona, whose attributes are not those that say which model answers. Raises ValueError."""
    taken = sorted(TAKEN.intersection(value)) if isinstance(value, Mapping) else []
    if taken:
        raise ValueError(f"{taken[0]} is what Concord itself says of a model; name the attribute otherwise")
    return value


def crossed(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """A persona for each combination of the attributes' values; none without attributes. Raises ValueError.

    >>> crossed({"country": ["Chile"], "age": ["old", "young"]})
    [{'country': 'Chile', 'age': 'old'}, {'country': 'Chile', 'age': 'young'}]
    """
    size = prod(map(len, values.values()))
    if size > MAX_PERSONAS:
        raise ValueError(f"the personas would be {size:,}; at most {MAX_PERSONAS:,} are taken")
    return [dict(zip(values, combined, strict=True)) for combined in product(*values.values())] if values else []
