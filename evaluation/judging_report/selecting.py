"""What a report on judges needs. Without pandas, because the pages that ask for reports look here too."""

from evaluation.answers import check_answered
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.parameters import ReportError
from evaluation.selection import Selection, select
from projects.models import Project


def check_judging(project: Project, parameters: JudgingParameters) -> None:
    """Raise ReportError when nobody labelled a pair or the parameters name what is not there."""
    check_answered(select_judging(project, parameters))


def select_judging(project: Project, parameters: JudgingParameters) -> Selection[JudgingParameters]:
    """The rows that the parameters name; raises ReportError for a question that does not compare two responses."""
    selection = select(project, parameters, (parameters.question,))
    if selection.question(parameters.question).kind != "pairwise":
        raise ReportError(f"The question {parameters.question} does not compare two responses; choose one that does.")
    return selection
