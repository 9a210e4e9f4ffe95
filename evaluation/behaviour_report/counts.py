"""What a behaviour report keeps: frames counted from cells, without ids. Pure.

Their size depends on how many levels are compared, not on how many items or answers there are: of units with the same
counts only the number is kept, of cases with the same decisions too.
"""

from collections.abc import Iterable, Sequence

import pandas as pd

from evaluation.behaviour_report.cells import FIRST, Cells, counted, counted_units, paired_decisions
from evaluation.behaviour_report.parameters import MODEL, ORDER, BehaviourParameters

_BY = ["question", MODEL]


def count_frames(cells: Cells, parameters: BehaviourParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.behaviour_report.behaviour.Behaviour` that answers alone give, by name."""
    factors, unit = parameters.factor_names, parameters.unit or "item"
    frames = {
        "by_item": counted_units(cells, _BY, unit="item"),
        "by_model": counted_units(cells, _BY, unit=unit),
        "by_configuration": counted_units(cells, [*_BY, *factors], unit=unit),
        "flips": _flips(cells, parameters),
        "base_instruct": _base_instruct(cells, parameters),
        "positions": _positions(cells, factors),
        "associations": _associations(cells, parameters.explaining),
    }
    for number, fields in enumerate(parameters.maps):
        by = [*_BY, *fields]
        frames[f"map_{number}"] = counted(cells, by) if len(fields) > 1 else counted_units(cells, by, unit=unit)
    for number, contrast in enumerate(parameters.contrasts):
        frames[f"contrast_{number}"] = counted(cells, [*_BY, contrast.name])
    if parameters.preferences:
        frames["preferences"] = counted_units(cells, [*_BY, parameters.preferences], unit=unit)
    if parameters.deviance:
        frames["deviance"] = counted(cells, ["question", *parameters.deviance_columns])
    return frames


def _flips(cells: Cells, parameters: BehaviourParameters) -> pd.DataFrame:
    """Decisions about the same cases at the baseline of a factor (`left`) and at each other level of it (`right`)."""
    found = []
    for factor in parameters.factors:
        levels = cells.levels(factor.name)
        baseline = factor.baseline or next(iter(levels), "")
        others = [name for name in parameters.factor_names if name != factor.name]
        for level in levels:
            if level != baseline:
                pairs = paired_decisions(cells, _BY, case=others, across=factor.name, left=baseline, right=level)
                found.append(pairs.assign(factor=factor.name, baseline=baseline, level=level))
    return _stacked(found, ["factor", *_BY, "baseline", "level", "left", "right", "n"])


def _base_instruct(cells: Cells, parameters: BehaviourParameters) -> pd.DataFrame:
    """Decisions about the same cases of the base model (`left`) and of the instruct model (`right`)."""
    found = []
    for base, instruct in parameters.base_instruct:
        pairs = paired_decisions(
            cells, ["question"], case=parameters.factor_names, across=MODEL, left=base, right=instruct
        )
        found.append(pairs.assign(base=base, instruct=instruct))
    return _stacked(found, ["question", "base", "instruct", "left", "right", "n"])


def _positions(cells: Cells, factors: Sequence[str]) -> pd.DataFrame:
    """Decisions about the same cases with culture shown first (`left`) and second (`right`)."""
    others = [name for name in factors if name != ORDER]
    return paired_decisions(cells, _BY, case=others, across=FIRST, left="true", right="false")


def _associations(cells: Cells, columns: Iterable[str]) -> pd.DataFrame:
    found = [counted(cells, ["question", name]).rename(columns={name: "level"}).assign(column=name) for name in columns]
    return _stacked(found, ["question", "column", "level", "n_rows", "n", "n_culture"])


def _stacked(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True)[list(columns)] if frames else pd.DataFrame(columns=list(columns))
