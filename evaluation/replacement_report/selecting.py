"""What a report on replacing annotators needs. Without pandas, because the pages that ask for reports look here too."""

from evaluation.answers import check_answered
from evaluation.parameters import ReportError
from evaluation.replacement_report.parameters import ReplacementParameters
from evaluation.selection import Selection, select
from projects.models import Project

KINDS = ("choice", "pairwise", "scale")  # of questions: one label from few


def check_replacement(project: Project, parameters: ReplacementParameters) -> None:
    """Raise ReportError when nobody labelled an item or the parameters name what is not there."""
    check_answered(select_replacement(project, parameters))


def select_replacement(project: Project, parameters: ReplacementParameters) -> Selection[ReplacementParameters]:
    """The rows that the parameters name; raises ReportError for a question whose answer is not one label."""
    selection = select(project, parameters, (parameters.question,))
    if selection.question(parameters.question).kind not in KINDS:
        raise ReportError(
            f"An answer to {parameters.question} is not one of few labels; choose a question with options."
        )
    return selection
