"""Which answers a report is asked about. Without pandas, because the pages that ask for reports look here too."""

from django.db.models import QuerySet

from evaluation.parameters import AlignmentParameters, ComparedParameters, ModelParameters, ReportError
from evaluation.selection import Selection, select_alignment
from evaluation.study_filters import of_passing_sessions
from llm.models import Call
from projects.models import Project
from responses.models import RespondentKind, Response, SourceKind
from responses.querysets import of_completed_sessions
from responses.sources import ordinary

_IN_SESSIONS = {
    "completed": " in a completed session",
    "passed": " in a session that passes the quality filters of its study (whose page says what each of them stops)",
    "all": "",
}
_WHO = {"all": "real or simulated people", "real": "real people", "simulated": "simulated people"}


def of_people(selection: Selection[ComparedParameters]) -> QuerySet[Response]:
    """Standing answers of the people that the report compares with models."""
    people = of_every_session(selection)
    if selection.parameters.sessions == "passed":
        return of_passing_sessions(people, selection)
    return of_completed_sessions(people) if selection.parameters.sessions == "completed" else people


def of_every_session(selection: Selection[ComparedParameters]) -> QuerySet[Response]:
    """The same with people who did not finish their session or failed its attention check; without answers that train
    or check annotators."""
    people = ordinary(_answers(selection).filter(respondent__kind__in=selection.parameters.kinds))
    if selection.parameters.people != "all":
        people = people.filter(respondent__simulated=selection.parameters.people == "simulated")
    return people


def of_models(selection: Selection[ModelParameters]) -> QuerySet[Response]:
    """Standing answers of the chosen models."""
    models = _answers(selection).filter(respondent__kind=RespondentKind.MODEL)
    if selection.parameters.models:
        models = models.filter(respondent__attributes__model__in=selection.parameters.models)
    return models


def of_probable_calls(selection: Selection[AlignmentParameters], question: str) -> QuerySet[Call]:
    """The calls behind the chosen models' standing answers to the question, where its options have probabilities."""
    calls = of_models(selection).filter(question=question, source_kind=SourceKind.CALL).values("source_id")
    return Call.objects.filter(pk__in=calls, probabilities__has_key=question)


def check_alignment(project: Project, parameters: AlignmentParameters) -> None:
    """Raise ReportError when nobody answered, the parameters name what is not there, or probabilities are missing."""
    selection = select_alignment(project, parameters)
    check_answered(selection)
    if parameters.model_rates == "answers":
        return
    if not any(of_probable_calls(selection, question).exists() for question in selection.questions):
        raise ReportError(
            "No answer of these models came with log probabilities of its tokens: run a job that asks for them at an "
            "endpoint that gives them, or let the share of answers be the model's rate."
        )


def check_answered(selection: Selection[ComparedParameters]) -> None:
    """Raise ReportError when no person answered: a report never changes, and this one would have no number in it."""
    if of_people(selection).exists():
        return
    parameters = selection.parameters
    kinds = " or ".join(f"{kind}s" for kind in parameters.kinds)
    sessions = _IN_SESSIONS[parameters.sessions]
    raise ReportError(
        f"No {_WHO[parameters.people]} ({kinds}) have answered {' or '.join(selection.questions)} of "
        f"{parameters.instrument} about items of {parameters.dataset}{sessions}: choose other people, sessions, "
        "questions or items, or wait for answers."
    )


def _answers(selection: Selection[ModelParameters]) -> QuerySet[Response]:
    return Response.objects.filter(
        project=selection.project,
        item__dataset=selection.dataset,
        instrument__in=selection.instruments,
        question__in=selection.questions,
        superseded_by=None,
    )
