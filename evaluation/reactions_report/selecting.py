"""What a report on reactions needs. Without pandas, because the pages that ask for reports look here too."""

from typing import Any

from django.db.models import QuerySet

from evaluation.answers import check_answered
from evaluation.parameters import ReportError
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.selection import Selection, select
from materials.models import Dataset
from materials.questions import option_codes
from projects.models import Project

TONES, ATTITUDES = ("choice", "multi"), ("choice", "scale", "number")
KEYPHRASE_FIELDS = ["salience", "frequency", "sparsity", "chosen"]


def check_reactions(project: Project, parameters: ReactionsParameters) -> None:
    """Raise ReportError when no reaction was observed or the parameters name what is not there."""
    check_answered(select_reactions(project, parameters))


def select_reactions(project: Project, parameters: ReactionsParameters) -> Selection[ReactionsParameters]:
    """The rows that the parameters name; raises ReportError for questions that have no tones or attitudes."""
    selection = select(project, parameters, parameters.questions)
    if selection.question(parameters.tone).kind not in TONES:
        raise ReportError(f"The question {parameters.tone} has no options that could be tones; choose one that has.")
    if not _has_attitudes(selection.question(parameters.attitude), parameters):
        raise ReportError(
            f"The answers to {parameters.attitude} stand nowhere between -1 and 1: choose a scale or number from -1 to "
            "1, or a choice of which you say where its options stand."
        )
    if parameters.keyphrases and not keyphrase_datasets(project).filter(slug=parameters.keyphrases).exists():
        raise ReportError(
            f"{parameters.keyphrases} is no dataset of keyphrases: its items need {', '.join(KEYPHRASE_FIELDS)}. "
            "Choose another one, or none."
        )
    return selection


def keyphrase_datasets(project: Project) -> QuerySet[Dataset]:
    """Those whose items have what the distribution of keyphrases is drawn of."""
    return project.datasets.filter(field_order__contains=KEYPHRASE_FIELDS)


def _has_attitudes(question: Any, parameters: ReactionsParameters) -> bool:
    if question.kind == "choice":
        return any(code in parameters.attitudes for code in option_codes(question))
    if question.kind not in ATTITUDES or question.minimum is None or question.maximum is None:
        return False
    return bool(question.minimum >= -1 and question.maximum <= 1)
