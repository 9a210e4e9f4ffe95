"""Figures of reports on reactions, of the parts of `evaluation.figures`."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from evaluation.figures import (
    FILL,
    HUE,
    QUIET,
    Rows,
    finished,
    height_of,
    numbers_axis,
    panelled,
    tooltip_of,
    words_axis,
)

LOOSE: Mapping[str, Any] = {"grid": False, "tickCount": 4, "labelOverlap": "greedy", "labelSeparation": 8}
ATTITUDES = ("negative", "neutral", "positive")


def shares(rows: Rows, *, who: Sequence[str], x_title: str, caution: str) -> dict[str, Any]:
    """A line of three parts for each of `who`, from `low` to `high`, for rows with one of ATTITUDES as `attitude`, the
    share as `value`, its `middle`, `mark` and `label`. The more negative, the darker."""
    base = alt.Chart().encode(y=alt.Y("who:N", sort=list(who), title=None, axis=words_axis()))
    axis = numbers_axis(".1f")
    part = base.mark_bar(height=22, strokeWidth=1).encode(
        x=alt.X("low:Q", title=x_title, scale=alt.Scale(domain=(0, 1)), axis=axis),
        x2="high:Q",
        fill=alt.Fill("mark:N", scale=FILL, legend=None),
        fillOpacity=alt.FillOpacity(
            "attitude:N", scale=alt.Scale(domain=ATTITUDES, range=[0.6, 0.3, 0.1]), legend=None
        ),
        stroke=alt.Stroke("mark:N", scale=HUE, legend=None),
        tooltip=tooltip_of("who", "attitude"),
    )
    words = base.transform_filter("datum.label").mark_text(fontSize=11).encode(x="middle:Q", text="label:N")
    return finished([part, words], rows, height=height_of(40, who, [""]), caution=caution)


def distributions(rows: Rows, *, panels: Mapping[str, bool], caution: str) -> dict[str, Any]:
    """A panel for each title, logarithmic across where that is true: how many `keyphrases` have a `value` or more.

    A line for each `who` of the rows whose `panel` it is; the second is dashed.
    """
    charts = []
    for title, logarithmic in panels.items():
        across = alt.Scale(type="log") if logarithmic else alt.Scale(zero=False)
        line = (
            alt.Chart()
            .mark_line(
                color=QUIET, strokeWidth=2, interpolate="step-before", point=alt.OverlayMarkDef(size=12, color=QUIET)
            )
            .encode(
                x=alt.X("value:Q", title=title, scale=across, axis=alt.Axis(format="~r", **LOOSE)),
                y=alt.Y(
                    "keyphrases:Q", title="Keyphrases", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", **LOOSE)
                ),
                strokeDash=alt.StrokeDash("who:N", sort=None, legend=None),
                tooltip=["who:N", alt.Tooltip("value:Q", format=".4~g"), alt.Tooltip("keyphrases:Q", format=",")],
            )
        )
        charts.append(line.transform_filter(alt.datum.panel == title).properties(height=220))
    return panelled(charts, rows, caution=caution)
