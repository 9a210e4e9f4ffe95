"""What a report can be about: items of a dataset with the questions that were answered about them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Exists, Max, OuterRef

from annotation.models import Assignment, LabelProject
from llm.models import Job
from materials.models import Dataset, Instrument
from projects.models import Project
from responses.models import RespondentKind, Response, SourceKind
from studies.models import Session, Study

ITEMS_LOOKED_AT = 20  # of each dataset, for answers that were imported or derived


class _Asked(NamedTuple):
    """Of a study, a labelling project, a job or an import, what it asked and whom."""

    dataset: int
    instrument: str  # name
    kind: str
    model: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Material:
    """A dataset, the newest version of an instrument, who answered any of its versions about it, and when last asked.

    `kinds` are kinds of respondents, `models` the names of the models among them.
    """

    dataset: Dataset
    instrument: Instrument
    kinds: frozenset[str]
    models: tuple[str, ...]
    asked_at: datetime

    @property
    def code(self) -> str:
        return f"{self.dataset.slug}/{self.instrument.name}"

    def __str__(self) -> str:
        who = ", ".join(f"{RespondentKind(kind).label.lower()}s" for kind in sorted(self.kinds))
        return f"{self.dataset.name} · {self.instrument.title} ({who})"


def answered_materials(project: Project) -> list[Material]:
    """What was answered in the project, the newest first.

    Six queries on studies, labelling projects and jobs, and on imported and derived answers to a few items of each
    dataset: they cost the same for any number of items.
    """
    datasets = project.datasets.in_bulk()
    instruments = {instrument.name: instrument for instrument in project.instruments.order_by("version")}
    asked = defaultdict(list)
    for one in _asked(project):
        asked[one.dataset, one.instrument].append(one)
    found = [
        Material(
            datasets[dataset],
            instruments[instrument],
            frozenset(one.kind for one in whom),
            tuple(sorted({one.model for one in whom if one.model})),
            max(one.at for one in whom),
        )
        for (dataset, instrument), whom in asked.items()
    ]
    return sorted(found, key=lambda material: material.asked_at, reverse=True)


def _asked(project: Project) -> Iterator[_Asked]:
    about = ("dataset", "instrument__name")
    sessions = Session.objects.filter(study=OuterRef("pk"), respondent__isnull=False)
    studies = Study.objects.filter(Exists(sessions), project=project)
    for dataset, instrument, at in studies.values_list(*about, "created_at"):
        yield _Asked(dataset, instrument, RespondentKind.PARTICIPANT, "", at)
    submitted = Assignment.objects.filter(label_project=OuterRef("pk"), status=Assignment.Status.SUBMITTED)
    labelled = LabelProject.objects.filter(Exists(submitted), project=project)
    for dataset, instrument, at in labelled.values_list(*about, "created_at"):
        yield _Asked(dataset, instrument, RespondentKind.ANNOTATOR, "", at)
    jobs = Job.objects.filter(project=project, n_ok__gt=0)
    for dataset, instrument, model, at in jobs.values_list(*about, "endpoint__model", "created_at"):
        yield _Asked(dataset, instrument, RespondentKind.MODEL, model, at)
    imported = Response.objects.filter(
        project=project,
        source_kind__in=[SourceKind.IMPORT, SourceKind.CALL],  # protocols store what calls say of other items
        item__dataset__project=project,
        item__position__lt=ITEMS_LOOKED_AT,
    )
    who = ("item__dataset", "instrument__name", "respondent__kind", "respondent__attributes__model")
    for dataset, instrument, kind, model, at in imported.values_list(*who).annotate(Max("answered_at")):
        yield _Asked(dataset, instrument, kind, model or "", at)
