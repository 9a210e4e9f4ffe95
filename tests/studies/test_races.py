"""Real threads against the real database: what arrives at the same moment is settled once."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from responses.models import Response
from studies.models import PlatformIdentity, Session
from studies.published import find_screen
from studies.services import (
    AnswersRefusedError,
    close_study,
    delete_person,
    enter,
    give_back,
    open_study,
    show_screen,
    submit_screen,
)
from tests.studies.conftest import CODES, Participant

pytestmark = pytest.mark.django_db(transaction=True)


def together(n, act):
    """What act(0), ..., act(n - 1) return, all let go at the same moment, each on its own connection."""
    barrier = threading.Barrier(n)

    def one(index):
        try:
            connection.ensure_connection()
            barrier.wait()
            return act(index)
        finally:
            connection.close()

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))


def screen_at(session, position=0):
    """As each request reads it."""
    return find_screen(session.study.key, session.key, position=position)


def test_twenty_entries_of_one_person_are_one_session(study):
    entered = together(20, lambda index: enter(study, participant_id="p", submission_id=f"s{index}"))
    assert len({one.session.pk for one in entered}) == 1
    assert Counter(one.resumed for one in entered) == {True: 19, False: 1}
    assert Session.objects.count() == PlatformIdentity.objects.count() == 1
    assert Session.objects.get().screens.count() == 1


def test_twenty_people_at_once_get_the_numbers_1_to_20(study):
    entered = together(20, lambda index: enter(study, participant_id=f"p{index}", submission_id="s"))
    assert sorted(one.session.number for one in entered) == list(range(1, 21))


def test_ten_submits_of_one_screen_store_one_set_of_answers(study):
    person = Participant(study)
    page = person.go_to("item")
    position = int(page.action.split("/")[-2])
    session = person.session

    def submit(index):
        value = "culture" if index % 2 else "preference"
        return submit_screen(screen=screen_at(session, position), answers={"personal": value, "norm": value}), value

    results = together(10, submit)
    assert Counter(result.state for result, _ in results) == {"stored": 1, "kept": 9}
    winner = next(value for result, value in results if result.state == "stored")
    assert list(Response.objects.values_list("value", flat=True)) == [winner, winner]
    assert all(result.screen.answers == {"personal": winner, "norm": winner} for result, _ in results)


def test_consent_given_twice_at_once_lays_out_one_set_of_screens(study):
    session = enter(study, participant_id="p", submission_id="s").session
    show_screen(screen_at(session))

    def agree(index):
        return submit_screen(screen=screen_at(session), answers={"consent": "yes"}).state

    assert Counter(together(8, agree)) == {"stored": 1, "kept": 7}
    assert session.screens.count() == 2


def test_yes_and_no_at_once_end_in_one_of_them(study):
    session = enter(study, participant_id="p", submission_id="s").session
    show_screen(screen_at(session))

    def decide(index):
        return submit_screen(screen=screen_at(session), answers={"consent": "no" if index % 2 else "yes"}).state

    assert Counter(together(8, decide)) == {"stored": 1, "kept": 7}
    session.refresh_from_db()
    agreed = session.screens.get(position=0).answers["consent"] == "yes"
    assert (session.status, session.screens.count()) == (("started", 2) if agreed else ("no_consent", 1))


def test_the_last_screen_sent_twice_completes_once(study):
    person = Participant(study)
    page = person.go_to("debrief")
    position, session = int(page.action.split("/")[-2]), person.session

    def finish(index):
        return submit_screen(screen=screen_at(session, position), answers={}).state

    assert Counter(together(6, finish)) == {"stored": 1, "kept": 5}
    session.refresh_from_db()
    assert (session.status, session.respondent.attributes["outcome"]) == ("completed", "completed")


def test_a_failed_check_and_the_last_screen_sent_twice_agree(study):
    person = Participant(study)
    person.go_to("attention")
    person.send({"colour": "red"})
    page = person.go_to("debrief")
    position, session = int(page.action.split("/")[-2]), person.session

    def finish(index):
        return submit_screen(screen=screen_at(session, position), answers={}).state

    assert Counter(together(6, finish)) == {"stored": 1, "kept": 5}
    session.refresh_from_db()
    assert (session.status, session.respondent.attributes["outcome"]) == ("failed_attention", "failed_attention")


def test_a_refused_and_an_accepted_form_at_once_leave_nothing_to_mend(study):
    person = Participant(study)
    page = person.go_to("item")
    position, session = int(page.action.split("/")[-2]), person.session

    def submit(index):
        answers = {"personal": "culture", "norm": "culture"} if index % 2 else {"personal": "culture"}
        try:
            return submit_screen(screen=screen_at(session, position), answers=answers).state
        except AnswersRefusedError:
            return "refused"

    assert Counter(together(8, submit))["stored"] == 1
    assert session.screens.get(position=position).refused == {}


def test_somebody_who_is_deleted_while_they_answer_is_gone_and_no_page_fails(study):
    """Answers lock their screen and then the session; deleting must not come from the other side."""
    people = [Participant(study, pid=f"p{index}") for index in range(6)]
    for person in people:
        person.go_to("item")

    def act(index):
        person = people[index // 2]
        if index % 2:
            return delete_person(study=study, participant_id=person.pid, by=None).session
        return person.client.post(
            person.page.action, {"asked": list(person.page.fields), "personal": "culture", "norm": "culture"}
        ).status_code

    results = together(12, act)
    assert results[1::2] == [1, 2, 3, 4, 5, 6]
    assert set(results[::2]) <= {302, 404}
    assert Session.objects.count() == Response.objects.count() == PlatformIdentity.objects.count() == 0


def test_nobody_enters_after_the_study_is_closed(study):
    """Entries and the closing queue up at the study's row: whoever got in was there before the closing."""

    def act(index):
        if index == 3:
            return close_study(study=study, by=None)
        try:
            return enter(study, participant_id=f"p{index}", submission_id="s").session.number
        except Exception as error:  # noqa: BLE001 - the name is what is compared
            return type(error).__name__

    results = together(12, act)
    numbers = [result for result in results if type(result) is int]
    assert sorted(numbers) == list(range(1, Session.objects.count() + 1))
    assert results.count("StudyNotOpenError") == 11 - len(numbers)


def at_demographics(study, n):
    """n people who are about to say where they live."""
    sessions = []
    for index in range(n):
        session = enter(study, participant_id=f"p{index}", submission_id="s").session
        show_screen(screen_at(session))
        submit_screen(screen=screen_at(session), answers={"consent": "yes"})
        show_screen(screen_at(session, 1))
        sessions.append(session)
    return sessions


def say_where(session):
    answers = {"country": "Brazil", "age_group": "older"}
    return submit_screen(screen=screen_at(session, 1), answers=answers).state


def test_a_quota_is_never_over_filled_and_no_place_is_shared(draft):
    design = {"quotas": [{"attributes": {"country": "Brazil"}, "most": 5}], "strata": ["country"]}
    study = open_study(study=draft(design=design, completion_codes=CODES | {"quota_full": "FULL"}), by=None)
    sessions = at_demographics(study, 12)
    together(12, lambda index: say_where(sessions[index]))
    assert Counter(Session.objects.values_list("status", flat=True)) == {"started": 5, "quota_full": 7}
    assert sorted(Session.objects.filter(place__isnull=False).values_list("place", flat=True)) == [1, 2, 3, 4, 5]


def test_places_that_come_back_while_others_are_dealt_go_to_one_each(study):
    sessions = at_demographics(study, 12)
    for session in sessions[:4]:
        say_where(session)

    def act(index):
        if index < 4:
            return give_back(sessions[index], Session.GivenBack.RETURNED)
        return say_where(sessions[index])

    assert Counter(together(12, act)) == {True: 4, "stored": 8}
    held = Session.objects.filter(given_back_at=None).values_list("place", flat=True)
    assert len(set(held)) == len(held) == 8
    assert max(held) <= 12


def test_a_place_that_times_out_with_the_last_submit_is_kept_or_the_person_is_late(study):
    person = Participant(study)
    page = person.go_to("debrief")
    position, session = int(page.action.split("/")[-2]), person.session

    def act(index):
        if index:
            return give_back(session, Session.GivenBack.TIMED_OUT)
        return submit_screen(screen=screen_at(session, position), answers={}).state

    results = together(4, act)
    session.refresh_from_db()
    assert session.status == "completed"
    assert session.late == (True in results) == (session.given_back_at is not None)
