"""Figures of reports on behaviour, of the parts of `evaluation.figures`."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from evaluation.figures import FILL, HUE, QUIET, Rows, finished, height_of, inwards, tooltip_of, values_axis, words_axis

BASE, INSTRUCT = "base", "instruct"


def shifts(
    rows: Rows, *, who: Sequence[str], x_title: str, domain: tuple[float, float], caution: str
) -> dict[str, Any]:
    """A line from the dot of the base model to that of the instruct model, for each of `who`, with intervals.

    Rows have `who`, `question` (base or instruct), `mark`, `value`, `low`, `high` and `label`. The instruct model is a
    diamond; its words stand below the line, those of the base model above.
    """
    base = alt.Chart().encode(y=alt.Y("who:N", sort=list(who), title=None, axis=words_axis()))
    x, hue = values_axis(x_title, domain), alt.Color("mark:N", scale=HUE, legend=None)
    way = base.mark_line(color=QUIET, strokeWidth=1.5).encode(
        x=x, detail="who:N", order=alt.Order("question:N", sort="ascending")
    )
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=x_title), x2="high:Q", color=hue)
    dot = base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
        x=x,
        color=hue,
        fill=alt.Fill("mark:N", scale=FILL, legend=None),
        shape=alt.Shape(
            "question:N", scale=alt.Scale(domain=[BASE, INSTRUCT], range=["circle", "diamond"]), legend=None
        ),
        tooltip=tooltip_of("who", "question"),
    )
    layers, align = [way, interval, dot], inwards(domain, ends=0.5)
    for stage, dy in ((BASE, -12), (INSTRUCT, 13)):
        words = base.transform_filter(f"datum.question === '{stage}'").mark_text(dy=dy, fontSize=11, align=align)
        layers.append(words.encode(x=x, text="label:N"))
    return finished(layers, rows, height=height_of(52, who, [""]), caution=caution)
