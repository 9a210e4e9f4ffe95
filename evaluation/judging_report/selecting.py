"""What a report on judges needs. Without pandas, because the pages that ask for reports look here too."""

from collections.abc import Collection

from evaluation.answers import check_answered
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.parameters import ReportError
from evaluation.selection import Selection, select
from materials.fitting import field_names
from projects.models import Project

# What items must say of a pair under a preference, and of a verdict.
PREFERRED = ("pair", "topic", "preference_id")
LABELLED = (*PREFERRED, "annotator", "human")
VERDICT = ("pair", "judge", "winner_order_12")


def check_judging(project: Project, parameters: JudgingParameters) -> None:
    """Raise ReportError when nobody labelled a pair or the parameters name what is not there."""
    check_answered(select_judging(project, parameters))


def select_judging(project: Project, parameters: JudgingParameters) -> Selection[JudgingParameters]:
    """The rows that the parameters name; raises ReportError for a question that does not compare two responses, and for
    datasets that are not there or not of pairs under preferences."""
    selection = select(project, parameters, (parameters.question,))
    if selection.question(parameters.question).kind != "pairwise":
        raise ReportError(f"The question {parameters.question} does not compare two responses; choose one that does.")
    for part, _, slug in parameters.parts:
        _check_fields(project, slug, PREFERRED if part == "ranked" else LABELLED)
    if parameters.verdicts:
        _check_fields(project, parameters.verdicts, VERDICT)
    return selection


def _check_fields(project: Project, slug: str, needed: Collection[str]) -> None:
    dataset = project.datasets.filter(slug=slug).first()
    if dataset is None:
        raise ReportError(f"There is no dataset {slug} in {project}; choose one of its datasets.")
    if lacking := [name for name in needed if name not in field_names(dataset)]:
        raise ReportError(f"Items of {dataset.name} have no {', '.join(lacking)}; choose a dataset whose items have.")
