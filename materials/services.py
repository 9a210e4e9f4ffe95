"""Writes to datasets, items and instruments."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import connection, transaction

from materials.models import Instrument
from materials.questions import QuestionError, parse_questions
from projects.models import Project, User
from projects.services import audit


def canonical_json(content: Mapping[str, Any]) -> str:
    """One text for equal contents. Raises ValueError for NaN and infinities, which JSON does not have."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_hash(content: Mapping[str, Any]) -> str:
    """sha256 over the content as canonical JSON."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


@transaction.atomic
def publish_instrument(
    *, project: Project, name: str, title: str, questions: Sequence[Mapping[str, Any]], by: User | None = None
) -> Instrument:
    """A new version of the instrument; the latest one again when nothing changed.

    Raises QuestionError when the questions cannot be an instrument or the name cannot be its name.
    """
    try:
        validate_slug(name)
    except ValidationError as error:
        what = f"{name!r} cannot name an instrument; use letters, digits, hyphens and underscores."
        raise QuestionError(what) from error
    questionnaire = parse_questions(list(questions))
    with connection.cursor() as cursor:  # two publishers at once would draw the same version number
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"instrument {name}", project.pk])
    versions = Instrument.objects.filter(project=project, name=name)
    latest = versions.order_by("-version").first()
    if latest and latest.questionnaire == questionnaire and latest.title == title:
        return latest
    number = latest.version + 1 if latest else 1
    audit(project=project, user=by, action="instrument published", name=name, version=number)
    stored = questionnaire.model_dump(mode="json")["questions"]
    return Instrument.objects.create(project=project, name=name, version=number, title=title, questions=stored)
