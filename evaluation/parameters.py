"""What a report is asked to compare; stored with it, seed included, so that it can be computed again."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from materials.models import Dataset, Instrument
from materials.questions import option_codes
from projects.models import Project
from responses.models import Respondent, RespondentKind

PersonKind = Literal["participant", "annotator"]
People = Literal["all", "real", "simulated"]
Sessions = Literal["completed", "passed", "all"]


class ReportError(ValueError):
    """A report that cannot be computed as asked; the text says why and what to do."""


class AlignmentParameters(BaseModel):
    """The parameters of an alignment report. `people` has no default: nobody pools simulated with real people unaware.

    `option` is the code that is counted as culture; every other option is the preference. Without `models` all that
    answered take part. `sessions` leaves out participants who did not finish or failed the attention check, or with
    "passed" whom the quality filters of their study stop; annotators and imported people have no session and stay. Of
    the questions, `personal_question` and `norm_question` make the gap of the people.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str  # slug
    instrument: str  # name; answers to all its versions enter
    questions: tuple[str, ...] = Field(min_length=1)
    people: People
    option: str = "culture"
    kinds: tuple[PersonKind, ...] = Field(default=("participant",), min_length=1)
    sessions: Sessions = "completed"
    models: tuple[str, ...] = ()
    personal_question: str = "personal"
    norm_question: str = "norm"
    resamples: int = Field(default=2000, ge=100, le=20_000)
    splits: int = Field(default=200, ge=10, le=5000)
    seed: int = Field(default=1, ge=0, lt=2**63)


@dataclass(frozen=True, slots=True)
class Selection:
    """Parameters with the rows they name."""

    project: Project
    dataset: Dataset
    instruments: tuple[Instrument, ...]  # newest version first
    parameters: AlignmentParameters


def parse_parameters(data: object) -> AlignmentParameters:
    """The parameters with their defaults; raises ReportError with the place of the first fault."""
    try:
        return AlignmentParameters.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = " > ".join(str(part) for part in first["loc"])
        raise ReportError(f"Report parameters, at {place or 'top'}: {first['msg']}.") from error


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
