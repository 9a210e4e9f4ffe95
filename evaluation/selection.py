"""The rows of a project that an alignment report's parameters name."""

from dataclasses import dataclass

from evaluation.parameters import AlignmentParameters, ReportError
from materials.models import Dataset, Instrument
from materials.questions import option_codes
from projects.models import Project
from responses.models import Respondent, RespondentKind


@dataclass(frozen=True, slots=True)
class Selection:
    """Parameters with the rows they name."""

    project: Project
    dataset: Dataset
    instruments: tuple[Instrument, ...]  # newest version first
    parameters: AlignmentParameters


def select(project: Project, parameters: AlignmentParameters) -> Selection:
    """Find what the parameters name in the project; raises ReportError when something is not there."""
    dataset = project.datasets.filter(slug=parameters.dataset).first()
    if dataset is None:
        raise ReportError(f"There is no dataset {parameters.dataset} in {project}; choose one of its datasets.")
    instruments = tuple(project.instruments.filter(name=parameters.instrument).order_by("-version"))
    if not instruments:
        raise ReportError(
            f"There is no instrument {parameters.instrument} in {project}; choose one of its instruments."
        )
    for code in parameters.questions:
        _check_question(instruments[0], code, parameters.option)
    unknown = set(parameters.models) - set(model_names(project))
    if unknown:
        raise ReportError(f"No model named {', '.join(sorted(unknown))} answered in {project}; choose one that did.")
    return Selection(project, dataset, instruments, parameters)


def model_names(project: Project) -> list[str]:
    """The models that are respondents of the project, by name."""
    models = Respondent.objects.filter(project=project, kind=RespondentKind.MODEL)
    names = models.values_list("attributes__model", flat=True).order_by("attributes__model").distinct()
    return [name for name in names if name]


def _check_question(instrument: Instrument, code: str, option: str) -> None:
    try:
        question = instrument.questionnaire[code]
    except KeyError:
        known = ", ".join(question.code for question in instrument.questionnaire.questions)
        raise ReportError(f"{instrument} has no question {code}; it has {known}.") from None
    if question.kind != "choice" or option not in option_codes(question):
        raise ReportError(f"The question {code} is not a choice with the option {option}; count an option that it has.")
