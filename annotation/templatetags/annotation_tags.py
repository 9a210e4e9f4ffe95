from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def attributes(values: Mapping[str, Any]) -> SafeString:
    """HTML attributes, escaped: {"max": 5} gives ` max="5"`."""
    return format_html_join("", ' {}="{}"', ((name, str(value)) for name, value in values.items()))
