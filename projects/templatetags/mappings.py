"""Going through data whose keys somebody else chose."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def pairs(mapping: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Keys and values; none for None. In a template `mapping.items` would find the value of a key named "items"."""
    return list(mapping.items()) if mapping else []
