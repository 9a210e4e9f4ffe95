"""Markdown that researchers write (consent, guidelines) as safe HTML."""

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {"p", "br", "hr", "h2", "h3", "h4", "em", "strong", "code", "pre", "blockquote", "ul", "ol", "li", "a"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=256)
def render_markdown(text: str) -> SafeString:
    """HTML of a Markdown text. Raw HTML in it is shown as text; images, scripts and odd link schemes are dropped.

    A heading of the first level becomes one of the second: a page has its own.
    """
    html = _PARSER.render(text).replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    html = nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"})
    return mark_safe(html)
