from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import DatabaseError, connections
from django.utils import timezone

from annotation.models import Assignment, Draft
from annotation.services import (
    AlreadyAnsweredError,
    LabelProjectError,
    NoLongerYoursError,
    claim_next,
    create_label_project,
    save_draft,
    set_status,
    skip,
    submit,
)
from responses.models import Response
from tests.annotation.conftest import answers


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
def test_eight_annotators_at_once_on_few_items(make_label_project, make_annotators):
    label_project = make_label_project(n=4, overlap=3)
    users = make_annotators(8)

    def work(user):
        while place := claim_next(label_project, user):
            submit(place, user, answers())

    in_threads(work, users)
    places = Assignment.objects.filter(status="submitted")
    assert places.count() == 12
    assert set(Counter(places.values_list("item", flat=True)).values()) == {3}
    assert max(Counter(places.values_list("item", "annotator")).values()) == 1
    assert Response.objects.filter(question="clear").count() == 12


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


def test_the_database_refuses_a_place_without_the_times_of_its_status(make_label_project, annotator):
    held = claim_next(make_label_project(n=1), annotator)
    with pytest.raises(DatabaseError, match="place_has_the_times_of_its_status"):
        Assignment.objects.filter(pk=held.pk).update(status="submitted")
