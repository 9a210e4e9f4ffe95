"""The rows of a project that a behaviour report's parameters name. Without pandas, because pages look here too."""

from django.db.models import QuerySet

from evaluation.answers import of_models
from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.parameters import ReportError
from evaluation.selection import Selection, columns, model_names, select
from materials.questions import option_codes
from projects.models import Project
from responses.models import Respondent, RespondentKind

Chosen = Selection[BehaviourParameters]


def select_behaviour(project: Project, parameters: BehaviourParameters) -> Chosen:
    """What the parameters name; raises ReportError when something is not there."""
    selection = select(project, parameters, parameters.questions)
    for code in parameters.questions:
        question = selection.question(code)
        options = option_codes(question) if question.kind == "choice" else ()
        for option in (parameters.culture, parameters.preference):
            if option not in options:
                raise ReportError(
                    f"The question {code} is not a choice with the option {option}; name an option that it has."
                )
    unknown = {model for pair in parameters.base_instruct for model in pair} - set(model_names(project))
    if unknown:
        raise ReportError(f"No model named {', '.join(sorted(unknown))} answered in {project}; choose one that did.")
    for name in parameters.columns:
        if not _is_there(selection, name):
            known = ", ".join(column for named in columns(project, selection.dataset).values() for column in named)
            raise ReportError(f"There is no column {name}; name one of {known}.")
    return selection


def check_behaviour(project: Project, parameters: BehaviourParameters) -> None:
    """Raise ReportError when no model answered: a report never changes, and this one would have no number in it."""
    if not of_models(select_behaviour(project, parameters)).exists():
        raise ReportError(
            f"No model has answered {' or '.join(parameters.questions)} of {parameters.instrument} about items of "
            f"{parameters.dataset}: choose other models, questions or items, or wait for answers."
        )


def respondents(selection: Chosen) -> QuerySet[Respondent]:
    """The models that are compared, with each persona a respondent of its own, in a fixed order."""
    models = selection.project.respondents.filter(kind=RespondentKind.MODEL).order_by("pk")
    chosen = selection.parameters.models
    return models.filter(attributes__model__in=chosen) if chosen else models


def _is_there(selection: Chosen, column: str) -> bool:
    kind, _, name = column.partition("_")
    if kind == "cond":
        return selection.project.conditions.filter(factors__has_key=name).exists()
    if kind == "attr":
        return respondents(selection).filter(attributes__has_key=name).exists()
    return selection.dataset.items.filter(content__has_key=name).exists()
