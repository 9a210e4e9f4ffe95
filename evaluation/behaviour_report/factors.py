"""What moves a decision about the same item: a factor's level, instruction tuning, the place of an option."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evaluation.behaviour_report.behaviour import Behaviour, Rate, decisions, percent_points, words
from evaluation.behaviour_report.cells import ABSENT
from evaluation.behaviour_report.figures import shifts
from evaluation.behaviour_report.parameters import MODEL, Factor
from evaluation.behaviour_report.rates import X_TITLE
from evaluation.metrics.behaviour import ablation_deltas
from evaluation.metrics.flips import DecisionFlips, decision_flips, option_position_audit
from evaluation.metrics.result import Estimate
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
            "This cannot show why a decision turns, and variants of one item are not independent: with many items the "
            "test finds differences that are too small to matter, so look at their size.",
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
    flips = behaviour.data["flips"]
    own = flips[flips["factor"] == factor.name]
    if own.empty:
        return None
    baseline, by = str(own["baseline"].iloc[0]), ["question", MODEL]
    counts = behaviour.counts("by_configuration")
    found = ablation_deltas(counts, by=by, condition=factor.name, baseline=baseline)
    n_baseline = found[found[factor.name] == baseline].set_index(by)["n"].to_dict()
    rows = []
    for row in found[found[factor.name] != baseline].to_dict("records"):
        question, model, level = row["question"], row[MODEL], row[factor.name]
        same = (own["question"] == question) & (own[MODEL] == model) & (own["level"] == level)
        rows.append(
            Row(
                {
                    "question": question,
                    "model": model,
                    "level": level or "none",
                    "decisions": row["n"],
                    "allow_rate": _rate(row["allow_rate"], row["n"]),
                    "baseline_allow_rate": _rate(row["baseline_allow_rate"], n_baseline.get((question, model), 0)),
                    "delta": estimate_cell(Estimate(row["delta_pp"], row["n"], reason=row["reason"])),
                    **_flip_cells(_flips(own[same])),
                },
                behaviour.marks([model]),
                behaviour.answers(question, model, {factor.name: level}),
                row["n_rows"],
            )
        )
    name = words(factor.name)
    return Table(
        f"factor_{factor.name}",
        f"{name.capitalize()}: against {baseline or 'none'}",
        f"Each level of {name} against the baseline {baseline or 'none'}; above 0 it allows the preference more.",
        DELTAS,
        tuple(rows),
    )


def _rate(value: float, n: int) -> dict[str, Any]:
    return estimate_cell(Estimate(value, n) if n else Estimate.undefined("no decision"))


def _flips(patterns: pd.DataFrame) -> DecisionFlips:
    """The turns of cases that both sides have."""
    both = patterns[(patterns["left"] != ABSENT) & (patterns["right"] != ABSENT)]
    left, right = (np.repeat(decisions(both[side]), both["n"]) for side in ("left", "right"))
    return decision_flips(left, right)


def _flip_cells(flips: DecisionFlips) -> dict[str, Any]:
    shares = {
        "same": flips.same_rate,
        "to_preference": flips.to_preference_rate,
        "to_culture": flips.to_culture_rate,
        "mcnemar": flips.mcnemar_p,
    }
    estimates = {name: estimate_cell(Estimate(value, flips.n, reason=flips.reason)) for name, value in shares.items()}
    return {"pairs": flips.n, "left_out": flips.n_left_out, **estimates}


def _pair_row(behaviour: Behaviour, rates: dict[tuple[str, str], Rate], question: str, base: str, instruct: str) -> Row:
    found = behaviour.data["base_instruct"]
    own = found[(found["question"] == question) & (found["base"] == base) & (found["instruct"] == instruct)]
    sides = [rates[question, model].allow for model in (base, instruct)]
    cells = {
        "question": question,
        "base": base,
        "instruct": instruct,
        "base_rate": estimate_cell(sides[0]),
        "instruct_rate": estimate_cell(sides[1]),
        "delta": estimate_cell(Estimate(100 * (sides[1].value - sides[0].value), min(sides[0].n, sides[1].n))),
        **_flip_cells(_flips(own)),
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
    for (question, model), patterns in behaviour.data["positions"].groupby(["question", MODEL], sort=True):
        times = patterns["n"].to_numpy()
        case, sides = np.arange(times.sum()), [patterns[side] for side in ("left", "right")]
        asked = [np.repeat((side != ABSENT).to_numpy(), times) for side in sides]
        if not all(shown.any() for shown in asked):
            continue
        audit = option_position_audit(
            np.concatenate(
                [np.repeat(decisions(side), times)[shown] for side, shown in zip(sides, asked, strict=True)]
            ),
            np.repeat([1.0, 0.0], [shown.sum() for shown in asked]),
            np.concatenate([case[shown] for shown in asked]),
        )
        numbers = {
            "first": (audit.culture_rate_first, audit.n),
            "second": (audit.culture_rate_second, audit.n),
            "delta": (audit.delta_pp, audit.n),
            "consistency": (audit.swap_consistency, audit.n_pairs),
            "mcnemar": (audit.mcnemar_p, audit.n_pairs),
        }
        cells: dict[str, Cell] = {
            "question": str(question),
            "model": str(model),
            "decided": audit.n,
            "pairs": audit.n_pairs,
            "always_first": audit.n_always_first,
            "always_second": audit.n_always_second,
            **{name: estimate_cell(Estimate(value, n, reason=audit.reason)) for name, (value, n) in numbers.items()},
        }
        yield Row(cells, behaviour.marks([str(model)]))
