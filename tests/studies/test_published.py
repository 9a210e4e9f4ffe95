"""What a process keeps of a published study: never anything that can still change."""

import pytest

from studies.models import Study
from studies.published import find_screen, find_session
from studies.services import close_study, enter, enter_pilot, open_study
from tests.conftest import QUESTION
from tests.studies.conftest import Participant

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
    for keys in (("another", session.key), (study.key, "another")):
        assert find_session(*keys) is None
        assert find_screen(*keys, position=0) is None


@pytest.mark.django_db(transaction=True)  # a process keeps the condition of answers once it is committed
def test_a_page_about_an_item_and_its_answers_take_six_statements(draft, django_assert_num_queries):
    person = Participant(open_study(study=draft(questions=[QUESTION]), by=None))
    person.go_to("item")
    person.send({"answer": "yes"})  # the first makes the respondent and the condition
    address = person.go_to("item").action
    with django_assert_num_queries(4 + 2):  # and the beginning and the end of a transaction
        response = person.client.post(address, {"asked": "answer", "answer": "yes"})
    with django_assert_num_queries(2):
        person.get(response["Location"])
