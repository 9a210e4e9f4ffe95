"""Going through data whose keys somebody else chose."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def pairs(mapping: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Keys and values; none for None. In a template `mapping.items` would find the value of a key named "items"."""
    return list(mapping.items()) if mapping else []


@register.simple_tag
def attributes(values: Mapping[str, Any]) -> SafeString:
    """HTML attributes, escaped: {"max": 5} gives ` max="5"`."""
    return format_html_join("", ' {}="{}"', ((name, str(value)) for name, value in values.items()))
