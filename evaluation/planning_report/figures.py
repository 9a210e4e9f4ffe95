"""The figure of a plan: what more items and answers would give, beside what is wanted."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from evaluation.figures import COOL, QUIET, Rows, finished, numbers_axis

SHAPES, DASHES = ["circle", "square", "triangle-up", "diamond"], [[1, 0], [6, 3], [3, 3], [1, 3]]


def curves(
    rows: Rows, *, answers: Sequence[int], y_title: str, wanted: float, domain: tuple[float, float], caution: str
) -> dict[str, Any]:
    """A line over the number of `items` for each of up to four `answers`, through points with a `value`.

    A line across is at the wanted value; points that are `enough` (yes or no) are solid.
    """
    items = sorted({row["items"] for row in rows})
    scale = alt.Scale(type="log", domain=(items[0], items[-1]))
    x = alt.X("items:Q", title="Items", scale=scale, axis=alt.Axis(values=items, labelOverlap="parity", grid=False))
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(domain=domain), axis=numbers_axis(".2~f"))
    title, legend = (
        "Answers an item",
        alt.Legend(orient="bottom", symbolStrokeColor=COOL, symbolFillColor="transparent"),
    )
    shapes, dashes = (alt.Scale(domain=list(answers), range=own[: len(answers)]) for own in (SHAPES, DASHES))
    line = (
        alt.Chart()
        .mark_line(strokeWidth=1.5, color=COOL)
        .encode(x=x, y=y, strokeDash=alt.StrokeDash("answers:N", title=title, scale=dashes, legend=legend))
    )
    point = (
        alt.Chart()
        .mark_point(size=70, strokeWidth=1.5, opacity=1, color=COOL)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("answers:N", title=title, scale=shapes, legend=legend),
            fill=alt.Fill("enough:N", scale=alt.Scale(domain=["yes", "no"], range=[COOL, "transparent"]), legend=None),
            tooltip=["items:Q", "answers:N", alt.Tooltip("value:Q", format=".3f"), "enough:N"],
        )
    )
    mark = alt.Chart(alt.Data(values=[{"value": wanted, "items": items[0], "label": f"wanted: {wanted:g}"}]))
    across = mark.mark_rule(color=QUIET, strokeWidth=2).encode(y=y)
    words = mark.mark_text(align="left", dx=6, dy=-8, fontSize=11).encode(x=x, y=y, text="label:N")
    return finished([across, line, point, words], rows, height=240, caution=caution)
