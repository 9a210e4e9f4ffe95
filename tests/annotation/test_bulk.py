"""Taking back, reopening and leaving out work, also while annotators submit."""

import threading

import pytest
from django.db import connection, transaction
from django.urls import reverse

from annotation import monitoring
from annotation.handing import candidates
from annotation.models import Assignment, Draft, LabelMember
from annotation.progress import why_nothing_left
from annotation.services import (
    LabelProjectError,
    MembershipRefusedError,
    NoLongerYoursError,
    claim_next,
    hand_over,
    invalidate,
    orders_for,
    release_leases,
    reopen_skipped,
    set_member_status,
    skip,
    submit,
)
from responses.models import Response
from tests.annotation.conftest import CRITERIA, answers, known


def test_an_item_that_was_taken_back_can_still_be_submitted_while_it_is_free(make_label_project, make_annotators):
    label_project = make_label_project(n=2)
    first, second = make_annotators(2)
    kept, lost = claim_next(label_project, first), claim_next(label_project, second)
    assert release_leases(label_project=label_project, user=first, by=None) == 1
    lost.refresh_from_db()
    assert lost.status == "leased"
    assert submit(kept, first, answers()).status == "submitted"
    assert release_leases(label_project=label_project, by=None) == 1
    assert release_leases(label_project=label_project, by=None) == 0
    actions = label_project.project.audit_events.filter(action="labelling leases released")
    assert [event.detail.get("member") for event in actions.order_by("pk")] == ["annotator-0", None]


def test_skipped_items_go_to_others_and_keep_who_skipped_them(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=2)
    first, second, third, fourth = make_annotators(4)
    for user in (first, second):
        skip(claim_next(label_project, user), user, "unclear")
    assert claim_next(label_project, third) is None
    assert reopen_skipped(label_project=label_project, by=None) == 2
    assert [claim_next(label_project, user) for user in (first, second)] == [None, None]
    assert {claim_next(label_project, user).place for user in (third, fourth)} == {3, 4}
    old = label_project.assignments.filter(status="invalid").order_by("place")
    assert [(place.annotator, place.skip_reason) for place in old] == [(first, "unclear"), (second, "unclear")]
    states = monitoring.states(label_project)
    assert (states["places"], states["skipped"], states["leased"]) == (2, 0, 2)


def test_work_that_is_left_out_is_kept_and_done_again(make_label_project, make_annotators, researcher):
    label_project = make_label_project(n=3, overlap=2)
    first, second = make_annotators(2)
    for user in (first, second):
        submit(claim_next(label_project, user), user, answers())
    skip(claim_next(label_project, first), first, "unclear")
    claim_next(label_project, first)
    with pytest.raises(LabelProjectError, match="Say why"):
        invalidate(label_project=label_project, user=first, reason=" ", by=researcher)
    assert invalidate(label_project=label_project, user=first, reason="guessed", by=researcher) == 2
    assert invalidate(label_project=label_project, user=first, reason="guessed", by=researcher) == 0
    with pytest.raises(MembershipRefusedError):
        claim_next(label_project, first)
    places = Assignment.objects.filter(label_project=label_project)
    assert set(places.of(label_project, first).values_list("status", "invalid_reason")) == {("invalid", "guessed")}
    theirs = Response.objects.filter(respondent__key=f"annotator:{first.pk}")
    assert theirs.count() == 3
    assert not theirs.filter(superseded_by=None).exists()
    assert Response.objects.filter(superseded_by=None).count() == 3  # the other's stay
    states = monitoring.states(label_project)
    assert (states["items"], states["places"], states["submitted"], states["free"]) == (3, 6, 1, 5)
    event = label_project.project.audit_events.get(action="labelling work left out")
    assert (event.detail["member"], event.detail["reason"], event.detail["answers"]) == ("annotator-0", "guessed", 3)
    person = next(person for person in monitoring.people(label_project) if person.pk == first.pk)
    assert (person.done, person.left_out, person.member.status) == (0, 1, "excluded")
    assert "left out work" not in why_nothing_left(label_project, second)
    set_member_status(member=person.member, status="active", by=researcher)
    while claim_next(label_project, first):  # what they only held comes back to them
        submit(label_project.assignments.get(annotator=first, status="leased"), first, answers())
    assert "left out work of yours" in why_nothing_left(label_project, first)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("late", [False, True], ids=["own place", "late submit to a free place"])
def test_whoever_submits_at_that_moment_is_waited_for(make_label_project, annotator, researcher, late):
    """The submit holds its place; leaving the work out waits for it and then leaves out that answer, too."""
    label_project = make_label_project(n=2)
    place = claim_next(label_project, annotator)
    if late:
        release_leases(label_project=label_project, user=annotator, by=None)
    done = threading.Event()

    def leave_out() -> None:
        invalidate(label_project=label_project, user=annotator, reason="guessed", by=researcher)
        done.set()
        connection.close()

    with transaction.atomic():
        submit(place, annotator, answers())
        thread = threading.Thread(target=leave_out)
        thread.start()
        assert not done.wait(0.5)
    thread.join()
    assert not Response.objects.filter(superseded_by=None).exists()
    assert set(Assignment.objects.of(label_project, annotator).values_list("status", flat=True)) == {"invalid"}
    assert monitoring.states(label_project)["free"] == 2


@pytest.mark.django_db(transaction=True)
def test_whoever_submits_after_that_moment_is_refused(make_label_project, annotator, researcher):
    label_project = make_label_project(n=2)
    place = claim_next(label_project, annotator)
    refused = []

    def send() -> None:
        try:
            submit(place, annotator, answers())
        except MembershipRefusedError as refusal:
            refused.append(refusal)
        connection.close()

    with transaction.atomic():
        invalidate(label_project=label_project, user=annotator, reason="guessed", by=researcher)
        thread = threading.Thread(target=send)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()  # it waits for the place
    thread.join()
    assert refused
    assert not Response.objects.exists()


def test_a_held_item_is_handed_to_somebody_who_has_another_before_them(make_label_project, make_annotators):
    label_project = make_label_project(n=3)
    first, second = make_annotators(2)
    handed, other = claim_next(label_project, first), claim_next(label_project, second)
    hand_over(seen=handed, to=second, by=None)
    with pytest.raises(NoLongerYoursError):
        submit(handed, first, answers(note="mine"))
    assert Draft.objects.get(annotator=first).answers["note"] == "mine"
    assert submit(other, second, answers()).status == "submitted"  # it was free again, and nobody took it
    following = claim_next(label_project, second)
    assert (following.pk, following.orders) == (handed.pk, orders_for(handed, second.pk))
    submit(following, second, answers())
    event = label_project.project.audit_events.get(action="labelling item handed over")
    assert (event.detail["member"], event.detail["taken_from"]) == ("annotator-1", "annotator-0")


def test_nobody_is_handed_an_item_twice_or_away_from_a_check(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=2, questions=CRITERIA)
    first, second = make_annotators(2)
    submit(claim_next(label_project, first), first, answers())
    free = label_project.assignments.get(status="free")
    with pytest.raises(LabelProjectError, match="has had this item"):
        hand_over(seen=free, to=first, by=None)
    known(label_project, "training", 1)
    claim_next(label_project, second)
    with pytest.raises(LabelProjectError, match="item with known answers"):
        hand_over(seen=free, to=second, by=None)


@pytest.mark.django_db(transaction=True)
def test_a_submit_at_that_moment_comes_before_handing_over(make_label_project, make_annotators):
    label_project = make_label_project(n=1)
    first, second = make_annotators(2)
    place = claim_next(label_project, first)
    refused = []

    def hand() -> None:
        try:
            hand_over(seen=place, to=second, by=None)
        except LabelProjectError as refusal:
            refused.append(refusal)
        connection.close()

    with transaction.atomic():
        submit(place, first, answers())
        thread = threading.Thread(target=hand)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()  # it waits for the place
    thread.join()
    assert "meanwhile" in str(refused[0])
    assert Assignment.objects.get().annotator == first


def test_the_page_hands_over_what_it_showed(make_label_project, make_annotators, researcher, client_as):
    label_project = make_label_project(n=1, overlap=2)
    first, second = make_annotators(2)
    place = claim_next(label_project, first)
    client, page = client_as(researcher), reverse("label_hand", args=[label_project.project.slug, label_project.slug])
    assert client.get(page, {"item": "none"}).status_code == 422
    by_words = client.get(page, {"item": "SCENARIO"})  # its text, in other letters
    assert by_words.context["item"] == place.item
    item = f"{page}?item={place.item.external_id}"
    shown = client.get(item)
    assert [label for _, label in shown.context["form"].fields["place"].choices] == ["Held by annotator-0", "Free"]
    assert first not in shown.context["form"].fields["to"].queryset  # who had the item
    assert [(row["place"], row["place"].annotator) for row in shown.context["held"]] == [(place, first)]
    held = f"{place.pk} {first.pk}"
    submit(place, first, answers())
    late = client.post(item, {"place": held, "to": second.pk})
    assert (late.status_code, "meanwhile" in late.content.decode()) == (422, True)
    free = label_project.assignments.get(status="free")
    assert client.post(item, {"place": f"{free.pk} ", "to": second.pk}).status_code == 302
    assert claim_next(label_project, second) == free


def test_of_several_items_with_the_same_words_one_is_to_be_chosen(make_label_project, researcher, client_as):
    label_project = make_label_project(n=3)
    page = reverse("label_hand", args=[label_project.project.slug, label_project.slug])
    answer = client_as(researcher).get(page, {"item": "scenario", "to": "7"})
    assert (answer.status_code, len(answer.context["found"])) == (422, 3)
    for item in label_project.dataset.items.all():
        assert f"?item={item.external_id}&amp;to=7" in answer.content.decode()


def test_who_cannot_get_an_item_is_named_with_the_reason(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=4)
    holds, answered, paused, free = make_annotators(4)
    submit(claim_next(label_project, answered), answered, answers())
    item = claim_next(label_project, holds).item_id
    LabelMember.objects.create(label_project=label_project, user=paused, status="paused")
    reasons = ["holds this item", "has answered this item", "is paused"]
    assert candidates(label_project, item) == list(zip((holds, answered, paused, free), [*reasons, ""], strict=True))
    known(label_project, "training", 1)
    assert candidates(label_project, item)[-1] == (free, "has not done the training")


def test_nothing_happens_before_it_is_confirmed(make_label_project, annotator, researcher, client_as):
    label_project = make_label_project(n=3)
    submit(claim_next(label_project, annotator), annotator, answers())
    client, names = client_as(researcher), [label_project.project.slug, label_project.slug]
    leave_out = reverse("label_person_bulk", args=[*names, annotator.pk, "invalidate"])
    preview = client.get(leave_out).content.decode()
    assert "1 labelled item" in preview
    assert "3 answers" in preview
    assert "This is final" in preview
    assert client.post(leave_out, {"reason": ""}).status_code == 422
    assert LabelMember.objects.get().status == "active"
    assert client.post(leave_out, {"reason": "guessed"}).status_code == 302
    assert LabelMember.objects.get().status == "excluded"
    assert "guessed" in client.get(reverse("label_person", args=[*names, annotator.pk])).content.decode()
    assert client.get(reverse("label_person_bulk", args=[*names, annotator.pk, "skipped"])).status_code == 404
    assert client.get(reverse("label_bulk", args=[*names, "invalidate"])).status_code == 404
    assert client.get(reverse("label_person", args=[*names, researcher.pk])).status_code == 404


def test_a_person_is_paused_and_goes_on(make_label_project, annotator, researcher, client_as):
    label_project = make_label_project(n=3)
    claim_next(label_project, annotator)
    client, names = client_as(researcher), [label_project.project.slug, label_project.slug, annotator.pk]
    client.post(reverse("label_person_bulk", args=[*names, "pause"]), {"reason": "holiday"})
    with pytest.raises(MembershipRefusedError, match="holiday"):
        claim_next(label_project, annotator)
    client.post(reverse("label_person_bulk", args=[*names, "resume"]))
    assert claim_next(label_project, annotator)
