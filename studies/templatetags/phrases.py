"""What a participant's page says, in the page's language."""

from typing import Any

from django import template
from django.template import Context
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from studies.translating import ENGLISH

register = template.Library()


@register.simple_tag(takes_context=True)
def say(context: Context, name: str, **values: Any) -> SafeString:
    """The phrase of this name from the context's `phrases`, else in English; KeyError for one that is not there."""
    phrases = context.get("phrases") or ENGLISH
    return format_html(str(escape(phrases[name])), **values) if values else escape(phrases[name])
