"""A study described in a file: the whole of it is checked, and it is made or there are reasons."""

from collections.abc import Iterator
from typing import Any, Literal

from django.db import transaction
from pydantic import Field, ValidationError

from materials.models import Dataset, Instrument
from materials.questions import Frozen
from projects.models import Project, User
from studies.design import Design, Texts
from studies.flow import Ending
from studies.models import Study
from studies.services.publishing import StudyNotReadyError, create_study, find_problems

WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "nothing of this name belongs here",
    "string_pattern_mismatch": "use lower-case letters and digits, with single hyphens between them",
}


class StudyFile(Frozen):
    """The file's form; docs/studies.md has an example. `instrument` is a name (its newest version) or NAME/VERSION."""

    name: str = Field(min_length=1, max_length=200)
    slug: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)
    dataset: str
    instrument: str
    texts: Texts
    design: Design
    demographics: list[dict[str, Any]] = []
    completion_codes: dict[Literal[Ending, "closed"], str] = {}
    translations: dict[str, dict[str, Any]] = {}
    filters: list[dict[str, Any]] | None = None
    platform: Literal["prolific", "none"] = "prolific"


@transaction.atomic
def create_study_from_file(*, project: Project, data: Any, by: User | None) -> Study:
    """The study that `data` (JSON-like) describes, a draft that can be opened; the next version of its slug.

    Raises StudyNotReadyError with a sentence for each fault, and then nothing is made.
    """
    try:
        file = StudyFile.model_validate(data)
    except ValidationError as error:
        raise StudyNotReadyError(list(_sentences(error))) from error
    dataset = project.datasets.filter(slug=file.dataset).first()
    instrument = _find_instrument(project, file.instrument)
    if dataset is None or instrument is None:
        raise StudyNotReadyError(list(_missing(project, file, dataset, instrument)))
    study = create_study(
        project=project,
        name=file.name,
        slug=file.slug,
        dataset=dataset,
        instrument=instrument,
        texts=data["texts"],
        design=data["design"],
        demographics=file.demographics,
        completion_codes=data.get("completion_codes"),
        translations=file.translations,
        filters=file.filters,
        platform=Study.Platform(file.platform),
        by=by,
    )
    if problems := list(find_problems(study)):
        raise StudyNotReadyError(problems)
    return study


def file_of(study: Study) -> dict[str, Any]:
    """The data from which `create_study_from_file` makes the study again, as far as it is ready to be opened."""
    return {
        "name": study.name,
        "slug": study.slug,
        "dataset": study.dataset.slug,
        "instrument": f"{study.instrument.name}/{study.instrument.version}",
        "platform": study.platform,
        "texts": study.texts,
        "design": study.design,
        "demographics": study.demographics,
        "completion_codes": study.completion_codes,
        "translations": study.translations,
        "filters": study.filters,
    }


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors():
        place = " > ".join(str(part) for part in fault["loc"])
        yield f"At {place or 'the top'}: {WORDS.get(fault['type'], fault['msg'])}."


def _find_instrument(project: Project, text: str) -> Instrument | None:
    name, _, version = text.partition("/")
    found = project.instruments.filter(name=name)
    if version:
        found = found.filter(version=int(version) if version.isdecimal() and len(version) < 10 else 0)
    return found.order_by("-version").first()


def _missing(
    project: Project, file: StudyFile, dataset: Dataset | None, instrument: Instrument | None
) -> Iterator[str]:
    if dataset is None:
        slugs = ", ".join(project.datasets.order_by("slug").values_list("slug", flat=True))
        yield f"At dataset: the project has no dataset {file.dataset}; it has {slugs or 'none, so import items first'}."
    if instrument is None:
        versions = project.instruments.order_by("name", "version").values_list("name", "version")
        known = ", ".join(f"{name}/{version}" for name, version in versions)
        yield f"At instrument: the project has no instrument {file.instrument}; it has {known or 'none'}."
