"""Versions of instruments."""

import pytest
from django.db import DatabaseError

from materials.services import publish_instrument
from projects.models import AuditEvent, Project, User

QUESTION = {"kind": "text", "code": "why", "text": "Why?"}


def publish(project: Project, by: User, text: str = "Why?"):
    return publish_instrument(project=project, name="why", title="Why", questions=[QUESTION | {"text": text}], by=by)


def test_a_change_makes_a_version_that_is_logged_and_nothing_changed_makes_none(project: Project, researcher: User):
    first, again, changed = (
        publish(project, researcher),
        publish(project, researcher),
        publish(project, researcher, "?"),
    )
    assert (first.version, again, changed.version) == (1, first, 2)
    events = AuditEvent.objects.filter(action="instrument published", user=researcher).order_by("pk")
    assert [event.detail for event in events] == [{"name": "why", "version": 1}, {"name": "why", "version": 2}]


def test_a_version_never_changes(project: Project, researcher: User):
    instrument = publish(project, researcher)
    instrument.title = "Because"
    with pytest.raises(DatabaseError, match="never changes"):
        instrument.save()
