"""What a process keeps of a published study: never anything that can still change."""

import pytest

from studies.models import Study
from studies.published import find_session
from studies.services import close_study, enter, enter_pilot, open_study

pytestmark = pytest.mark.django_db


def test_a_published_study_is_read_once_and_a_session_each_time(study, django_assert_num_queries):
    session = enter(study, participant_id="ada", submission_id="s1").session
    find_session(study.key, session.key)
    with django_assert_num_queries(1):
        found = find_session(study.key, session.key)
        assert (found, found.study.parsed_design, found.study.project.slug) == (
            session,
            study.parsed_design,
            study.project.slug,
        )
    close_study(study=study, by=None)
    assert find_session(study.key, session.key).study == study
    study.delete()
    assert find_session(study.key, session.key) is None


def test_a_draft_is_shown_as_it_stands(draft):
    study = draft()
    session = enter_pilot(study, token="t").session
    for title in ("First", "Second"):
        Study.objects.filter(pk=study.pk).update(texts=study.texts | {"title": title})
        assert find_session(study.key, session.key).study.parsed_texts.title == title
    open_study(study=study, by=None)
    assert find_session(study.key, session.key).study.opened_at is not None


def test_a_session_is_found_only_with_the_key_of_its_study(study):
    session = enter(study, participant_id="ada", submission_id="s1").session
    assert find_session("another", session.key) is None
    assert find_session(study.key, "another") is None
