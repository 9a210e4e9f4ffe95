"""Figures of reports on judges, of the parts of `evaluation.figures`."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from evaluation.figures import FILL, HUE, QUIET, Rows, finished, height_of, tooltip_of, values_axis, words_axis


def bars_from_half(rows: Rows, *, who: Sequence[str], x_title: str, caution: str) -> dict[str, Any]:
    """A bar from 0.5 to `value`, in [0, 1], with its interval for each row (`who`, `mark`, `value`, `low`, `high`,
    `label`)."""
    base = alt.Chart().encode(y=alt.Y("who:N", sort=list(who), title=None, axis=words_axis()))
    bar = base.mark_bar(height=14, strokeWidth=1.5).encode(
        x=values_axis(x_title, (0, 1)),
        x2=alt.datum(0.5),
        fill=alt.Fill("mark:N", scale=FILL, legend=None),
        stroke=alt.Stroke("mark:N", scale=HUE, legend=None),
        tooltip=tooltip_of("who"),
    )
    interval = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q", color=alt.value(QUIET))
    words = base.mark_text(dy=-15, fontSize=11).encode(x="value:Q", text="label:N")
    half = alt.Chart(alt.Data(values=[{"half": 0.5}])).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x="half:Q")
    return finished([half, bar, interval, words], rows, height=height_of(40, who, [""]), caution=caution)
