"""The platform's interface against a server on loopback, and what is read of its answers. No database."""

from decimal import Decimal

import pytest

from studies import platform_api
from studies.platform_api import BusyError, NoAnswerError, PlatformClient, PlatformError
from studies.platform_news import FileFaultsError, read_file
from studies.platform_words import difference
from tests.studies.platform_server import STUDY, TOKEN, PlatformServer


@pytest.fixture
def platform():
    with PlatformServer() as server:
        server.add("s1", "AWAITING REVIEW")
        yield server


@pytest.fixture
def waits():
    return []


@pytest.fixture
def client(platform, waits):
    with PlatformClient(platform.base_url, TOKEN, wait=waits.append) as opened:
        yield opened


def test_all_pages_of_twenty_are_read_from_the_platform_and_no_other_host(platform, client):
    for number in range(44):
        platform.add(f"more{number}")
    assert len({found["id"] for found in client.submissions(STUDY)}) == 45
    assert len(platform.requests) == 3


def test_a_busy_platform_is_asked_again_when_it_wants_and_a_failing_one_more_and_more_rarely(platform, client, waits):
    platform.faults = [429, 429, 500, 503]
    assert [found["id"] for found in client.submissions(STUDY)] == ["s1"]
    assert waits == [7, 7, 8, 16]


def test_patience_ends_and_no_wait_is_longer_than_a_minute(platform, client, waits):
    platform.faults, platform.retry_after = [429] * 9, "86400"
    with pytest.raises(BusyError, match="in some minutes"):
        list(client.submissions(STUDY))
    assert waits == [60, 60, 60, 60]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [(401, "does not accept the token"), (404, "does not know"), (400, "no such thing as \\(id\\)")],
)
def test_a_refusal_is_not_repeated_and_says_what_to_do_without_an_id(platform, client, waits, fault, sentence):
    platform.faults = [fault]
    with pytest.raises(PlatformError, match=sentence):
        client.approve("s1")
    assert not waits


@pytest.mark.parametrize("fault", [500, "slow", "cut"])
def test_a_payment_whose_answer_is_lost_is_sent_once(platform, client, fault, monkeypatch):
    prepared = client.prepare_bonuses(STUDY, {"s1": Decimal("4.25")})
    assert platform.prepared[prepared] == "s1,4.25"
    client._http.timeout = 0.2
    platform.faults = [fault]
    with pytest.raises(NoAnswerError, match="look there"):
        client.pay_bonuses(prepared)
    assert platform.posts("/pay/") == 1


def test_what_cannot_be_reached_was_not_sent():
    with PlatformClient("http://127.0.0.1:9", TOKEN) as client, pytest.raises(BusyError, match="cannot be reached"):
        client.pay_bonuses("b")


def test_a_list_that_leads_back_to_itself_ends(platform, client, monkeypatch):
    monkeypatch.setattr(platform_api, "MOST_PAGES", 3)
    platform.list_page = lambda query: (
        200,
        {"results": [], "_links": {"next": {"href": f"/api/v1/submissions/?study={STUDY}"}}},
    )
    with pytest.raises(PlatformError, match="does not end"):
        list(client.submissions(STUDY))


HEAD = "Submission id,Participant id,Status,Started at,Completed at,Completion code\n"


def test_a_file_of_submissions_is_read():
    text = (
        HEAD + "s1,p1,AWAITING REVIEW,2026-11-30T09:00:00.000000Z,2026-11-30 09:05:00,DONE42\r\ns2,p2,TIMED-OUT,,,\n\n"
    )
    first, second = read_file(b"\xef\xbb\xbf" + text.encode())
    assert (first.submission_id, first.status, first.code) == ("s1", "AWAITING REVIEW", "DONE42")
    assert (first.completed_at - first.started_at).total_seconds() == 300
    assert (second.status, second.started_at) == ("TIMED-OUT", None)


def test_every_fault_of_a_file_is_named_by_row_and_without_ids():
    rows = [
        "s1,p1,DONE,,,",
        "s2,p2,ACTIVE,,",
        ",p3,ACTIVE,,,",
        "s4,p 4,ACTIVE,,,",
        "s5,p5,ACTIVE,soon,,",
        "s6,p6,ACTIVE,,,",
        "s6,p6,ACTIVE,,,",
    ]
    with pytest.raises(FileFaultsError) as caught:
        read_file((HEAD + "\n".join(rows)).encode())
    assert caught.value.faults == [
        "Row 2: the status 'DONE' is none of the platform's.",
        "Row 3: it has 5 cells and the first row 6.",
        "Row 4: there is no submission id.",
        "Row 5: its participant id is not made of letters and digits.",
        "Row 6: 'soon' is no time like 2026-11-30T09:05:00Z.",
        "Row 8: its submission is in row 7 already.",
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "no submission id and no participant id and no status"),
        (HEAD.encode(), "no submissions"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_what_is_no_file_of_submissions_is_said(content, fault):
    with pytest.raises(FileFaultsError, match=fault):
        read_file(content)


@pytest.mark.parametrize(
    ("here", "there", "code", "words"),
    [
        ("completed", "APPROVED", "DONE", ""),
        ("completed", "AWAITING REVIEW", "", ""),
        ("completed", "AWAITING REVIEW", "FAIL", "with a code that does not belong"),
        ("completed", "ACTIVE", "", "the code was not entered yet"),
        ("completed", "RETURNED", "", "Completed here, returned there"),
        ("started", "RETURNED", "", ""),
        ("started", "APPROVED", "DONE", "not finished here"),
        ("no_consent", "ACTIVE", "", "Ended here, still open there"),
        ("no_consent", "APPROVED", "", "Approved there, not completed here"),
        ("", "APPROVED", "", "never came here"),
        ("started", "", "", "Nothing heard"),
    ],
)  # fmt: skip
def test_differences_are_told_in_words(here, there, code, words):
    found = difference(here=here, there=there, code=code, right_code="DONE")
    assert words in found
    assert bool(found) == bool(words)
