"""The sections of a report on judges, in reading order."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from evaluation.judging_report.accuracy import accuracy
from evaluation.judging_report.judgments import Judging
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.judging_report.personal import personal
from evaluation.judging_report.position import position
from evaluation.judging_report.ranking import ranking
from evaluation.judging_report.what_was_judged import what_was_judged
from evaluation.sections.shape import Section

SECTIONS: tuple[Callable[[Judging], Section | None], ...] = (what_was_judged, accuracy, personal, position, ranking)


def judging_sections(
    data: Mapping[str, pd.DataFrame], parameters: JudgingParameters
) -> Sequence[Callable[[], Section | None]]:
    """What computes each section from the frames of `evaluation.judging_report.frames`."""
    judging = Judging(**data, parameters=parameters)
    return [partial(section, judging) for section in SECTIONS]
