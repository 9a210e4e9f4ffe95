"""Where models allow the preference: by region, and by the regions of the two people."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from evaluation.behaviour_report.behaviour import ALL_MODELS, Behaviour, Rate, words
from evaluation.behaviour_report.parameters import MODEL
from evaluation.behaviour_report.rates import ASKED, RATES, rate_cells
from evaluation.figures import COOL_SHADES, heat_map
from evaluation.metrics.behaviour import decision_rates, macro_rates
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

MOST_DRAWN = 40  # lines or columns of a heat map that can still be read


def maps(behaviour: Behaviour) -> Section | None:
    """Heat maps for each map and question, and a table where a map has one field; None without maps."""
    tables: list[Table] = []
    figures: list[Figure] = []
    undrawn: list[str] = []
    for number, fields in enumerate(behaviour.parameters.maps):
        frame = f"map_{number}"
        levels = [len(set(behaviour.data[frame][field])) for field in fields]
        if max(levels, default=0) > MOST_DRAWN:
            undrawn.append(f"{' and '.join(map(words, fields))} ({max(levels)} levels)")
        drawn = max(levels, default=0) <= MOST_DRAWN
        if len(fields) == 1:
            rates = list(behaviour.rates(frame, ["question", MODEL, *fields]))
            tables.append(_table(behaviour, frame, fields[0], rates))
            figures += [_by_model(behaviour, frame, fields[0], asked, rates) for asked in behaviour.questions if drawn]
        elif drawn:
            figures += [each for asked in behaviour.questions for each in _crossed(behaviour, frame, fields, asked)]
    if not tables and not figures and not undrawn:
        return None
    crossed = (
        " Where two fields are crossed, the first map is the mean of the models' rates, each model counting alike, and "
        "one for each model follows."
        if len(behaviour.models) > 1 and any(len(fields) > 1 for fields in behaviour.parameters.maps)
        else ""
    )
    not_drawn = f"Not drawn, because more than {MOST_DRAWN} lines cannot be read: {'; '.join(undrawn)}."
    return Section(
        code="maps",
        title="Where models allow the preference",
        paragraphs=(
            f"The allow rate for each level of the fields that were named, model by model.{crossed}",
            "A map cannot show why places differ: items about one place differ in much besides it. Cells with few "
            "answers vary by chance; the figure's data has n for each.",
            *([not_drawn] if undrawn else []),
        ),
        tables=tuple(tables),
        figures=tuple(figures),
    )


def _table(behaviour: Behaviour, frame: str, field: str, rates: Sequence[Rate]) -> Table:
    rows = []
    for rate in rates:
        question, model = rate.levels["question"], rate.levels[MODEL]
        cells = {"question": question, "model": model, "level": rate.levels[field] or "none", **rate_cells(rate)}
        rows.append(Row(cells, behaviour.marks([model])))
    name = words(field).capitalize()
    columns = (*ASKED, Column("level", name, "name"), *RATES)
    caption = f"Rates of each model by {words(field)}, with intervals over {behaviour.unit}."
    return Table(frame, f"Rates by {words(field)}", caption, columns, tuple(rows))


def _by_model(behaviour: Behaviour, frame: str, field: str, question: str, rates: Sequence[Rate]) -> Figure:
    cells = [_cell(behaviour, rate, field) for rate in rates if rate.levels["question"] == question]
    name = words(field)
    return Figure(
        code=f"{frame}_{question}",
        title=f"How often models allow the preference by {name}: {question}",
        caption=_caption(f"by {name} and model; the data has intervals over {behaviour.unit}"),
        source=behaviour.source,
        spec=_heat_map(cells, titles=("Model", name.capitalize()), caution=behaviour.who.caution),
    )


def _cell(behaviour: Behaviour, rate: Rate, field: str) -> dict[str, Any]:
    model, mark = rate.levels[MODEL], behaviour.mark(rate.levels[MODEL])
    cell = estimate_cell(rate.allow)
    place = {"across": model, "down": rate.levels[field] or "none", "mark": mark}
    return {**place, **cell, "units": rate.n_units, "label": _label(cell["value"]), **behaviour.who.marked(mark)}


def _crossed(behaviour: Behaviour, frame: str, fields: Sequence[str], question: str) -> Iterator[Figure]:
    down, across = fields
    counts = behaviour.data[frame]
    own = counts[counts["question"] == question]
    means = macro_rates(own, by=[down, across], over=MODEL)
    n = own.groupby([down, across])["n"].sum().reset_index()
    pooled = means.merge(n, on=[down, across])
    yield _crossing(behaviour, pooled, fields, question, code=f"{frame}_{question}", models=behaviour.models)
    if len(behaviour.models) > 1:
        rates = decision_rates(own, by=[MODEL, down, across])
        for number, model in enumerate(behaviour.models):
            of_model = rates[rates[MODEL] == model]
            code = f"{frame}_{question}_{number}"
            yield _crossing(behaviour, of_model, fields, question, code=code, models=[model])


def _crossing(
    behaviour: Behaviour,
    rates: pd.DataFrame,
    fields: Sequence[str],
    question: str,
    *,
    code: str,
    models: Sequence[str],
) -> Figure:
    down, across = fields
    marks = behaviour.marks(models)
    cells = []
    for rate in rates.to_dict("records"):
        value = None if pd.isna(rate["allow_rate"]) else float(rate["allow_rate"])
        place = {"across": rate[across] or "none", "down": rate[down] or "none", "mark": marks[-1]}
        number = {"value": value, "low": None, "high": None, "n": int(rate["n"]), "label": _label(value)}
        cells.append({**place, **number, **behaviour.who.marked(*marks)})
    whose = models[0] if len(models) == 1 else ALL_MODELS
    names = [words(field) for field in fields]
    return Figure(
        code=code,
        title=f"How often the preference is allowed by {names[0]} and {names[1]}, {whose}: {question}",
        caption=_caption(f"by {names[0]} (down) and {names[1]} (across); {whose}"),
        source=behaviour.source,
        spec=_heat_map(cells, titles=(names[1].capitalize(), names[0].capitalize()), caution=behaviour.who.caution),
    )


def _caption(what: str) -> str:
    return f"Share of decisions that allow the preference, {what}; darker where it is larger."


def _heat_map(cells: Sequence[dict[str, Any]], *, titles: tuple[str, str], caution: str) -> dict[str, Any]:
    return heat_map(
        cells,
        across=sorted({cell["across"] for cell in cells}),
        down=sorted({cell["down"] for cell in cells}),
        titles=titles,
        domain=(0, 1),
        colours=COOL_SHADES,
        caution=caution,
    )


def _label(value: float | None) -> str:
    return "" if value is None else two_decimals(value)
