"""A person deleted on request, with a receipt, and platform ids that go when their day has come."""

from datetime import date

import pytest

from projects.models import AuditEvent
from responses.models import Response
from studies.models import PlatformIdentity, PlatformSubmission, Session, Study
from studies.quality import filter_sessions
from studies.services.entry import id_ending
from studies.services.people import delete_expired_ids, delete_person
from tests.studies.conftest import Participant

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(study):
    for name in ("goes", "stays"):
        Participant(study, pid=name, submission=f"s-{name}").go_to("")
    PlatformSubmission.objects.update(status="APPROVED")
    return study


@pytest.mark.parametrize("who", [{"participant_id": " goes "}, {"number": "1"}])
def test_a_manager_deletes_one_person_and_gets_a_receipt(two, who, researcher, client_as):
    client = client_as(researcher)
    url = f"/p/{two.project.slug}/studies/{two.pk}/delete-person/"
    assert client.post(url, who).status_code == 422  # not ticked
    assert Session.objects.count() == 2
    response = client.post(url, who | {"sure": "on"}, follow=True)
    receipt = response.content.decode()
    for line in ("<dt>Session</dt><dd>1<", "<dt>Screens</dt><dd>8<", "<dt>Answers</dt><dd>9<", "researcher"):
        assert line in receipt
    assert "goes" not in receipt + str(AuditEvent.objects.first().detail)
    assert Session.objects.get().number == 2
    assert PlatformIdentity.objects.count() == PlatformSubmission.objects.count() == 1
    assert Response.objects.count() == 9
    again = client.post(url, who | {"sure": "on"})
    assert "nothing was deleted" in again.content.decode()


@pytest.mark.parametrize("who", [{}, {"participant_id": "goes", "number": "2"}, {"participant_id": "<b>"}])
def test_nobody_is_deleted_when_it_is_not_said_whom(two, who, researcher, client_as):
    url = f"/p/{two.project.slug}/studies/{two.pk}/delete-person/"
    assert client_as(researcher).post(url, who | {"sure": "on"}).status_code == 422
    assert Session.objects.count() == 2


def test_somebody_whom_only_the_platform_knows_can_be_deleted(two):
    PlatformIdentity.objects.filter(session__number=1).update(session=None)
    Session.objects.filter(number=1).delete()
    deleted = delete_person(study=two, participant_id="goes", by=None)
    assert (deleted.session, deleted.screens, deleted.platform_ids) == (None, 0, 2)


def test_a_study_whose_ids_are_deleted_lets_nobody_in_a_second_time_and_those_who_began_finish(study):
    person = Participant(study, pid="back")
    page = person.go_to("item")
    Study.objects.update(retain_until=date(2026, 12, 24))
    assert delete_expired_ids(date(2026, 12, 24)) == 1
    assert "This study is closed" in Participant(study, pid="back").enter().heading
    assert Session.objects.count() == 1
    person.send(person.right_answers(), page)
    person.go_to("")
    assert person.page.code == "DONE42"


def test_platform_ids_go_on_their_day_and_filters_see_the_same(two, researcher, client_as):
    url = f"/p/{two.project.slug}/studies/{two.pk}/retention/"
    client_as(researcher).post(url, {"retain_until": "2026-12-24"})
    before = filter_sessions(two)
    digests = set(Session.objects.values_list("person_digest", flat=True))
    assert delete_expired_ids(date(2026, 12, 23)) == 0
    assert delete_expired_ids(date(2026, 12, 24)) == 2
    assert delete_expired_ids(date(2026, 12, 25)) == 0
    assert filter_sessions(Study.objects.get()) == before
    assert set(PlatformIdentity.objects.values_list("participant_encrypted", flat=True)) == {""}
    assert set(PlatformSubmission.objects.values_list("submission_encrypted", flat=True)) == {""}
    assert digests.isdisjoint(Session.objects.values_list("person_digest", flat=True))
    assert delete_person(study=two, participant_id="goes", by=None) is None
    assert id_ending(Session.objects.get(number=1)) == ""
    assert AuditEvent.objects.get(action="platform ids deleted").detail == {"study": two.pk, "people": 2}
