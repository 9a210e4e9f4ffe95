"""PACT's study of people, made of a dataset of scenarios that the project has."""

from typing import Any

from django.db import transaction
from django.db.models.fields.json import KeyTextTransform

from materials.models import Dataset
from materials.services import publish_instrument
from projects.models import User
from protocols.pact.human_study import INSTRUMENT, PER_COUNTRY, QUESTIONS, human_study, new_codes
from studies.models import Study
from studies.services import create_study_from_file

TITLE = "Personal choice and norm"


def study_data(*, dataset: Dataset, contact: str, per_country: int = PER_COUNTRY, seed: int = 1) -> dict[str, Any]:
    """The study's file, with new completion codes. Raises HumanStudyError."""
    country = KeyTextTransform("receiver_country", "content")
    countries = dataset.items.annotate(country=country).filter(country__isnull=False).values_list("country", flat=True)
    return human_study(
        set(countries), dataset=dataset.slug, contact=contact, codes=new_codes(), per_country=per_country, seed=seed
    )


@transaction.atomic
def make_people_study(*, dataset: Dataset, contact: str, per_country: int, seed: int, by: User | None) -> Study:
    """A draft that can be opened, its questions published; the next version where the project has this study.

    Raises HumanStudyError where the scenarios' countries do not fit, StudyNotReadyError with what else the items lack;
    then nothing is made.
    """
    data = study_data(dataset=dataset, contact=contact, per_country=per_country, seed=seed)
    publish_instrument(project=dataset.project, name=INSTRUMENT, title=TITLE, questions=QUESTIONS, by=by)
    return create_study_from_file(project=dataset.project, data=data, by=by)
