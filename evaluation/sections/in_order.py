"""The sections of an alignment report, in reading order: functions of a Comparison, with None where there is nothing to
say."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from evaluation.parameters import AlignmentParameters
from evaluation.sections.alignment import alignment
from evaluation.sections.by_country import by_country
from evaluation.sections.by_relation import by_relation
from evaluation.sections.comparison import Comparison, Frames
from evaluation.sections.human_gap import human_gap
from evaluation.sections.persona import persona
from evaluation.sections.shape import Section
from evaluation.sections.uncertainty import uncertainty
from evaluation.sections.what_was_compared import what_was_compared

SECTIONS: tuple[Callable[[Comparison], Section | None], ...] = (
    what_was_compared,
    alignment,
    persona,
    human_gap,
    by_relation,
    by_country,
    uncertainty,
)


def alignment_sections(
    data: Mapping[str, pd.DataFrame], parameters: AlignmentParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.frames`."""
    comparison = Comparison(Frames(**data), parameters)
    return [partial(section, comparison) for section in SECTIONS]
