"""How many participants, items and calls a study needs, simulated from a pilot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import ceil

import pandas as pd

from evaluation.metrics.planning import Planned, simulate_plan
from evaluation.planning_report.figures import curves
from evaluation.planning_report.parameters import PlanningParameters
from evaluation.sections.comparison import Comparison, Frames, Setting
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell
from evaluation.sections.what_was_compared import what_was_compared

N_ITEMS = (25, 50, 100, 200, 400, 800)
ANSWERS_PER_ITEM = (5, 10, 20, 40)
POWER = 0.8
COLUMNS = (
    Column("items", "Items", "count", "n"),
    Column("answers", "Answers an item", "count", "n"),
    Column("participants", "Participants", "count", "n"),
    Column("calls", "Model calls", "count", "n"),
    Column("gap_width", "Width, signed culture gap", "estimate", "0 to 2"),
    Column("majority_width", "Width, majority alignment", "estimate", "0 to 1"),
    Column("power", "Power", "estimate", "0 to 1"),
    Column("enough", "Enough"),
)


def planning_sections(
    data: Mapping[str, pd.DataFrame], parameters: PlanningParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.frames`."""
    comparison = Comparison(Frames(**data), parameters)
    return [partial(what_was_compared, comparison), partial(planning, comparison, parameters)]


def planning(comparison: Comparison, parameters: PlanningParameters) -> Section | None:
    """A table and two figures for each question and model; None without models."""
    settings = [setting for setting in comparison.settings if setting.persona != "country"]
    if not settings:
        return None
    tables = [
        _table(comparison, parameters, question, setting, number)
        for question in comparison.questions
        for number, setting in enumerate(settings)
    ]
    return Section(
        code="planning",
        title="How many participants, items and calls",
        paragraphs=(
            "What a study like the pilot would show with more items and answers, by "
            f"{parameters.simulations} simulated studies for each row (seed {parameters.seed}). Items are drawn from "
            "those of the pilot; people answer with rates that the pilot's answers leave open, the model with its "
            "rates of the pilot. Widths are of the 95 % intervals over items.",
            f"The power is how often a signed culture gap of {parameters.effect:g} would be told from 0. Enough: the "
            f"gap's interval is at most {parameters.width:g} wide before rounding, and the power at least {POWER:g}. "
            f"Each participant answers about {parameters.items_each} items, and for each item the model is called "
            f"{parameters.calls_each} time{'s' if parameters.calls_each > 1 else ''}.",
            "A small pilot says little about how items differ, and nothing about people or items unlike its own: then "
            "plan for more. Participants who leave or fail checks come on top.",
        ),
        tables=tuple(tables),
        figures=tuple(figure for table in tables for figure in _figures(comparison, parameters, table)),
    )


def _table(
    comparison: Comparison, parameters: PlanningParameters, question: str, setting: Setting, number: int
) -> Table:
    pilot = comparison.items(question, setting)
    marks = (*comparison.who.people_marks, setting.mark)
    rows = []
    for n_items, answers in product(N_ITEMS, ANSWERS_PER_ITEM):
        planned = simulate_plan(
            pilot,
            n_items=n_items,
            answers_per_item=answers,
            calls_per_item=parameters.calls_each,
            effect=parameters.effect,
            n_simulations=parameters.simulations,
            seed=parameters.seed,
        )
        cells = {
            "items": n_items,
            "answers": answers,
            "participants": ceil(n_items * answers / parameters.items_each),
            "calls": n_items * parameters.calls_each,
            **{name: estimate_cell(getattr(planned, name)) for name in ("gap_width", "majority_width", "power")},
            "enough": "yes" if _enough(planned, parameters) else "no",
        }
        rows.append(Row(cells, marks=marks))
    return Table(
        code=f"planning_{question}_{number}",
        title=f"Question “{question}”: {comparison.label(setting)}, {setting.name.lower()}",
        caption=f"{_least(rows)} Calls are for one question; a call may ask several.",
        columns=COLUMNS,
        rows=tuple(rows),
    )


def _figures(comparison: Comparison, parameters: PlanningParameters, table: Table) -> Iterator[Figure]:
    """The width and the power over the number of items; nothing where the pilot gives no plan."""
    marked = comparison.who.marked(*table.rows[0].marks)
    for name, title, wanted in (
        ("gap_width", "Width of the interval of the signed culture gap", parameters.width),
        ("power", f"Power to find a signed culture gap of {parameters.effect:g}", POWER),
    ):
        points = [
            {
                **marked,
                "items": row.cells["items"],
                "answers": row.cells["answers"],
                "enough": row.cells["enough"],
                **cell,
            }
            for row in table.rows
            if isinstance(cell := row.cells[name], dict) and cell["value"] is not None
        ]
        if points:
            largest = 1.0 if name == "power" else 1.1 * max(wanted, *(point["value"] for point in points))
            yield Figure(
                code=f"{table.code}_{name}",
                title=f"{title}. {table.title}",
                caption=f"By {parameters.simulations} simulated studies for each point, over the number of items and "
                "for several numbers of people's answers an item; the line across is what is wanted. Solid points are "
                "enough in both, width and power.",
                source=comparison.source,
                spec=curves(
                    points,
                    answers=ANSWERS_PER_ITEM,
                    y_title="Power" if name == "power" else "Width",
                    wanted=wanted,
                    domain=(0, largest),
                    caution=comparison.who.caution,
                ),
            )


def _least(rows: Sequence[Row]) -> str:
    """Which plan with enough items and answers needs the fewest participants."""
    counts = ("participants", "items", "answers")
    enough = [tuple(int(str(row.cells[name])) for name in counts) for row in rows if row.cells["enough"] == "yes"]
    if not enough:
        return "No plan of these is enough."
    participants, items, answers = min(enough)
    return f"The fewest participants that are enough: {participants}, with {items} items and {answers} answers an item."


def _enough(planned: Planned, parameters: PlanningParameters) -> bool:
    return planned.gap_width.value <= parameters.width and planned.power.value >= POWER
