import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from annotation.models import Assignment, Draft, LabelProject, Submission
from annotation.progress import progress_of, why_nothing_left
from annotation.services import (
    AlreadyAnsweredError,
    LabelProjectError,
    MembershipRefusedError,
    NoLongerYoursError,
    RefusedError,
    change_member,
    claim_next,
    claiming,
    create_label_project,
    member_for,
    release_leases,
    save_draft,
    set_member_status,
    set_status,
    skip,
    submit,
)
from responses.models import Response
from tests.annotation.conftest import answers, known


def run_out(place):
    Assignment.objects.filter(pk=place.pk).update(lease_until=timezone.now() - timedelta(minutes=1))


def in_threads(function, arguments):
    def closed(argument):
        try:
            return function(argument)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(closed, arguments))


def test_the_first_free_place_then_the_same_again(make_label_project, annotator):
    label_project = make_label_project(n=3)
    first = claim_next(label_project, annotator)
    assert first.item.external_id == "scenarios-0"
    assert claim_next(label_project, annotator) == first
    submit(first, annotator, answers())
    assert claim_next(label_project, annotator).item.external_id == "scenarios-1"


@pytest.mark.parametrize("n", [1, 2])
def test_an_open_place_is_found_also_where_none_was_expected(make_label_project, annotator, n):
    """With and without another item that is free."""
    label_project = make_label_project(n=n)
    first = claim_next(label_project, annotator)
    assert claim_next(label_project, annotator, holding=False) == first


def test_a_claim_reads_few_places_of_a_project_that_statistics_do_not_know(make_label_project, annotator):
    known_project = make_label_project(n=300)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotation_assignment")
        cursor.execute("SET LOCAL enable_seqscan = off")  # as where many projects fill the table
        new = create_label_project(
            project=known_project.project,
            dataset=known_project.dataset,
            instrument=known_project.instrument,
            name="New",
            by=None,
        )
        now = timezone.now()
        values = {"label_project": new.pk, "user": annotator.pk, "now": now, "until": now}
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {claiming.WITHOUT_KNOWN}", values)
        [[plan]] = cursor.fetchone()
    assert max(_loops(plan["Plan"])) < 10  # and not one for each of the places


def _loops(node):
    yield node["Actual Loops"]
    for part in node.get("Plans", ()):
        yield from _loops(part)


def test_nobody_gets_an_item_twice_and_none_is_over(make_label_project, make_annotators):
    label_project = make_label_project(n=2, overlap=2)
    for user in make_annotators(3):
        while place := claim_next(label_project, user):
            submit(place, user, answers())
    per_item = Counter(Assignment.objects.filter(status="submitted").values_list("item", flat=True))
    assert set(per_item.values()) == {2}
    assert Response.objects.filter(question="clear").count() == 4


def test_a_place_given_back_behind_is_found(make_label_project, make_annotators):
    label_project = make_label_project(n=2)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    ahead = claim_next(label_project, second)
    submit(ahead, second, answers())
    assert claim_next(label_project, second) is None
    Assignment.objects.filter(pk=held.pk).update(status="free", annotator=None, lease_until=None)
    assert claim_next(label_project, second) == held


def test_an_expired_lease_stays_until_somebody_needs_it(make_label_project, make_annotators):
    label_project = make_label_project(n=2)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    run_out(held)
    other = claim_next(label_project, second)
    assert other != held  # a free one was there
    assert claim_next(label_project, first) == held
    assert Assignment.objects.get(pk=held.pk).lease_until > timezone.now()


def test_an_expired_lease_is_given_away_and_its_draft_waits(make_label_project, make_annotators):
    label_project = make_label_project(n=1)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    save_draft(held, first, {"note": "half a thought"})
    assert claim_next(label_project, second) is None
    run_out(held)
    assert claim_next(label_project, second).pk == held.pk
    assert Draft.objects.get(annotator=first).answers == {"note": "half a thought"}
    run_out(held)
    assert claim_next(label_project, first).pk == held.pk  # returned, and the draft with it
    assert Draft.objects.get(annotator=first).answers == {"note": "half a thought"}


def test_submitting_after_the_lease_was_given_away(make_label_project, make_annotators):
    label_project = make_label_project(n=1)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    run_out(held)
    claim_next(label_project, second)
    with pytest.raises(NoLongerYoursError):
        submit(held, first, answers("no"))
    assert Draft.objects.get(annotator=first).answers == answers("no")
    assert not Response.objects.exists()
    submit(held, second, answers())
    assert Response.objects.filter(question="clear").count() == 1


def test_submitting_late_takes_a_free_place_of_the_item(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=2)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    run_out(held)
    # The second of two places is free, but an earlier rule gave the held one away.
    Assignment.objects.filter(pk=held.pk).update(annotator=second)
    place = submit(held, first, answers())
    assert (place.annotator, place.status, place.place) == (first, "submitted", 2)
    assert not Draft.objects.exists()


def test_submitting_after_expiry_while_nobody_needed_it(make_label_project, annotator):
    held = claim_next(make_label_project(n=1), annotator)
    run_out(held)
    assert submit(held, annotator, answers()).status == "submitted"


def test_closing_gives_out_nothing_and_keeps_what_was_typed(make_label_project, annotator):
    label_project = make_label_project()
    held = claim_next(label_project, annotator)
    set_status(label_project=label_project, status="closed", by=None)
    assert claim_next(label_project, annotator) is None
    with pytest.raises(ValueError, match="closed"):
        submit(held, annotator, answers())
    set_status(label_project=label_project, status="open", by=None)
    assert claim_next(label_project, annotator) == held
    assert Draft.objects.get().answers == answers()
    assert list(label_project.project.audit_events.values_list("action", flat=True)[:2]) == [
        "labelling open",
        "labelling closed",
    ]


def test_a_skipped_place_stays_used(make_label_project, annotator):
    label_project = make_label_project(n=1)
    held = claim_next(label_project, annotator)
    with pytest.raises(ValueError, match="few words"):
        skip(held, annotator, "  ")
    skip(held, annotator, "not in my language")
    assert claim_next(label_project, annotator) is None
    assert submit(held, annotator, answers()).status == "submitted"


def test_faults_at_setting_up_have_a_sentence(make_label_project, project, make_dataset, make_instrument):
    label_project = make_label_project()
    with pytest.raises(LabelProjectError, match="another name"):
        create_label_project(
            project=project,
            name="Validation",
            dataset=label_project.dataset,
            instrument=label_project.instrument,
            by=None,
        )
    with pytest.raises(LabelProjectError, match="no items"):
        create_label_project(
            project=project,
            name="Empty",
            dataset=make_dataset(project, n=0, slug="empty"),
            instrument=label_project.instrument,
            by=None,
        )


@pytest.mark.parametrize(("name", "slug"), [("茶道", "labelling"), ("New", "new-2"), ("validation", "validation-2")])
def test_any_name_gets_an_address(make_label_project, name, slug):
    first = make_label_project(n=1)
    made = create_label_project(
        project=first.project, name=name, dataset=first.dataset, instrument=first.instrument, by=None
    )
    assert made.slug == slug


def test_asking_again_is_a_repeat_not_a_change(make_label_project, project, annotator):
    first = make_label_project(n=1)
    again = create_label_project(
        project=project, name="Again", dataset=first.dataset, instrument=first.instrument, by=None
    )
    submit(claim_next(first, annotator), annotator, answers("yes"))
    submit(claim_next(again, annotator), annotator, answers("no"))
    standing = Response.objects.filter(question="clear", superseded_by=None).values_list("sample", "value")
    assert set(standing) == {(0, "yes"), (1, "no")}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("overlap", [1, 3])
def test_sixteen_annotators_at_once_on_few_items(make_label_project, make_annotators, overlap):
    label_project = make_label_project(n=4, overlap=overlap)
    users = make_annotators(16)

    def work(user):
        while place := claim_next(label_project, user):
            submit(place, user, answers())

    in_threads(work, users)
    places = Assignment.objects.filter(status="submitted")
    assert Counter(places.values_list("item", flat=True)).most_common()[-1][1] == overlap
    assert places.count() == 4 * overlap
    assert max(Counter(places.values_list("item", "annotator")).values()) == 1
    assert Response.objects.filter(question="clear").count() == 4 * overlap


@pytest.mark.django_db(transaction=True)
def test_many_tabs_of_one_person_get_one_place(make_label_project, annotator):
    label_project = make_label_project(n=8, overlap=2)
    got = in_threads(lambda _: claim_next(label_project, annotator), range(8))
    assert len({place.pk for place in got}) == 1
    assert Assignment.objects.filter(annotator=annotator).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_double_click_stores_once(make_label_project, annotator):
    held = claim_next(make_label_project(n=1), annotator)
    in_threads(lambda _: submit(held, annotator, answers(note="x")), range(6))
    assert Response.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_two_tabs_with_different_answers_store_one_and_keep_the_other(make_label_project, annotator):
    held = claim_next(make_label_project(n=1), annotator)

    def send(value):
        try:
            submit(held, annotator, answers(value))
        except AlreadyAnsweredError:
            return "kept"
        return "stored"

    assert sorted(in_threads(send, ["yes", "no"])) == ["kept", "stored"]
    assert Response.objects.count() == 3
    standing = Response.objects.filter(question="clear").get().value
    assert Draft.objects.get().answers == answers("no" if standing == "yes" else "yes")


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_runs_out_goes_to_one_of_many(make_label_project, make_annotators):
    label_project = make_label_project(n=1)
    first, *others = make_annotators(8)
    run_out(claim_next(label_project, first))
    got = in_threads(lambda user: claim_next(label_project, user), others)
    assert sum(place is not None for place in got) == 1


@pytest.mark.django_db(transaction=True)
def test_one_key_twice_at_once_is_one_submission(make_label_project, annotator):
    label_project = make_label_project(n=1)
    held, key = claim_next(label_project, annotator), uuid4()
    in_threads(lambda _: submit(held, annotator, answers(), key=key), range(6))
    assert Submission.objects.get().key == key
    assert Response.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_who_is_excluded_while_submitting_stores_before_or_not_at_all(make_label_project, annotator):
    label_project = make_label_project(n=1)
    held = claim_next(label_project, annotator)
    member = member_for(label_project, annotator)

    def act(name):
        if name == "exclude":
            set_member_status(member=member, status="excluded", by=None)
            return "excluded"
        try:
            submit(held, annotator, answers())
        except MembershipRefusedError:
            return Draft.objects.get().answers == answers()
        return Response.objects.filter(question="clear").count()

    assert in_threads(act, ["exclude", "submit"])[1] in (True, 1)
    with pytest.raises(MembershipRefusedError, match="ended your work"):
        claim_next(label_project, annotator)


def test_nobody_labels_more_than_their_cap(make_label_project, make_annotators):
    label_project = make_label_project(n=5, overlap=2)
    LabelProject.objects.update(cap=2)
    label_project.refresh_from_db()
    first, second = make_annotators(2)
    change_member(member=member_for(label_project, second), cap=3, sees_suggestions=True, by=None)
    for user, cap in [(first, 2), (second, 3)]:
        while place := claim_next(label_project, user):
            submit(place, user, answers())
        assert Assignment.objects.filter(annotator=user, status="submitted").count() == cap
    assert f"as many items as one person may here, {3}" in why_nothing_left(label_project, second)
    assert progress_of(label_project, first, fresh=True).total == 2


def test_training_comes_first_and_is_settled_by_the_pass_mark(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=2)
    known(label_project, "training", 2)
    LabelProject.objects.update(pass_mark=0.75)
    label_project.refresh_from_db()
    good, bad = make_annotators(2)
    for user, value in [(good, "yes"), (bad, "no")]:
        for _ in range(2):
            place = claim_next(label_project, user)
            assert place.purpose == "training"
            submit(place, user, answers(value))
        if user == good:
            with pytest.raises(RefusedError, match="seen the right answers"):
                submit(place, user, answers("no"), changing=True)
    assert claim_next(label_project, good).item.external_id == "scenarios-0"
    with pytest.raises(MembershipRefusedError, match="0 of your 2 answers to them were right, and 75 %"):
        claim_next(label_project, bad)


def test_known_items_come_among_the_others_and_count_as_they_do(make_label_project, annotator):
    label_project = make_label_project(n=6)
    known(label_project, "gold", 2)
    known(label_project, "attention", 1)
    LabelProject.objects.update(gold_every=3)
    label_project.refresh_from_db()
    purposes, totals = [], []
    while place := claim_next(label_project, annotator):
        totals.append(progress_of(label_project, annotator, fresh=True).total)
        purposes.append(place.purpose)
        submit(place, annotator, answers())
    assert Counter("label" if purpose == "label" else "known" for purpose in purposes) == {"label": 6, "known": 2}
    assert purposes[:5] != ["label"] * 5
    assert set(totals) == {8}


def test_a_lost_lease_of_a_known_item_goes_to_nobody_else(make_label_project, make_annotators):
    label_project = make_label_project(n=1)
    known(label_project, "training", 1)
    first, second = make_annotators(2)
    held = claim_next(label_project, first)
    run_out(held)
    assert claim_next(label_project, second).pk != held.pk
    assert claim_next(label_project, first).pk == held.pk


def test_disputed_items_come_first(make_label_project, make_annotators):
    label_project = make_label_project(n=3, overlap=3, order="most_disputed")
    one, two, three = make_annotators(3)
    for user, value in [(one, "yes"), (two, "no")]:
        for item in range(3):
            submit(claim_next(label_project, user), user, answers(value if item == 1 else "yes"))
    disputed = Assignment.objects.filter(rank__lt=0)
    assert claim_next(label_project, three).pk == disputed.get().pk


def test_the_database_refuses_a_place_without_the_times_of_its_status(make_label_project, annotator):
    held = claim_next(make_label_project(n=1), annotator)
    with pytest.raises(DatabaseError, match="place_has_the_times_of_its_status"):
        Assignment.objects.filter(pk=held.pk).update(status="submitted")


def until_waiting(n):
    """Returns when so many connections wait for a lock; fails after ten seconds."""
    query = """SELECT count(*) FROM pg_stat_activity
               WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'"""
    for _ in range(500):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees the same all the time
            cursor.execute(query)
            if cursor.fetchone()[0] >= n:
                return
        time.sleep(0.02)
    pytest.fail("nobody waits")


@pytest.mark.django_db(transaction=True)
def test_a_submit_whose_place_is_given_away_holds_it_no_longer_while_it_waits_for_another(
    make_label_project, make_annotators
):
    label_project = make_label_project(n=1, overlap=2)
    first, second = make_annotators(2)
    other = claim_next(label_project, second)
    held = claim_next(label_project, first)
    release_leases(label_project=label_project, user=second, by=None)
    locked, asked, go = threading.Event(), threading.Event(), threading.Event()

    def lock_both(_):
        with transaction.atomic():
            Assignment.objects.select_for_update().get(pk=other.pk)
            locked.set()
            assert go.wait(20)
            Assignment.objects.select_for_update().get(pk=held.pk)

    def give_away(_):
        assert locked.wait(20)
        with transaction.atomic():
            release_leases(label_project=label_project, user=first, by=None)
            asked.set()
            until_waiting(1)
        until_waiting(1)  # now for the other place
        go.set()

    def late(_):
        assert asked.wait(20)
        return submit(held, first, answers())

    *_, place = in_threads(lambda do: do(None), [lock_both, give_away, late])
    assert (place.annotator, place.status) == (first, "submitted")
