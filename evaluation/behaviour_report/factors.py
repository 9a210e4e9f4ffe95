"""What moves a decision about the same item: a factor's level, instruction tuning, the place of an option."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from evaluation.behaviour_report.behaviour import Behaviour, Rate, complement, percent_points, words
from evaluation.behaviour_report.figures import shifts
from evaluation.behaviour_report.parameters import MODEL, Factor
from evaluation.behaviour_report.rates import X_TITLE
from evaluation.metrics.sides import side_totals, sided_rates, turned_decisions
from evaluation.sections.shape import Cell, Column, Figure, Row, Section, Table, estimate_cell, two_decimals

FLIPS = (
    Column("pairs", "Cases decided on both sides", "count", "n"),
    Column("left_out", "Left out", "count", "n"),
    Column("same", "Same decision", "estimate", "0 to 1"),
    Column("to_preference", "Culture → preference", "estimate", "0 to 1"),
    Column("to_culture", "Preference → culture", "estimate", "0 to 1"),
    Column("mcnemar", "McNemar, exact", "estimate", "p"),
)
DELTAS = (
    Column("question", "Question"),
    Column("model", "Model", "name"),
    Column("level", "Level", "name"),
    Column("decisions", "Decisions", "count", "n"),
    Column("allow_rate", "Allow rate", "estimate", "0 to 1"),
    Column("baseline_allow_rate", "At the baseline", "estimate", "0 to 1"),
    Column("delta", "Difference", "estimate", "pp"),
    *FLIPS,
)
PAIRS = (
    Column("question", "Question"),
    Column("base", "Base", "name"),
    Column("instruct", "Instruct", "name"),
    Column("base_rate", "Allow rate, base", "estimate", "0 to 1"),
    Column("instruct_rate", "Allow rate, instruct", "estimate", "0 to 1"),
    Column("delta", "Difference", "estimate", "pp"),
    *FLIPS,
)
POSITIONS = (
    Column("question", "Question"),
    Column("model", "Model", "name"),
    Column("decided", "Decided", "count", "n"),
    Column("first", "Culture rate, shown first", "estimate", "0 to 1"),
    Column("second", "Culture rate, shown second", "estimate", "0 to 1"),
    Column("delta", "First − second", "estimate", "pp"),
    Column("pairs", "Decided in both orders", "count", "n"),
    Column("consistency", "Same decision in both", "estimate", "0 to 1"),
    Column("always_first", "Both times the first", "count", "n"),
    Column("always_second", "Both times the second", "count", "n"),
    Column("mcnemar", "McNemar, exact", "estimate", "p"),
)
CASES = (
    "A case is an item under one combination of the other factors; several answers to it count as the one that most of "
    "them give, and a case whose answers are split in half, or are no decision, is left out on that side."
)


def factors(behaviour: Behaviour) -> Section | None:
    """A table for each factor with several levels; None without any."""
    tables = [table for factor in behaviour.parameters.factors if (table := _deltas(behaviour, factor))]
    if not tables:
        return None
    return Section(
        code="factors",
        title="What each factor changes",
        paragraphs=(
            "For each level of a factor: the allow rate minus that at the baseline level, in percentage points, and "
            "how many decisions about the very same cases turn, with McNemar's test of as many turns one way as the "
            f"other. {CASES}",
            "This cannot show why a decision turns. McNemar's test takes cases to be independent, which variants of "
            "one item are not, and with many it finds the smallest differences: look at the differences and their "
            f"intervals, which draw {behaviour.unit} with both sides.",
        ),
        tables=tuple(tables),
    )


def base_instruct(behaviour: Behaviour) -> Section | None:
    """A table and a figure for each question; None when no pair of models is named, or none answered."""
    rates = {
        (rate.levels["question"], rate.levels[MODEL]): rate for rate in behaviour.rates("by_model", ["question", MODEL])
    }
    pairs = [
        (question, base, instruct)
        for question in behaviour.questions
        for base, instruct in behaviour.parameters.base_instruct
        if (question, base) in rates and (question, instruct) in rates
    ]
    if not pairs:
        return None
    rows = tuple(_pair_row(behaviour, rates, *pair) for pair in pairs)
    caption = "Rates are over all decisions of each model, turns over the cases that both decided."
    return Section(
        code="base_instruct",
        title="Base and instruct models",
        paragraphs=(
            "For each pair: how often the base and the instruct model allow the preference, and how many decisions "
            f"about the same cases turn from one to the other. {CASES}",
            "This cannot show which part of the training turns a decision, nor whether the base model understood the "
            "question as one.",
        ),
        tables=(Table("base_instruct", "Base against instruct", caption, PAIRS, rows),),
        figures=tuple(
            _pair_figure(behaviour, rates, question, [pair[1:] for pair in pairs if pair[0] == question])
            for question in dict.fromkeys(pair[0] for pair in pairs)
        ),
    )


def positions(behaviour: Behaviour) -> Section | None:
    """None when the order of the options is not known or always the same."""
    rows = tuple(_position_rows(behaviour))
    if not rows:
        return None
    return Section(
        code="positions",
        title="Does the place of an option decide?",
        paragraphs=(
            "The culture rate where the culture option is shown first, minus that where it is shown second; and of the "
            f"cases decided in both orders, how many are decided alike. {CASES}",
            "Where each case was shown in one order only, the two rates are of different cases, and no case can say "
            "whether the order turned it.",
        ),
        tables=(Table("positions", "Option positions", "Cases by the order of the options.", POSITIONS, rows),),
    )


def _deltas(behaviour: Behaviour, factor: Factor) -> Table | None:
    sides, flips = (behaviour.data[name] for name in ("level_sides", "flips"))
    own = sides[sides["factor"] == factor.name]
    if own.empty:
        return None
    baseline, rows = str(own["baseline"].iloc[0]), []
    by = ["question", MODEL, factor.name]
    n_answers = behaviour.counts("by_configuration").groupby(by)["n_rows"].sum().to_dict()
    for key, found in own.groupby(["question", MODEL, "level"], sort=True):
        question, model, level = map(str, key)
        at = (flips["factor"] == factor.name) & (flips["level"] == level)
        turns = flips[at & (flips["question"] == question) & (flips[MODEL] == model)]
        rates = sided_rates(found, **behaviour.drawn)
        cells = {
            "question": question,
            "model": model,
            "level": level or "none",
            "decisions": rates["right"].n,
            "allow_rate": estimate_cell(rates["right"]),
            "baseline_allow_rate": estimate_cell(rates["left"]),
            "delta": estimate_cell(rates["delta_pp"]),
            **_turn_cells(behaviour, turns),
        }
        shown = behaviour.answers(question, model, {factor.name: level})
        rows.append(Row(cells, behaviour.marks([model]), shown, int(n_answers.get((question, model, level), 0))))
    name = words(factor.name)
    return Table(
        f"factor_{factor.name}",
        f"{name.capitalize()}: against {baseline or 'none'}",
        f"Each level of {name} against the baseline {baseline or 'none'}; above 0 it allows the preference more.",
        DELTAS,
        tuple(rows),
    )


def _turn_cells(behaviour: Behaviour, turns: pd.DataFrame) -> dict[str, Any]:
    """The cells of FLIPS."""
    totals = side_totals(turns)
    found = turned_decisions(turns, **behaviour.drawn)
    left_out = totals["n_asked"] - totals["n_pairs"]
    estimates = {name: estimate_cell(estimate) for name, estimate in found.items()}
    return {"pairs": totals["n_pairs"], "left_out": left_out, **estimates}


def _pair_row(behaviour: Behaviour, rates: dict[tuple[str, str], Rate], question: str, base: str, instruct: str) -> Row:
    sides, turns = (
        found[(found["question"] == question) & (found["base"] == base) & (found["instruct"] == instruct)]
        for found in (behaviour.data["model_sides"], behaviour.data["base_instruct"])
    )
    cells = {
        "question": question,
        "base": base,
        "instruct": instruct,
        "base_rate": estimate_cell(rates[question, base].allow),
        "instruct_rate": estimate_cell(rates[question, instruct].allow),
        "delta": estimate_cell(sided_rates(sides, **behaviour.drawn)["delta_pp"]),
        **_turn_cells(behaviour, turns),
    }
    return Row(cells, behaviour.marks([base, instruct]))


def _pair_figure(
    behaviour: Behaviour, rates: dict[tuple[str, str], Rate], question: str, pairs: Sequence[tuple[str, str]]
) -> Figure:
    rows = []
    for base, instruct in pairs:
        sides = {model: rates[question, model] for model in (base, instruct)}
        change = percent_points(100 * (sides[instruct].allow.value - sides[base].allow.value))
        for stage, model in (("base", base), ("instruct", instruct)):
            mark, rate = behaviour.mark(model), sides[model].allow
            label = f"{stage} {two_decimals(rate.value)}" + (f" ({change})" if stage == "instruct" else "")
            dot = {"who": f"{base} · {instruct}", "question": stage, "mark": mark, "label": label}
            rows.append({**dot, **estimate_cell(rate), "units": sides[model].n_units, **behaviour.who.marked(mark)})
    return Figure(
        code=f"base_instruct_{question}",
        title=f"Base and instruct models: {question}",
        caption=f"Share of decisions that allow the preference, from the base model to the instruct model, with 95 % "
        f"bootstrap intervals over {behaviour.unit}. {behaviour.who.legend}".strip(),
        source=behaviour.source,
        spec=shifts(
            rows,
            who=list(dict.fromkeys(row["who"] for row in rows)),
            x_title=X_TITLE,
            domain=(0, 1),
            caution=behaviour.who.caution,
        ),
    )


def _position_rows(behaviour: Behaviour) -> Iterator[Row]:
    turned = behaviour.data["positions"]
    for key, sides in behaviour.data["position_sides"].groupby(["question", MODEL], sort=True):
        question, model = map(str, key)
        own = turned[(turned["question"] == question) & (turned[MODEL] == model)]
        totals = side_totals(sides) | side_totals(own)
        if not totals["n_left"] or not totals["n_right"]:
            continue
        rates, turns = sided_rates(sides, **behaviour.drawn), turned_decisions(own, **behaviour.drawn)
        cells: dict[str, Cell] = {
            "question": question,
            "model": model,
            "decided": totals["n_left"] + totals["n_right"],
            "first": estimate_cell(complement(rates["left"])),
            "second": estimate_cell(complement(rates["right"])),
            "delta": estimate_cell(rates["delta_pp"]),
            "pairs": totals["n_pairs"],
            "consistency": estimate_cell(turns["same"]),
            "always_first": totals["n_to_preference"],
            "always_second": totals["n_to_culture"],
            "mcnemar": estimate_cell(turns["mcnemar"]),
        }
        yield Row(cells, behaviour.marks([model]))
