"""Figures as Vega-Lite specifications with their data in `data.values`; Altair checks each against the schema.

People are warm, models cool; simulated people and demo models are outlined, never solid, and `caution` says so in words
inside the figure, because a downloaded one travels without its caption. Marks carry their names, so no legend is
needed; sizes suit a phone. A figure is as wide as its container; for paper `figure_files` gives it a width.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import altair as alt

from evaluation.marks import MARKS

WARM, COOL, QUIET, INK = "#c4581c", "#4d74d0", "#868177", "#1d1c1a"
WARM_SHADES, COOL_SHADES = ("#fbeee6", "#8f3d0e"), ("#ebf0fb", "#27458f")
HUE = alt.Scale(domain=MARKS, range=[WARM, WARM, COOL, COOL])
FILL = alt.Scale(domain=MARKS, range=[WARM, "transparent", COOL, "transparent"])

PADDING = {"left": 4, "top": 8, "right": 44, "bottom": 4}

Rows = Sequence[Mapping[str, Any]]


def interval_dots(
    rows: Rows, *, who: Sequence[str], x_title: str, domain: tuple[float, float], caution: str
) -> dict[str, Any]:
    """A dot with its interval for each row (`who`, `question`, `mark`, `value`, `low`, `high`); `who` orders the lines.

    A line at zero is drawn where the domain passes it.
    """
    return finished(_dots(who, x_title, domain), rows, height=_dots_height(rows, who), caution=caution)


def dot_panels(
    rows: Rows, *, who: Sequence[str], panels: Mapping[str, tuple[float, float]], caution: str
) -> dict[str, Any]:
    """The same in a panel for each title, with its domain, of the rows whose `panel` it is; two panels side by side.

    The page gives panels their width, and one a line where there is no room for two.
    """
    height = max(_dots_height([row for row in rows if row["panel"] == title], who) for title in panels)
    charts = [
        alt.layer(*_dots(who, title, domain)).transform_filter(alt.datum.panel == title).properties(height=height)
        for title, domain in panels.items()
    ]
    return panelled(charts, rows, caution=caution)


def arrows(rows: Rows, *, who: Sequence[str], x_title: str, caution: str) -> dict[str, Any]:
    """An arrow from `before` to `value`, in [0, 1], for each row (`who`, `question`, `mark`, `label`, `direction`)."""
    base = alt.Chart().encode(
        y=alt.Y("who:N", sort=list(who), title=None, axis=words_axis()), yOffset=alt.YOffset("question:N", sort=None)
    )
    hue, tooltip = alt.Color("mark:N", scale=HUE, legend=None), tooltip_of("who", "question")
    shaft = base.mark_rule(strokeWidth=2).encode(x=alt.X("before:Q", title=x_title), x2="value:Q", color=hue)
    start = base.mark_tick(thickness=2, size=10).encode(x="before:Q", color=hue)
    tip = base.mark_point(size=90, opacity=1).encode(
        x=values_axis(x_title, (0, 1)),
        color=hue,
        fill=alt.Fill("mark:N", scale=FILL, legend=None),
        shape=alt.Shape(
            "direction:N",
            scale=alt.Scale(domain=["up", "down", "same"], range=["triangle-right", "triangle-left", "circle"]),
            legend=None,
        ),
        tooltip=[*tooltip, alt.Tooltip("before:Q", format=".3f")],
    )
    words = base.mark_text(dy=-11, fontSize=11, align=inwards((0, 1))).encode(x="value:Q", text="label:N")
    return finished([shaft, start, tip, words], rows, height=_dots_height(rows, who), caution=caution)


def _dots(who: Sequence[str], x_title: str, domain: tuple[float, float]) -> list[alt.Chart]:
    base = alt.Chart().encode(
        y=alt.Y("who:N", sort=list(who), title=None, axis=words_axis()),
        yOffset=alt.YOffset("question:N", sort=None),
    )
    hue = alt.Color("mark:N", scale=HUE, legend=None)
    x, tooltip = values_axis(x_title, domain), tooltip_of("who", "question")
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=x_title), x2="high:Q", color=hue)
    dot = base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
        x=x, color=hue, fill=alt.Fill("mark:N", scale=FILL, legend=None), tooltip=tooltip
    )
    words = base.mark_text(dy=-11, fontSize=11, align=inwards(domain)).encode(x=x, text="label:N")
    zero = [line_at_zero()] if domain[0] < 0 < domain[1] else []
    return [*zero, interval, dot, words]


def _dots_height(rows: Rows, who: Sequence[str]) -> int:
    return height_of(34, who, {row["question"] for row in rows})


def rate_bars(rows: Rows, *, countries: Sequence[str], who: Sequence[str], caution: str) -> dict[str, Any]:
    """A bar with its interval for each row (`country`, `who`, `mark`, `value`, `low`, `high`, `label`), in [0, 1]."""
    base = alt.Chart().encode(
        y=alt.Y("country:N", sort=list(countries), title=None, axis=words_axis()),
        yOffset=alt.YOffset("who:N", sort=list(who)),
    )
    title = "Culture rate"
    x, tooltip = values_axis(title, (0, 1)), tooltip_of("country", "who")
    bar = base.mark_bar(height=9, strokeWidth=1.5).encode(
        x=x,
        fill=alt.Fill("mark:N", scale=FILL, legend=None),
        stroke=alt.Stroke("mark:N", scale=HUE, legend=None),
        tooltip=tooltip,
    )
    interval = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", color=alt.value(QUIET)
    )
    words = base.mark_text(
        align="left", dy=-12, dx=1, fontSize=11, limit=alt.ExprRef(f"width + {PADDING['right']}")
    ).encode(x=alt.datum(0), text="label:N")
    return finished([bar, interval, words], rows, height=height_of(32, countries, who), caution=caution)


def agreement_scatter(rows: Rows, *, caution: str) -> dict[str, Any]:
    """People's agreement u against the model's v, both in [0.5, 1]; a point (`u`, `v`, `items`, `who`, `mark`) for
    each pair of values, larger where it stands for more items. Several `who` have a panel each."""
    who = list(dict.fromkeys(row["who"] for row in rows))
    layers = _agreement_layers()
    if len(who) == 1:
        return finished(layers, rows, height=320, caution=caution)
    panels = [
        alt.layer(*layers)
        .transform_filter(alt.datum.who == name)
        .properties(height=200, title=alt.TitleParams(name.split(" · "), fontSize=12, fontWeight="normal"))
        for name in who
    ]
    return panelled(panels, rows, caution=caution)


def _agreement_layers() -> list[alt.Chart]:
    scale, axis = alt.Scale(domain=(0.5, 1.0), nice=False, zero=False), numbers_axis(".1f")
    x = alt.X("u:Q", title="People's agreement on the item", scale=scale, axis=axis)
    y = alt.Y("v:Q", title="Model's agreement with itself", scale=scale, axis=axis)
    point = (
        alt.Chart()
        .mark_point(strokeWidth=1.5, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=alt.Color("mark:N", scale=HUE, legend=None),
            fill=alt.Fill("mark:N", scale=FILL, legend=None),
            size=alt.Size("items:Q", scale=alt.Scale(range=(40, 400), zero=False), legend=None),
            tooltip=["who:N", "items:Q", alt.Tooltip("u:Q", format=".2f"), alt.Tooltip("v:Q", format=".2f")],
        )
    )
    same = alt.Chart(alt.Data(values=[{"u": 0.5, "v": 0.5}, {"u": 1.0, "v": 1.0}]))
    diagonal = same.mark_line(strokeDash=[4, 4], color=QUIET, strokeWidth=1).encode(x=x, y=y)
    return [diagonal, point]


def heat_map(
    rows: Rows,
    *,
    across: Sequence[str],
    down: Sequence[str],
    titles: tuple[str, str],
    domain: Sequence[float],
    colours: Sequence[str],
    caution: str,
) -> dict[str, Any]:
    """A cell with its `label` for each row (`across`, `down`, `value`); `titles` name what is across and down.

    The colours stand for the numbers of the domain, with those between blended. Where `value` is None there is only
    the label.
    """
    # A phone leaves little room beside long names; on paper there is no container, and the limit the larger one.
    limit = alt.ExprRef("containerSize()[0] < 480 ? 80 : 140")
    base = alt.Chart().encode(
        x=alt.X(
            "across:N",
            sort=list(across),
            title=titles[0],
            axis=alt.Axis(
                domain=False,
                ticks=False,
                labelAngle=-40,
                labelLimit=limit,
                labelOverlap=False,
                # Narrow columns leave room for the names of every second or third.
                labelExpr="indexof(domain('x'), datum.value) % ceil(18 / bandwidth('x')) ? '' : datum.label",
            ),
        ),
        y=alt.Y("down:N", sort=list(down), title=titles[1], axis=alt.Axis(domain=False, ticks=False, labelLimit=limit)),
    )
    scale = alt.Scale(domain=list(domain), range=list(colours), clamp=True)
    # Words on a cell have a colour of their own, because the cell keeps its colour on a dark page.
    readable = f"datum.value === null ? '{QUIET}' : luminance(scale('color', datum.value)) > 0.2 ? '{INK}' : 'white'"
    cell = (
        base.transform_filter("datum.value !== null")
        .mark_rect(stroke=QUIET, strokeWidth=0.5)
        .encode(color=alt.Color("value:Q", scale=scale, legend=None), tooltip=tooltip_of("down", "across"))
    )
    size = alt.ExprRef("bandwidth('x') < 32 ? 9 : 11")
    room = alt.ExprRef("bandwidth('x') < 20 ? 0 : 1")  # where words would overlap, they are in the tooltip only
    words = base.mark_text(fontSize=size, fill=alt.ExprRef(readable), opacity=room).encode(text="label:N")
    spec = finished([cell, words], rows, height=38 * len(down), caution=caution)
    return spec | {"padding": PADDING | {"right": 8}}


def values_axis(title: str, domain: tuple[float, float]) -> alt.X:
    """A horizontal place for each `value`; a long title goes to the left, where lines have their names."""
    axis = numbers_axis(".2~f")
    axis.titleAnchor = "end"
    return alt.X("value:Q", title=title, scale=alt.Scale(domain=domain), axis=axis)


def inwards(domain: tuple[float, float], *, ends: float = 0.2) -> alt.ExprRef:
    """How words at a `value` are aligned: in the middle, but in the first and last part of the domain, each as large a
    share of it as `ends`, towards its inside."""
    low, high = domain
    place = f"(datum.value - ({low})) / {high - low}"
    return alt.ExprRef(f"{place} < {ends} ? 'left' : {place} > {1 - ends} ? 'right' : 'center'")


def numbers_axis(format: str) -> alt.Axis:
    """An axis of a few numbers, of which every other one goes where a phone leaves no room between them."""
    return alt.Axis(tickCount=5, format=format, labelFlush=False, labelOverlap="parity", labelSeparation=8)


def tooltip_of(*names: str) -> list[alt.Tooltip]:
    """The row's names, its value with the interval, and n."""
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    return [*(alt.Tooltip(f"{name}:N") for name in names), *numbers, alt.Tooltip("n:Q")]


def line_at_zero() -> alt.Chart:
    """A dashed upright line."""
    zero = alt.Chart(alt.Data(values=[{"zero": 0}]))
    return zero.mark_rule(color=QUIET, strokeDash=[4, 4]).encode(x="zero:Q")


def words_axis() -> alt.Axis:
    """Axis words in two lines where they have a middle dot, to leave a phone room for the marks."""
    return alt.Axis(domain=False, ticks=False, labelLimit=150, labelExpr="split(datum.label, ' · ')", labelPadding=8)


def height_of(step: int, lines: Collection[str], marks: Collection[str]) -> int:
    """In pixels, with `step` for each mark of each line and a fifth of the whole between the lines.

    As a number, because a figure as wide as its container cannot have a height in steps without a warning.
    """
    return round(step * len(lines) * len(marks) / 0.8)


def finished(layers: Sequence[alt.Chart], rows: Rows, *, height: int, caution: str) -> dict[str, Any]:
    """The layers with their rows as a specification, as wide as its container."""
    data = alt.Data(values=list(rows))
    chart = alt.layer(*layers, data=data).properties(width="container", height=height)
    return _with_words(chart, caution)


def panelled(charts: Sequence[Any], rows: Rows, *, caution: str) -> dict[str, Any]:
    """The charts with their rows as a specification, two side by side; the page gives them their width."""
    return _with_words(alt.concat(*charts, columns=2, data=alt.Data(values=list(rows)), spacing=24), caution)


def _with_words(chart: Any, caution: str) -> dict[str, Any]:
    """The chart as a specification, with room at its edges and the caution on top."""
    title = alt.TitleParams(caution, anchor="start", fontSize=11, fontWeight="normal")
    spec: dict[str, Any] = chart.properties(padding=PADDING, **({"title": title} if caution else {})).to_dict()
    return spec
