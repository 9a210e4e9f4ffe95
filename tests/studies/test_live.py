"""The live page of a study that uses all there is to watch, and the page of one session."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from studies.models import PlatformSubmission, Screen, Session
from studies.services import enter_pilot, give_back, open_study
from tests.studies.conftest import CODES, DEMOGRAPHICS, KNOWS, Participant
from tests.studies.test_researcher_pages import page, row

pytestmark = pytest.mark.django_db

WORDS = {"kind": "text", "code": "words", "text": "What else?", "required": False}
DESIGN = {
    "strata": ["country"],
    "quotas": [{"attributes": {"country": "Brazil"}, "most": 3}],
    "factors": [{"name": "framing", "levels": [{"code": "a", "text": "Imagine this."}, {"code": "b", "text": "So."}]}],
    "comprehension": {"questions": [KNOWS], "expected": {"about": "customs"}},
    "groups": [["personal", "norm"], ["importance", "why"]],
    "balance": ["relation"],
}


@pytest.fixture
def watched(draft):
    """One who completed after a second try, one who returned, one who left at the check, one over the quota's limit."""
    study = open_study(
        study=draft(
            design=DESIGN, demographics=[*DEMOGRAPHICS, WORDS], completion_codes=CODES | {"quota_full": "FULL42"}
        ),
        by=None,
    )
    people = [Participant(study, pid=name, submission=f"s-{name}") for name in "abcd"]
    for person in people[:3]:
        person.go_to("comprehension")
    people[3].go_to("")
    people[0].send({"about": "sums"})
    for person in people[:3]:
        person.send({"about": "customs"})
    people[0].go_to("")
    give_back(people[1].session, Session.GivenBack.RETURNED)
    Screen.objects.filter(session=people[2].session).update(shown_at=timezone.now() - timedelta(hours=1))
    Session.objects.filter(pk=people[2].session.pk).update(started_at=timezone.now() - timedelta(hours=1))
    PlatformSubmission.objects.update(status="AWAITING REVIEW")
    return study


def test_places_quotas_checks_pages_and_filters(watched, viewer, client_as):
    html = page(client_as(viewer), watched)
    assert row(html, "Returned on the platform") == ["1"]
    assert row(html, "Quota full") == ["1"]
    assert row(html, "country: Brazil") == ["2 of 3"]
    cells = [row(html, f"country: Brazil, framing: {level}") for level in "ab"]
    assert [sum(int(cell[at]) for cell in cells) for at in range(3)] == [2, 1, 1]  # held, completed, given back
    assert row(html, "Comprehension, first try") == ["3", "1"]
    assert row(html, "Comprehension, all 2 tries") == ["3", "0"]
    assert row(html, "Attention: To show that you read this") == ["1", "0"]
    assert row(html, "1. Consent") == ["4", "0"]
    assert row(html, "3. Instructions") == ["3", "0"]
    assert "3 did not come to the end" in html
    assert row(html, "40 or over") == ["1"]
    assert "What else?" not in html
    assert row(html, "Consented and completed") == ["4", "3", "1"]
    assert sum(int(row(html, f"relation: {level}")[0]) for level in ("same", "close", "far")) == 6
    assert sum(int(row(html, f"customs-items-{index}")[0]) for index in range(9)) == 3


@pytest.mark.parametrize(
    ("query", "numbers"),
    [("", "4321"), ("who=people&state=completed", "1"), ("who=simulated", ""), ("who=trials", "5"), ("page=9", "4321")],
)
def test_all_sessions_are_listed_and_can_be_narrowed_down(watched, viewer, client_as, query, numbers):
    enter_pilot(watched, token="t")
    html = page(client_as(viewer), watched, f"sessions/?{query}")
    assert "".join(re.findall(r'/sessions/(\d+)/"', html)) == numbers


def test_one_session_screen_by_screen_without_saying_who_it_was(watched, viewer, client_as):
    session = Session.objects.get(number=1)
    Screen.objects.filter(session=session, position=3).update(paradata={"seconds": 4.25, "pastes": 2})
    screen = Screen.objects.filter(session=session, kind="item", group=0).select_related("item").first()
    html = page(client_as(viewer), watched, "sessions/1/")
    order = [
        screen.item.content[f"option_{'culture' if code == 'culture' else 'personal'}"]
        for code in screen.orders["norm"]
    ]
    assert f"In this order: {' / '.join(order)}" in html
    assert f"framing: {session.cell['framing']}" in html
    assert "<dt>pastes</dt><dd>2</dd>" in html
    assert "<dt>Tries before</dt><dd>1</dd>" in html
    assert "Awaiting review" in html
    assert "Delete this person" not in html
    for secret in (session.key, session.person_digest, ">a<", "s-a"):
        assert secret not in html
