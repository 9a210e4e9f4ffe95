"""Drawing the parts of an item."""

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from materials.item_parts import Part

register = template.Library()


@register.simple_tag
def item_part(part: Part) -> SafeString:
    """The part under its heading. Items have many and short ones, for each of which a template would cost most."""
    body = _body(part)
    return format_html("<h2>{}</h2>\n{}", part.label, body) if part.label else body


def _body(part: Part) -> SafeString:
    if part.entries:
        return render_to_string("materials/entries_of_item.html", {"part": part})
    if part.code:
        return format_html('<pre class="code" tabindex="0"><code>{}</code></pre>', part.code)
    if part.marked:
        return format_html('<div class="item-text" dir="auto" data-marked="{}">{}</div>', part.marked, part.exact)
    if part.html:
        return format_html('<div class="prose" dir="auto">{}</div>', part.html)
    return format_html('<p class="item-text" dir="auto">{}</p>', part.text)
