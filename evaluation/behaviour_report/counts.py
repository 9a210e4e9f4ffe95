"""What a behaviour report keeps: frames counted from cells, without ids. Pure.

Their size depends on how many levels are compared and on how differently units were answered, not on how many answers
there are: of units with the same counts only the number is kept.
"""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from evaluation.behaviour_report.cells import FIRST, Cells, counted, counted_units, paired_decisions, sided_units
from evaluation.behaviour_report.parameters import MODEL, ORDER, BehaviourParameters
from evaluation.metrics.sides import SIDES, TURNS

_BY = ["question", MODEL]


def count_frames(cells: Cells, parameters: BehaviourParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.behaviour_report.behaviour.Behaviour` that answers alone give, by name."""
    factors, unit = parameters.factor_names, parameters.unit or "item"
    frames = {
        "by_item": counted_units(cells, _BY, unit="item"),
        "by_model": counted_units(cells, _BY, unit=unit),
        "by_configuration": counted_units(cells, [*_BY, *factors], unit=unit),
        "flips": _flips(cells, parameters, unit),
        "level_sides": _level_sides(cells, parameters, unit),
        "base_instruct": _base_instruct(cells, parameters, unit),
        "model_sides": _model_sides(cells, parameters, unit),
        "positions": _positions(cells, factors, unit, TURNS),
        "position_sides": _positions(cells, factors, unit, SIDES),
        "associations": _associations(cells, parameters.explaining),
    }
    for number, fields in enumerate(parameters.maps):
        by = [*_BY, *fields]
        frames[f"map_{number}"] = counted(cells, by) if len(fields) > 1 else counted_units(cells, by, unit=unit)
    for number, contrast in enumerate(parameters.contrasts):
        frames[f"contrast_{number}"] = sided_units(
            cells, _BY, across=contrast.name, left=contrast.minus, right=contrast.plus, unit=unit
        )
    if parameters.preferences:
        frames["preferences"] = counted_units(cells, [*_BY, parameters.preferences], unit=unit)
    if parameters.deviance:
        frames["deviance"] = counted(cells, ["question", *parameters.deviance_columns])
    return frames


def _levels(cells: Cells, parameters: BehaviourParameters) -> Iterator[dict[str, str]]:
    """Each level of each factor beside the factor's baseline."""
    for factor in parameters.factors:
        levels = cells.levels(factor.name)
        baseline = factor.baseline or next(iter(levels), "")
        for level in levels:
            if level != baseline:
                yield {"factor": factor.name, "baseline": baseline, "level": level}


def _flips(cells: Cells, parameters: BehaviourParameters, unit: str) -> pd.DataFrame:
    """Decisions about the same cases at the baseline of a factor (left) and at each other level of it (right)."""
    found = []
    for compared in _levels(cells, parameters):
        factor, left, right = compared.values()
        others = [name for name in parameters.factor_names if name != factor]
        pairs = paired_decisions(
            cells, _BY, case=others, across=factor, left=left, right=right, unit=unit, counts=TURNS
        )
        found.append(pairs.assign(**compared))
    return _stacked(found, ["factor", *_BY, "baseline", "level", *TURNS, "units"])


def _level_sides(cells: Cells, parameters: BehaviourParameters, unit: str) -> pd.DataFrame:
    """All decisions at the baseline of a factor (left) and at each other level of it (right)."""
    found = []
    for compared in _levels(cells, parameters):
        factor, left, right = compared.values()
        sides = sided_units(cells, _BY, across=factor, left=left, right=right, unit=unit)
        found.append(sides.assign(**compared))
    return _stacked(found, ["factor", *_BY, "baseline", "level", *SIDES, "units"])


def _base_instruct(cells: Cells, parameters: BehaviourParameters, unit: str) -> pd.DataFrame:
    """Decisions about the same cases of the base model (left) and of the instruct model (right)."""
    by, case, found = ["question"], parameters.factor_names, []
    for base, instruct in parameters.base_instruct:
        pairs = paired_decisions(cells, by, case=case, across=MODEL, left=base, right=instruct, unit=unit, counts=TURNS)
        found.append(pairs.assign(base=base, instruct=instruct))
    return _stacked(found, ["question", "base", "instruct", *TURNS, "units"])


def _model_sides(cells: Cells, parameters: BehaviourParameters, unit: str) -> pd.DataFrame:
    """All decisions of the base model (left) and of the instruct model (right)."""
    found = []
    for base, instruct in parameters.base_instruct:
        sides = sided_units(cells, ["question"], across=MODEL, left=base, right=instruct, unit=unit)
        found.append(sides.assign(base=base, instruct=instruct))
    return _stacked(found, ["question", "base", "instruct", *SIDES, "units"])


def _positions(cells: Cells, factors: Sequence[str], unit: str, counts: Sequence[str]) -> pd.DataFrame:
    """Decisions about the same cases with culture shown first (left) and second (right)."""
    others = [name for name in factors if name != ORDER]
    return paired_decisions(cells, _BY, case=others, across=FIRST, left="true", right="false", unit=unit, counts=counts)


def _associations(cells: Cells, columns: Iterable[str]) -> pd.DataFrame:
    found = [counted(cells, ["question", name]).rename(columns={name: "level"}).assign(column=name) for name in columns]
    return _stacked(found, ["question", "column", "level", "n_rows", "n", "n_culture"])


def _stacked(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)[list(columns)] if frames else pd.DataFrame(columns=list(columns))
