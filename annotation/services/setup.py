"""Setting up a labelling project, changing its settings, opening and closing it."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from django.db import transaction

from annotation.models import LabelProject
from annotation.refusals import LabelProjectError
from annotation.services.guidelines import publish_guidelines
from annotation.services.places import store_places
from annotation.suggestions import model_name, models_answering
from materials.fitting import field_names, missing_fields, shown_fields
from materials.models import Dataset, Instrument
from projects.models import Project, User
from projects.services import audit
from projects.slugs import free_slug
from responses.models import Respondent

MOST_NAMED = 20  # fields in a sentence
RESERVED_SLUGS = frozenset({"new"})  # the address of the form


class UnknownFieldError(LabelProjectError):
    """No item has a field that is to be shown."""

    def __init__(self, field: str, dataset: Dataset, existing: Sequence[str]) -> None:
        more = ", …" if len(existing) > MOST_NAMED else ""
        super().__init__(
            f"No item of {dataset.name} has a field {field!r}; there are {', '.join(existing[:MOST_NAMED])}{more}."
        )


class Settings(TypedDict, total=False):
    """What may change while people label; as the fields of LabelProject."""

    lease_minutes: int
    break_every: int
    cap: int | None
    members_only: bool
    pass_mark: float | None
    gold_every: int
    suggestions: str
    suggestions_of: Respondent | None


@transaction.atomic
def create_label_project(
    *,
    project: Project,
    name: str,
    dataset: Dataset,
    instrument: Instrument,
    by: User | None,
    guidelines: str = "",
    item_fields: Sequence[Any] = (),
    overlap: int = 1,
    order: str = LabelProject.Order.RANDOM,
    seed: int = 1,
    calibration_size: int = 0,
    calibration_overlap: int | None = None,
    status: str = LabelProject.Status.OPEN,
    **settings: Unpack[Settings],
) -> LabelProject:
    """A new labelling project with all its places. Raises LabelProjectError with a sentence."""
    if dataset.project_id != project.pk or instrument.project_id != project.pk:
        raise LabelProjectError("The dataset and the instrument must belong to this project.")
    items = list(dataset.items.order_by("position", "pk").values_list("pk", flat=True))
    if not items:
        raise LabelProjectError(f"The dataset {dataset.name} has no items; import some first.")
    _check_fields(dataset, instrument, item_fields)
    _check_model(instrument, settings)
    # Two at once would draw the same slug or repeat; the second waits here and then sees the first.
    Project.objects.select_for_update().get(pk=project.pk)
    others = dict(LabelProject.objects.filter(project=project).values_list("slug", "name"))
    if name in others.values():
        raise LabelProjectError(f"There is already a labelling project {name!r}; choose another name.")
    slug = free_slug(name, taken={*others, *RESERVED_SLUGS}, otherwise="labelling")
    label_project = LabelProject.objects.create(
        project=project,
        name=name,
        slug=slug,
        dataset=dataset,
        instrument=instrument,
        item_fields=list(item_fields) or shown_fields(dataset),
        overlap=overlap,
        order=order,
        seed=seed,
        calibration_size=calibration_size,
        calibration_overlap=calibration_overlap if calibration_size else None,
        status=status,
        sample=LabelProject.objects.filter(dataset=dataset, instrument=instrument).count(),
        **settings,
    )
    store_places(label_project, items)
    if guidelines:
        publish_guidelines(label_project=label_project, text=guidelines, by=by)
    audit(project=project, user=by, action="labelling created", label_project=slug, items=len(items), overlap=overlap)
    return label_project


def _check_fields(dataset: Dataset, instrument: Instrument, item_fields: Sequence[Any]) -> None:
    """Every field to show must be in some item, and the fields that options take their texts from in all of them."""
    misfit = next(missing_fields(dataset, instrument.questionnaire.questions), None)
    if misfit:
        raise LabelProjectError(
            f"{misfit}, from which a question takes a text to choose: add it to the item, or choose another instrument."
        )
    chosen = [entry if isinstance(entry, str) else entry["field"] for entry in item_fields]
    existing = field_names(dataset) if chosen else []
    for field in chosen:
        if field not in existing:
            raise UnknownFieldError(field, dataset, existing)


def _check_model(instrument: Instrument, settings: Settings) -> None:
    model = settings.get("suggestions_of")
    if model is None and settings.get("suggestions", LabelProject.Suggestions.NONE) != LabelProject.Suggestions.NONE:
        raise LabelProjectError("Choose the model whose answers are suggested.")
    if model is not None and not models_answering(instrument).filter(pk=model.pk).exists():
        raise LabelProjectError(
            f"{model_name(model)} has not answered {instrument}; choose a model that has, or run a job first."
        )


@transaction.atomic
def change_settings(*, label_project: LabelProject, by: User | None, **settings: Unpack[Settings]) -> LabelProject:
    """Change what may change while people label. Raises LabelProjectError with a sentence."""
    _check_model(label_project.instrument, settings)
    changed = {name: value for name, value in settings.items() if getattr(label_project, name) != value}
    for name, value in changed.items():
        setattr(label_project, name, value)
    if changed:
        label_project.save(update_fields=list(changed))
        audit(
            project=label_project.project,
            user=by,
            action="labelling changed",
            label_project=label_project.slug,
            **{name: str(value) if isinstance(value, Respondent) else value for name, value in changed.items()},
        )
    return label_project


@transaction.atomic
def set_status(*, label_project: LabelProject, status: str, by: User | None) -> LabelProject:
    """Open or close for annotators. Closing takes nothing away: drafts stay and come back on opening."""
    if LabelProject.objects.filter(pk=label_project.pk).exclude(status=status).update(status=status):
        audit(project=label_project.project, user=by, action=f"labelling {status}", label_project=label_project.slug)
    label_project.status = status
    return label_project
