"""A study while it is designed: begun with defaults, changed while it is a draft, copied as its next version."""

from typing import Any

from django.db import transaction

from materials.fitting import field_names, shown_fields
from materials.models import Dataset, Instrument
from materials.questions import span_fields, text_fields
from materials.services import content_hash
from projects.models import Project, User
from projects.services import audit
from projects.slugs import free_slug
from studies.models import Study
from studies.services.files import file_of
from studies.services.publishing import create_study, lock_versions

ITEMS_EACH, MINUTES = 7, 5
CONSENT = """\
We ask what you think of short situations. Your answers are used for research, in which nobody is named.

Taking part is **voluntary**. You can stop at any time, without giving a reason, by closing this page."""
INSTRUCTIONS = "Read each situation, then answer the questions about it. There are no right or wrong answers."


class NotADraftError(ValueError):
    """Open and closed studies never change."""


class DraftChangedError(ValueError):
    """Somebody else saved the draft since it was read."""


@transaction.atomic
def begin_study(
    *, project: Project, name: str, dataset: Dataset, instrument: Instrument, platform: Study.Platform, by: User | None
) -> Study:
    """A draft that can be previewed at once, the first version under a slug of its own."""
    lock_versions(project, "")
    taken = set(project.studies.values_list("slug", flat=True))
    return create_study(
        project=project,
        name=name,
        slug=free_slug(name, taken=taken, otherwise="study"),
        dataset=dataset,
        instrument=instrument,
        texts={"title": name, "consent": CONSENT, "instructions": INSTRUCTIONS},
        design={
            "items_each": max(1, min(ITEMS_EACH, dataset.items.count())),
            "item_template": {"item_fields": _scenario_fields(dataset, instrument)},
            "minutes": MINUTES,
            "seed": 1,
        },
        platform=platform,
        by=by,
    )


def _scenario_fields(dataset: Dataset, instrument: Instrument) -> list[str]:
    """What there is to show of the items, without the texts that the questions offer as answers."""
    questions = instrument.questionnaire.questions
    offered = set(text_fields(questions)) - set(span_fields(questions))
    fields = shown_fields(dataset) or field_names(dataset)
    return [field for field in fields if field not in offered] or fields


def draft_digest(study: Study) -> str:
    """Another one after each change to what the study is made of."""
    return content_hash(file_of(study))


@transaction.atomic
def change_draft(*, study: Study, seen: str, by: User | None, **fields: Any) -> Study:
    """The draft with these fields of the model changed. `seen` is the draft_digest of what the person started from.

    Sessions of people who only tried the draft out go, since their screens may not be the draft's any more.
    Raises NotADraftError, and DraftChangedError where somebody else has saved another draft; then nothing is changed.
    """
    fresh = (
        Study.objects.select_for_update(no_key=True, of=("self",))
        .select_related("dataset", "instrument")
        .get(pk=study.pk)
    )
    if fresh.status != Study.Status.DRAFT:
        raise NotADraftError("The study was opened, so it does not change any more: make a new version.")
    if draft_digest(fresh) != seen:
        raise DraftChangedError
    for name, value in fields.items():
        setattr(fresh, name, value)
    fresh.save(update_fields=[*fields])
    fresh.sessions.filter(pilot=True).delete()
    audit(project=fresh.project, user=by, action="study changed", study=fresh.pk, name=str(fresh))
    return fresh


@transaction.atomic
def copy_study(*, study: Study, by: User | None) -> Study:
    """The draft after all versions of the study; one that is there already, or a new one that is as `study` is."""
    lock_versions(study.project, study.slug)
    latest = study.project.studies.filter(slug=study.slug).order_by("-version")[0]
    if latest.status == Study.Status.DRAFT:
        return latest
    return create_study(
        project=study.project,
        name=study.name,
        slug=study.slug,
        dataset=study.dataset,
        instrument=study.instrument,
        texts=study.texts,
        design=study.design,
        demographics=study.demographics,
        completion_codes=study.completion_codes,
        translations=study.translations,
        filters=study.filters,
        platform=Study.Platform(study.platform),
        by=by,
    )
