"""The sections of a report, in reading order: functions of a Comparison, with None where there is nothing to say."""

from collections.abc import Callable

from evaluation.sections.alignment import alignment
from evaluation.sections.by_country import by_country
from evaluation.sections.comparison import Comparison
from evaluation.sections.human_gap import human_gap
from evaluation.sections.shape import Section
from evaluation.sections.uncertainty import uncertainty
from evaluation.sections.what_was_compared import what_was_compared

SECTIONS: tuple[Callable[[Comparison], Section | None], ...] = (
    what_was_compared,
    alignment,
    human_gap,
    by_country,
    uncertainty,
)


def compute_sections(comparison: Comparison) -> list[Section]:
    """Every section that has something to say."""
    return [section for compute in SECTIONS if (section := compute(comparison)) is not None]
