"""The content of items in the order of their source: jsonb keeps the fields by length and name instead."""

from collections.abc import Mapping, Sequence
from typing import Any


def ordered(content: Mapping[str, Any], field_order: Sequence[str]) -> list[tuple[str, Any]]:
    """The content's fields and values as `Dataset.field_order` has them; fields that it lacks come last.

    >>> ordered({"b": 1, "a": 2, "other": 3}, ["a", "gone", "b"])
    [('a', 2), ('b', 1), ('other', 3)]
    """
    return [(field, content[field]) for field in dict.fromkeys([*field_order, *content]) if field in content]


def id_fields(contents: Sequence[tuple[str, Mapping[str, Any]]]) -> set[str]:
    """The fields that only repeat the external id, or a part of it, in each of the (external id, content) pairs.

    >>> sorted(id_fields([("1/x", {"n": 1, "letter": "x", "a": "x"}), ("2/y", {"n": 2, "letter": "y", "a": "?"})]))
    ['letter', 'n']
    """
    fields = {field for _, content in contents for field in content}
    for external_id, content in contents:
        parts = {external_id, *external_id.split("/")}
        fields = {field for field in fields if str(content.get(field, "")).strip() in parts}
    return fields
