"""Submissions come in by the interface, by file and by messages, and give places back."""

import json

import pytest
from django.utils import timezone

from projects.crypto import decrypt
from studies.models import PlatformEvent, PlatformIdentity, PlatformSubmission, Session
from studies.platform_news import FileFaultsError
from studies.platform_signatures import SignatureError
from studies.services import delete_person
from studies.services.people import delete_expired_ids
from studies.services.platform_accounts import AccountError, save_account
from studies.services.platform_messages import receive_message
from studies.services.platform_sync import (
    connected_studies,
    import_submissions,
    last_pull,
    pull_and_note,
    pull_submissions,
)
from tests.studies.conftest import Participant
from tests.studies.platform_server import SECRET, STUDY, TOKEN, SigningKey, signed_headers

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(connected):
    """Somebody who has a place, came with submission `sub1` and runs."""
    found = Participant(connected, pid="pid1", submission="sub1")
    found.go_to("item")
    return found


def submission(name="sub1"):
    return next(found for found in PlatformSubmission.objects.all() if decrypt(found.submission_encrypted) == name)


def test_secrets_are_stored_encrypted_and_an_empty_one_keeps_the_stored(connected):
    account = connected.platform_account
    assert TOKEN not in account.token_encrypted
    saved = save_account(project=connected.project, name="Laboratory", account=account)
    assert decrypt(saved.token_encrypted) == TOKEN
    assert decrypt(saved.webhook_secret_encrypted) == SECRET
    with pytest.raises(AccountError, match="Give the token"):
        save_account(project=connected.project, name="Other")
    with pytest.raises(AccountError, match="already"):
        save_account(project=connected.project, name="Laboratory", token="t")


def test_a_pull_brings_status_and_code_of_who_came_and_who_did_not(connected, person, platform):
    platform.add("sub1", "AWAITING REVIEW", "pid1", study_code="DONE42", completed_at="2026-11-30T09:05:00Z")
    platform.add("sub2", "RESERVED", "pid2")
    platform.add("sub3", "PONDERING", "pid3")
    taken = pull_submissions(study=connected)
    assert (taken.read, taken.new, taken.changed, taken.given_back) == (2, 1, 2, 0)
    assert "PONDERING" in taken.faults[0]
    assert (submission().status, submission().code) == ("AWAITING REVIEW", "DONE42")
    assert submission().identity.session == person.session
    assert submission("sub2").identity.session is None
    again = pull_submissions(study=connected)
    assert (again.new, again.changed) == (0, 0)


def test_who_is_known_before_they_come_gets_their_session_then(connected, platform):
    platform.add("sub2", "ACTIVE", "pid2")
    pull_submissions(study=connected)
    late = Participant(connected, pid="pid2", submission="sub2")
    late.enter()
    assert PlatformIdentity.objects.get().session == late.session


def test_who_was_deleted_on_request_is_not_taken_in_again_unless_they_come_back(connected, person, platform):
    platform.add("sub1", "AWAITING REVIEW", "pid1")
    pull_submissions(study=connected)
    delete_person(study=connected, participant_id="pid1", by=None)
    assert (pull_submissions(study=connected).new, PlatformIdentity.objects.count()) == (0, 0)
    Participant(connected, pid="pid1", submission="sub2").enter()
    assert pull_submissions(study=connected).new == 1


def test_a_return_or_time_out_there_gives_the_place_back_unless_another_submission_lives(connected, person, platform):
    person.submission = "sub9"
    person.enter()  # the same person again, with another submission: one session
    platform.add("sub1", "RETURNED", "pid1")
    platform.add("sub9", "ACTIVE", "pid1")
    assert pull_submissions(study=connected).given_back == 0
    platform.add("sub9", "TIMED-OUT", "pid1")
    assert pull_submissions(study=connected).given_back == 1
    session = Session.objects.get()
    assert (session.given_back_why, session.status) == ("timed_out", "started")


@pytest.mark.parametrize("comes_before", [True, False])
def test_who_left_there_before_a_place_was_dealt_goes_on_and_takes_none(connected, platform, comes_before):
    gone, other = (Participant(connected, pid=f"pid{n}", submission=f"sub{n}") for n in (1, 2))
    if comes_before:
        gone.enter()
    platform.add("sub1", "RETURNED", "pid1")
    assert pull_submissions(study=connected).given_back == comes_before
    for person in (gone, other):
        person.go_to("")
    sessions = Session.objects.order_by("number")
    assert [(one.place, one.given_back_why, one.late) for one in sessions] == [(1, "returned", True), (1, "", False)]


def test_a_failed_pull_is_kept_for_the_page_and_changes_nothing(connected, person, platform):
    platform.faults = [401]
    pull_and_note(connected)
    assert "does not accept the token" in last_pull(connected)["text"]
    assert submission().status == ""
    pull_and_note(connected)
    assert last_pull(connected)["worked"]


def test_a_file_is_taken_in_as_the_interface_is(connected, person, researcher):
    content = b"Submission id,Participant id,Status\nsub1,pid1,RETURNED\n"
    assert import_submissions(study=connected, content=content, by=researcher).given_back == 1
    assert Session.objects.get().given_back_why == "returned"


def test_ids_that_were_deleted_when_their_day_came_do_not_come_back(connected, person, researcher):
    connected.retain_until = timezone.now().date()
    connected.save()
    delete_expired_ids(connected.retain_until)
    assert not connected_studies().exists()
    with pytest.raises(FileFaultsError, match="are deleted"):
        import_submissions(study=connected, content=b"", by=researcher)


def test_a_file_that_was_made_before_does_not_undo_a_message(connected, person, researcher):
    receive(connected, message(), signed_headers(message(), at=timezone.now().timestamp(), event="e1"))
    content = b"Submission id,Participant id,Status,Started at\nsub1,pid1,ACTIVE,2026-11-01T09:00:00Z\n"
    taken = import_submissions(study=connected, content=content, by=researcher)
    assert (taken.changed, taken.older) == (0, 1)
    assert "newer news" in str(taken)
    assert submission().status == "RETURNED"


def message(status="RETURNED", name="sub1"):
    return json.dumps({"event_type": "submission.status.change", "resource_id": name, "status": status}).encode()


def receive(study, body, headers):
    return receive_message(account=study.platform_account, headers=headers, body=body, now=timezone.now())


def test_a_message_changes_the_status_once(connected, person):
    headers = signed_headers(message(), at=timezone.now().timestamp(), event="e1")
    assert receive(connected, message(), headers)
    assert not receive(connected, message(), headers)
    assert PlatformEvent.objects.count() == 1
    assert submission().status == "RETURNED"
    assert Session.objects.get().given_back_at


@pytest.mark.parametrize("change", ["body", "secret", "time", "old", "early", "empty"])
def test_what_the_platform_did_not_sign_just_now_changes_nothing(connected, person, change):
    now = timezone.now().timestamp()
    at = {"old": now - 400, "early": now + 400}.get(change, now)
    headers = signed_headers(message(), at=at, event="e1", secret="another" if change == "secret" else SECRET)
    if change == "time":
        headers["X-Prolific-Request-Timestamp"] = str(int(now) - 1)
    if change == "empty":
        headers = {}
    with pytest.raises(SignatureError):
        receive(connected, message("APPROVED") if change == "body" else message(), headers)
    assert submission().status == ""
    assert not PlatformEvent.objects.exists()


def test_older_news_never_replace_newer_ones(connected, person, platform):
    now = timezone.now().timestamp()
    late = signed_headers(message("AWAITING REVIEW"), at=now, event="e2")
    assert receive(connected, message("AWAITING REVIEW"), late)
    early = signed_headers(message("ACTIVE"), at=now, event="e1") | {"X-Timestamp": str(int(now) - 60)}
    assert not receive(connected, message("ACTIVE"), early)
    # What is not signed cannot make a message newer than its signature.
    boast = signed_headers(message("ACTIVE"), at=now - 30, event="e3") | {"X-Timestamp": str(int(now) + 10**6)}
    assert not receive(connected, message("ACTIVE"), boast)
    assert submission().status == "AWAITING REVIEW"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"event_type": "study.status.change", "resource_id": "x"}',
        message("?"),
        message(name="unknown"),
    ],
)
def test_messages_of_no_use_are_taken_and_forgotten(connected, person, body):
    assert not receive(connected, body, signed_headers(body, at=timezone.now().timestamp(), event="e1"))
    assert submission().status == ""


ADDRESS = "http://testserver"


@pytest.fixture(scope="module")
def key():
    return SigningKey("first")


@pytest.fixture
def signed(connected, platform, key):
    platform.keys = [key.public]
    connected.signed_entry = True
    connected.save()
    return connected


def enter(client, study, key, pid="pid1", **changes):
    ids = {"PROLIFIC_PID": pid, "STUDY_ID": STUDY, "SESSION_ID": f"of-{pid}"}
    token = key.sign(f"{ADDRESS}/s/{study.key}/", ids, **changes) if key else None
    return client.get(f"/s/{study.key}/", ids | ({"prolific_token": token} if token else {}))


def test_a_signed_link_lets_in_and_its_keys_are_asked_for_once_a_day(client, signed, key, platform):
    assert enter(client, signed, key).status_code == 302
    assert enter(client, signed, key, "pid2").status_code == 302
    assert platform.requests == [("GET", "/.well-known/study/jwks.json")]


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"iss": "https://www.example.com"},
        {"aud": "https://elsewhere.example/"},
        {"sub": "of-another"},
        {"prolific": {"PROLIFIC_PID": "another", "STUDY_ID": STUDY, "SESSION_ID": "of-pid1"}},
        {"prolific": {"PROLIFIC_PID": "pid1", "STUDY_ID": "other", "SESSION_ID": "of-pid1"}},
        {"prolific": None},
    ],
    ids=str,
)
def test_a_link_that_was_not_signed_so_lets_nobody_in(client, signed, key, changes):
    response = enter(client, signed, key, **changes)
    assert response.status_code == 403
    assert "no longer valid" in response.content.decode()
    assert not Session.objects.exists()


def test_no_token_and_another_s_key_let_nobody_in(client, signed, platform):
    assert enter(client, signed, None).status_code == 403
    forger = SigningKey("first")
    assert enter(client, signed, forger).status_code == 403
    assert not Session.objects.exists()


def test_a_new_key_of_the_platform_is_fetched_and_forged_ones_do_not_make_it_ask_all_the_time(
    client, signed, key, platform
):
    enter(client, signed, key)
    new = SigningKey("second")
    platform.keys = [new.public]
    assert enter(client, signed, new, "pid2").status_code == 302
    for _ in range(3):
        assert enter(client, signed, SigningKey("forged"), "pid3").status_code == 403
    assert len(platform.requests) == 2


def test_when_the_keys_cannot_be_had_the_page_says_so_and_nothing_is_recorded(client, signed, key, platform):
    platform.faults = [500]
    response = enter(client, signed, key)
    assert response.status_code == 503
    assert "cannot be checked" in response.content.decode()
    assert not Session.objects.exists()
    assert enter(client, signed, key).status_code == 302


def test_a_refresh_after_the_token_s_time_goes_by_the_cookie_for_that_person_only(client, signed, key, platform):
    enter(client, signed, key)
    platform.faults = [500] * 3  # the platform is not needed for it
    assert enter(client, signed, key, exp=1)["Location"].endswith("?note=resumed")
    assert enter(client, signed, key, "pid2", exp=1).status_code == 403
    assert Session.objects.count() == 1
