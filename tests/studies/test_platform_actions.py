"""Lists for the platform: planned, confirmed by a person, sent once; and the pages for it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from projects.crypto import decrypt
from studies.models import PlatformAction, PlatformSubmission
from studies.platform_api import PlatformClient
from studies.services import enter, open_study
from studies.services import platform_actions as lists
from studies.services.platform_actions import PlanError, confirm_list, plan_list, send_list, settle_list
from studies.services.platform_sync import PULL, pull_submissions
from studies.tasks import pull_submissions as pull_submissions_task
from studies.tasks import send_platform_list
from tests.studies.platform_server import TOKEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    """What is handed to the workers."""
    found = []
    monkeypatch.setattr(lists, "_enqueue", found.append)
    return found


@pytest.fixture
def people(connected, platform, sent):
    """Three people whose submissions wait for a review; `person-s1` and so on are their ids there."""
    for name in ("s1", "s2", "s3"):
        enter(connected, participant_id=f"person-{name}", submission_id=name)
        platform.add(name, "AWAITING REVIEW")
    pull_submissions(study=connected)
    return list(PlatformSubmission.objects.order_by("pk").values_list("pk", flat=True))


def plan(study, people, researcher, kind="bonus", amount=Decimal("1.50"), reason=""):
    return plan_list(study=study, kind=kind, submissions=people, amount=amount, reason=reason, by=researcher).batch


def states():
    return sorted(PlatformAction.objects.values_list("status", flat=True))


def test_nothing_is_sent_before_somebody_confirmed_the_list_and_then_once(
    connected, people, platform, researcher, sent
):
    batch = plan(connected, people, researcher)
    send_list(batch)
    assert not platform.prepared
    assert confirm_list(study=connected, batch=batch, by=researcher) == 3
    assert confirm_list(study=connected, batch=batch, by=researcher) == 0
    assert sent == [batch]
    send_list(batch)
    send_list(batch)
    assert platform.prepared == {"bonus1": "s1,1.50\ns2,1.50\ns3,1.50"}
    assert platform.paid == ["bonus1"]
    assert states() == ["done"] * 3
    assert {action.platform_reference for action in PlatformAction.objects.all()} == {"bonus1"}


@pytest.mark.parametrize("fault", [500, "cut"])
def test_a_bonus_whose_payment_is_not_answered_waits_for_a_person(
    connected, people, platform, researcher, monkeypatch, fault
):
    batch = plan(connected, people, researcher)
    confirm_list(study=connected, batch=batch, by=researcher)
    pay = PlatformClient.pay_bonuses
    monkeypatch.setattr(
        PlatformClient, "pay_bonuses", lambda client, number: (platform.faults.append(fault), pay(client, number))
    )
    send_list(batch)
    send_list(batch)
    assert platform.posts("/pay/") == 1
    assert states() == ["sending"] * 3
    assert "look there" in PlatformAction.objects.first().problem
    with pytest.raises(PlanError):  # not again while nobody knows
        plan(connected, people, researcher)
    assert settle_list(study=connected, batch=batch, done=False, by=researcher) == 3
    assert plan(connected, people, researcher) != batch


def test_bonuses_are_sent_two_hundred_at_once_and_what_was_not_sent_stays_confirmed(
    connected, people, platform, researcher, monkeypatch
):
    monkeypatch.setattr(lists, "BONUSES_AT_ONCE", 2)
    batch = plan(connected, people, researcher)
    confirm_list(study=connected, batch=batch, by=researcher)
    platform.faults = ["", "", *[429] * 5]  # the first two are set up and paid, then the platform is busy
    send_list(batch)
    assert states() == ["confirmed", "done", "done"]
    send_list(batch)
    assert states() == ["done"] * 3
    assert list(platform.prepared.values()) == ["s1,1.50\ns2,1.50", "s3,1.50"]


def test_a_refusal_is_told_without_ids_and_the_others_go_on(connected, people, platform, researcher):
    batch = plan(connected, people, researcher, kind="approve")
    confirm_list(study=connected, batch=batch, by=researcher)
    platform.faults = [400]
    send_list(batch)
    assert states() == ["done", "done", "refused"]
    problem = PlatformAction.objects.get(status="refused").problem
    assert "refused" in problem
    assert "5f0c1a" not in problem
    assert [platform.submissions[name]["status"] for name in ("s2", "s3")] == ["APPROVED"] * 2
    assert PlatformSubmission.objects.filter(status="APPROVED").count() == 2


def test_a_request_to_return_carries_its_reason_and_is_a_message_sent_once(connected, people, platform, researcher):
    with pytest.raises(PlanError, match="the person reads it"):
        plan(connected, people, researcher, kind="request_return", reason=" ")
    batch = plan(connected, people[:1], researcher, kind="request_return", reason="You gave no consent.")
    confirm_list(study=connected, batch=batch, by=researcher)
    platform.faults = ["cut"]
    send_list(batch)
    assert platform.asked_to_return == [("s1", ["You gave no consent."])]
    assert states() == ["sending"]


def test_what_is_being_sent_just_now_cannot_be_settled_and_what_a_dead_worker_left_can(connected, people, researcher):
    batch = plan(connected, people, researcher)
    PlatformAction.objects.update(status="sending", sent_at=timezone.now())
    assert settle_list(study=connected, batch=batch, done=False, by=researcher) == 0
    PlatformAction.objects.update(sent_at=timezone.now() - timedelta(hours=1))
    assert settle_list(study=connected, batch=batch, done=True, by=researcher) == 3


def test_what_has_no_id_or_token_any_more_is_not_sent_and_says_so(connected, people, platform, researcher):
    PlatformSubmission.objects.filter(pk=people[0]).update(submission_encrypted="")
    with pytest.raises(PlanError):
        plan(connected, people[:1], researcher, kind="approve")
    batch = plan(connected, people[1:], researcher)
    confirm_list(study=connected, batch=batch, by=researcher)
    connected.platform_account.delete()
    send_list(batch)
    assert "not connected" in PlatformAction.objects.first().problem
    assert states() == ["confirmed"] * 2
    assert not platform.prepared


def test_lists_hold_only_what_can_be_done_and_nobody_twice(connected, people, researcher, draft):
    PlatformSubmission.objects.filter(pk=people[0]).update(status="RETURNED")
    second = open_study(study=draft(slug="second"), by=None)
    other = PlatformSubmission.objects.create(
        identity=enter(second, participant_id="x", submission_id="y").session.identity,
        status="AWAITING REVIEW",
    )
    planned = plan_list(study=connected, kind="approve", submissions=[*people, other.pk], by=researcher)
    assert (planned.actions, planned.left_out) == (2, 2)
    with pytest.raises(PlanError, match="Nothing of this"):
        plan(connected, people, researcher, kind="approve")
    for amount in (None, Decimal(0), Decimal(-1), Decimal(5000)):
        with pytest.raises(PlanError, match="more than 0 and at most 1000"):
            plan(connected, people, researcher, amount=amount)


def test_the_pages_lead_from_submissions_to_a_confirmed_list_and_show_no_id(
    connected, people, platform, researcher, client_as, sent
):
    client = client_as(researcher)
    base = f"/p/{connected.project.slug}/studies/{connected.pk}/platform/"
    page = client.get(base).content.decode()
    assert "Sent in there, not finished here." in page
    form = {"submission": people, "kind": "bonus", "amount": "2.25", "reason": ""}
    wrong = client.post(f"{base}lists/?show=all", form | {"amount": "2.255"})
    assert wrong.status_code == 422
    assert wrong.content.decode().count(" checked") == 3
    preview = client.post(f"{base}lists/", form, follow=True)
    assert "6.75" in preview.content.decode()
    address = preview.redirect_chain[-1][0]
    confirmed = client.post(f"{address}confirm/", follow=True).content.decode()
    assert "3 confirmed" in confirmed
    assert len(sent) == 1
    send_list(sent[0])
    done = client.get(address).content.decode()
    again = client.post(f"{base}lists/", form, follow=True).content.decode()
    assert "3 of them have been paid" in again
    assert client.get(f"{base}?show=different").status_code == 200
    for html in (page, preview.content.decode(), done, again):
        assert "person-s" not in html
        for submission in PlatformSubmission.objects.select_related("identity"):
            assert f">{decrypt(submission.submission_encrypted)}<" not in html
            assert submission.submission_digest not in html


def test_a_file_with_faults_changes_nothing_and_names_each_row(connected, people, researcher, client_as):
    client = client_as(researcher)
    base = f"/p/{connected.project.slug}/studies/{connected.pk}/platform/"
    content = b"Submission id,Participant id,Status\ns1,person-s1,APPROVED\ns2,person-s2,LOST\n,p,ACTIVE\n"
    response = client.post(f"{base}file/", {"file": SimpleUploadedFile("s.csv", content)})
    html = response.content.decode()
    assert response.status_code == 422
    assert "Row 3: the status" in html
    assert "Row 4: there is no submission id." in html
    assert not PlatformSubmission.objects.filter(status="APPROVED").exists()


def test_the_workers_know_what_they_are_asked_for():
    assert (send_platform_list.name, pull_submissions_task.name) == (lists.SEND, PULL)


def test_a_token_is_written_and_never_shown(project, researcher, client_as):
    client = client_as(researcher)
    base = f"/p/{project.slug}/studies/platform/"
    saved = client.post(f"{base}new/", {"name": "Lab", "token": TOKEN, "webhook_secret": "hush-hush"}, follow=True)
    again = client.post(saved.redirect_chain[-1][0], {"name": "Lab 2"}, follow=True)
    for html in (saved.content.decode(), again.content.decode(), client.get(base).content.decode()):
        assert TOKEN not in html
        assert "hush-hush" not in html
    assert decrypt(project.platform_accounts.get(name="Lab 2").token_encrypted) == TOKEN
