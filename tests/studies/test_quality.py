"""The filters on real sessions: who passes, and what the platform's records say."""

import pytest

from studies.filters import DEFAULT_FILTERS, parse_filters
from studies.models import PlatformSubmission, Session
from studies.quality import filter_sessions
from studies.services import StudyNotReadyError, enter, open_study
from tests.studies.conftest import Participant

pytestmark = pytest.mark.django_db


@pytest.fixture
def four(study):
    """Two who completed, one who failed the check, one on the way."""
    for name in ("a", "b"):
        Participant(study, pid=name, submission=f"s-{name}").go_to("")
    failing = Participant(study, pid="c", submission="s-c")
    failing.go_to("attention")
    failing.send({"colour": "red"})
    failing.go_to("")
    Participant(study, pid="d", submission="s-d").go_to("item")
    return study


def kept(study, simulated=False):
    return [row.kept for row in filter_sessions(study)[simulated].rows]


def test_a_new_study_has_the_six_filters_and_asks_the_platform(four, django_assert_num_queries):
    assert four.parsed_filters == DEFAULT_FILTERS
    with django_assert_num_queries(2):
        assert kept(four) == [3, 3, 0, 0, 0, 0]
    PlatformSubmission.objects.update(status="AWAITING REVIEW", code="DONE42")
    assert kept(four) == [3, 3, 3, 2, 2, 2]
    passed = filter_sessions(four)[False].passed
    assert passed == list(Session.objects.filter(status="completed").order_by("number").values_list("pk", flat=True))


def test_simulated_people_are_apart_and_unknown_to_the_platform(four):
    session = enter(four, participant_id="bot", submission_id="s-bot", simulated=True).session
    session.status, session.finished_at = "completed", session.started_at
    session.save()
    assert kept(four, simulated=True) == [1] * 6
    assert kept(four)[0] == 3


def test_one_submission_with_two_people_is_nobodys(four):
    PlatformSubmission.objects.update(status="APPROVED", code="DONE42")
    digest = PlatformSubmission.objects.get(identity__session__number=1).submission_digest
    PlatformSubmission.objects.filter(identity__session__number=2).update(submission_digest=digest)
    assert kept(four) == [3, 3, 3, 2, 0, 0]


def test_straight_lining_is_read_from_the_page_and_not_from_the_codes(study):
    first, varied = Participant(study, pid="first"), Participant(study, pid="varied")
    first.enter()
    while first.page.screen:
        shown = first.page.screen == "item" and first.session.screens.get(answered_at=None, shown_at__isnull=False)
        places = {code: shown.orders[code][0] for code in ("personal", "norm")} if shown else {}
        first.send(first.right_answers() | places)
    varied.go_to("")
    filters = parse_filters([{"kind": "straight_lining", "questions": ["personal", "norm"], "at_least": 3}])
    found = filter_sessions(study, filters)[False]
    assert found.passed == [varied.session.pk]


def test_filters_that_cannot_be_used_keep_a_study_from_opening(draft):
    lines = {"kind": "straight_lining", "questions": ["why"]}
    with pytest.raises(StudyNotReadyError, match="The filters name why"):
        open_study(study=draft(filters=[lines]), by=None)
    with pytest.raises(StudyNotReadyError, match="Filters, at 1"):
        open_study(study=draft(slug="other", filters=[{"kind": "luck"}]), by=None)
