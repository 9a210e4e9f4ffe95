"""The sections of a report on reactions, in reading order."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from evaluation.reactions_report.attitudes import attitudes
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.reactions_report.reactions import Reactions
from evaluation.reactions_report.studied import studied
from evaluation.reactions_report.tones import communities, tones
from evaluation.reactions_report.what_was_simulated import what_was_simulated
from evaluation.sections.shape import Section

SECTIONS: tuple[Callable[[Reactions], Section | None], ...] = (
    what_was_simulated,
    studied,
    attitudes,
    tones,
    communities,
)


def reactions_sections(
    data: Mapping[str, pd.DataFrame], parameters: ReactionsParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.reactions_report.frames`."""
    reactions = Reactions(**data, parameters=parameters)
    return [partial(section, reactions) for section in SECTIONS]
