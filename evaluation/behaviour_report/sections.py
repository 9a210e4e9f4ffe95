"""The sections of a behaviour report, in reading order. Pure."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from evaluation.behaviour_report.behaviour import Behaviour
from evaluation.behaviour_report.contrasts import contrasts, preferences
from evaluation.behaviour_report.explained import associations, deviance
from evaluation.behaviour_report.factors import base_instruct, factors, positions
from evaluation.behaviour_report.maps import maps
from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.behaviour_report.rates import rates
from evaluation.behaviour_report.sample import sample
from evaluation.sections.shape import Section

SECTIONS: tuple[Callable[[Behaviour], Section | None], ...] = (
    sample,
    rates,
    factors,
    base_instruct,
    maps,
    contrasts,
    preferences,
    positions,
    associations,
    deviance,
)


def behaviour_sections(
    data: Mapping[str, pd.DataFrame], parameters: BehaviourParameters
) -> list[Callable[[], Section | None]]:
    """What computes each section, with None where there is nothing to say."""
    behaviour = Behaviour(data, parameters)
    return [partial(section, behaviour) for section in SECTIONS]
