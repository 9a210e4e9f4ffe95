"""The rows of a project that a report's parameters name."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import F, Func, OuterRef, QuerySet, Subquery, TextField

from evaluation.parameters import AlignmentParameters, ModelParameters, ReportError
from materials.fitting import ITEMS_LOOKED_AT
from materials.models import Dataset, Instrument
from materials.questions import option_codes
from projects.models import Project
from responses.models import Respondent, RespondentKind, Response

P = TypeVar("P", bound=ModelParameters)
P_co = TypeVar("P_co", bound=ModelParameters, covariant=True)


@dataclass(frozen=True, slots=True)
class Selection(Generic[P_co]):
    """Parameters with the rows they name, and the codes of the questions whose answers enter."""

    project: Project
    dataset: Dataset
    instruments: tuple[Instrument, ...]  # newest version first
    questions: tuple[str, ...]
    parameters: P_co

    def question(self, code: str) -> Any:
        """The question in the instrument's newest version; raises ReportError when it is not there."""
        try:
            return self.instruments[0].questionnaire[code]
        except KeyError:
            known = ", ".join(question.code for question in self.instruments[0].questionnaire.questions)
            raise ReportError(f"{self.instruments[0]} has no question {code}; it has {known}.") from None


def select(project: Project, parameters: P, questions: tuple[str, ...]) -> Selection[P]:
    """Find what the parameters name in the project; raises ReportError when something is not there."""
    dataset = project.datasets.filter(slug=parameters.dataset).first()
    if dataset is None:
        raise ReportError(f"There is no dataset {parameters.dataset} in {project}; choose one of its datasets.")
    instruments = tuple(project.instruments.filter(name=parameters.instrument).order_by("-version"))
    if not instruments:
        raise ReportError(
            f"There is no instrument {parameters.instrument} in {project}; choose one of its instruments."
        )
    unknown = set(parameters.models) - set(model_names(project))
    if unknown:
        raise ReportError(f"No model named {', '.join(sorted(unknown))} answered in {project}; choose one that did.")
    selection = Selection(project, dataset, instruments, questions, parameters)
    for code in questions:
        selection.question(code)
    return selection


def select_alignment(project: Project, parameters: AlignmentParameters) -> Selection[AlignmentParameters]:
    """The same for an alignment report, whose questions must be choices with the option that is counted."""
    selection = select(project, parameters, parameters.questions)
    for code in parameters.questions:
        question = selection.question(code)
        if question.kind != "choice" or parameters.option not in option_codes(question):
            raise ReportError(
                f"The question {code} is not a choice with the option {parameters.option}; count an option that it has."
            )
    return selection


def model_names(project: Project) -> list[str]:
    """The models that are respondents of the project, by name."""
    models = Respondent.objects.filter(project=project, kind=RespondentKind.MODEL)
    names = models.values_list("attributes__model", flat=True).order_by("attributes__model").distinct()
    return [name for name in names if name]


def columns(project: Project, dataset: Dataset) -> dict[str, list[str]]:
    """The columns by which answers of models can be told apart, as exports name them, by `cond`, `attr` and `item`.

    Factors under which models answered, attributes of models, and the fields of the dataset as far as its source and
    its first items tell them: it costs the same for any number of items and answers of models.
    """
    models = project.respondents.filter(kind=RespondentKind.MODEL)
    of_model = Response.objects.filter(condition=OuterRef("pk"), respondent__kind=RespondentKind.MODEL)
    # A subquery with a limit for each condition: a join would read all answers.
    conditions = project.conditions.alias(answer=Subquery(of_model.values("pk")[:1])).exclude(answer=None)
    first = dataset.items.order_by("position", "pk").values_list("content", flat=True)[:ITEMS_LOOKED_AT]
    fields = dict.fromkeys([*dataset.field_order, *(field for content in first for field in content)])
    return {
        "cond": [f"cond_{name}" for name in _keys(conditions, "factors")],
        "attr": [f"attr_{name}" for name in _keys(models, "attributes")],
        "item": [f"item_{name}" for name in fields],
    }


def _keys(rows: QuerySet[Any], path: str) -> list[str]:
    keys = Func(F(path), function="jsonb_object_keys", output_field=TextField())
    return sorted(set(rows.annotate(found=keys).values_list("found", flat=True).distinct()))
