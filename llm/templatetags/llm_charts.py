"""Small charts as inline SVG. They stand beside their numbers, so that they are hidden from screen readers.

Lengths are in the units of the view box; colours and the width on the page come from static/css/jobs.css.
"""

import math
from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from llm.pages.answer_tallies import Place
from llm.pages.histogram import Bin
from responses.intervals import Share

register = template.Library()

WIDTH, HEIGHT = 120, 12
COLUMN, TALL = 20, 100  # of the histogram


@register.simple_tag
def share_bar(share: Share, hatched: bool = False) -> SafeString:
    """A bar from 0 to 1 with its interval as a line. `hatched`: outlined, for a demo model's answers."""
    if math.isnan(share.value):
        return format_html("")
    return format_html(
        '<svg class="bar{}" viewBox="-1 0 {} {}" aria-hidden="true">'
        '<path class="bar-axis" d="M0 0V{}"/><rect class="bar-fill" x="0" y="2" width="{}" height="8"/>'
        '<path class="bar-interval" d="M{} 6H{}"/></svg>',
        " bar-hatched" if hatched else "",
        WIDTH + 2,
        HEIGHT,
        HEIGHT,
        _x(share.value),
        _x(share.low),
        _x(share.high),
    )


@register.simple_tag
def place_interval(place: Place) -> SafeString:
    """A point with its interval on a line from 0 to 1, and a tick where the expected share is."""
    if math.isnan(place.share.value):
        return format_html("")
    return format_html(
        '<svg class="bar" viewBox="-1 0 {} {}" aria-hidden="true"><path class="bar-axis" d="M0 6H{}"/>'
        '<path class="bar-expected" d="M{} 0V{}"/><path class="bar-interval" d="M{} 6H{}"/>'
        '<circle class="bar-point" cx="{}" cy="6" r="3"/></svg>',
        WIDTH + 2,
        HEIGHT,
        WIDTH,
        _x(place.expected),
        HEIGHT,
        _x(place.share.low),
        _x(place.share.high),
        _x(place.share.value),
    )


@register.simple_tag
def histogram_chart(bins: Sequence[Bin]) -> SafeString:
    """Columns side by side; the numbers belong into a table beside it."""
    highest = max((one.count for one in bins), default=0)
    if not highest:
        return format_html("")
    columns = format_html_join(
        "",
        '<rect class="bar-fill" x="{}" y="{}" width="{}" height="{}"/>',
        (
            (number * COLUMN + 1, round(TALL - one.count / highest * TALL, 2), COLUMN - 2, _tall(one.count, highest))
            for number, one in enumerate(bins)
        ),
    )
    wide = len(bins) * COLUMN
    return format_html(
        '<svg class="histogram" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        '{}<path class="bar-axis" d="M0 {}H{}"/></svg>',
        wide,
        TALL + 1,
        columns,
        TALL + 0.5,
        wide,
    )


def _tall(count: int, highest: int) -> float:
    return round(count / highest * TALL, 2)


def _x(share: float) -> float:
    return round(share * WIDTH, 2)
