"""The queue of disputed items, decisions, and two adjudicators at once."""

import pytest
from django.urls import reverse

from annotation.adjudication import Wanted, beside, given_answers, queue_page, standing_decisions
from annotation.models import Decision
from annotation.services import (
    DecidedMeanwhileError,
    DecisionError,
    add_flag,
    claim_next,
    decide,
    invalidate,
    skip,
    submit,
)
from tests.annotation.conftest import answers


@pytest.fixture
def disputed(make_label_project, make_annotators):
    """Four items, two people: agreed, disputed in one criterion, disputed in all three, and one skipped by both."""
    label_project = make_label_project(n=4, overlap=2)
    first, second = make_annotators(2)
    for given in (answers("yes"), answers("yes"), answers("yes", note="never seen it")):
        submit(claim_next(label_project, first), first, given)
    for given in (answers("yes"), answers("yes") | {"clear": "no"}, answers("no")):
        submit(claim_next(label_project, second), second, given)
    for user in (first, second):
        place = claim_next(label_project, user)
        add_flag(place, user, "odd")
        skip(place, user, "unclear")
    return label_project


def items_of(label_project):
    return list(label_project.dataset.items.order_by("position"))


def queue(label_project, **wanted):
    return [row.item.external_id for row in queue_page(label_project, Wanted(**wanted), page=1, size=50)[0]]


def test_the_most_disputed_come_first_until_they_are_decided(disputed, researcher):
    agreed, once, thrice, skipped = items_of(disputed)
    names = [item.external_id for item in (agreed, once, thrice, skipped)]
    assert queue(disputed) == [names[2], names[1]]
    assert queue(disputed, question="plausible") == [names[2]]
    assert queue(disputed, show="undecided") == [names[2], names[1], names[0]]
    assert queue(disputed, show="skipped") == queue(disputed, show="flagged") == [names[3]]
    rows, total = queue_page(disputed, Wanted(), page=1, size=1)
    assert (round(rows[0].dispute), rows[0].labels[0][1], total) == (100, "Yes × 1, No × 1", 2)
    decide(label_project=disputed, item=thrice, values={"plausible": "yes"}, seen=0, by=researcher)
    assert queue(disputed, question="plausible") == []
    assert queue(disputed) == [names[2], names[1]]  # of the three criteria two are open
    decide(label_project=disputed, item=thrice, values={"clear": "yes", "neutral": "no"}, seen=9**9, by=researcher)
    assert queue(disputed) == [names[1]]
    assert queue(disputed, show="decided") == [names[2]]


def test_the_list_counts_people_and_tells_decisions(disputed, researcher):
    thrice = items_of(disputed)[2]
    decide(label_project=disputed, item=thrice, values={"clear": "no", "note": "x" * 99}, seen=0, by=researcher)
    decide(label_project=disputed, item=thrice, values={"clear": "yes"}, note="as told", seen=9**9, by=researcher)
    row = queue_page(disputed, Wanted(), page=1, size=1)[0][0]
    assert (row.people, row.note, row.decided) == (2, "as told", False)
    assert [(counts, decided) for _, counts, decided in row.labels] == [
        ("Yes × 1, No × 1", ""),
        ("Yes × 1, No × 1", "Yes"),
        ("Yes × 1, No × 1", ""),
        ("", "x" * 79 + "…"),
    ]


def test_the_way_through_the_queue_goes_on_after_a_decision(disputed, researcher):
    agreed, once, thrice, _ = items_of(disputed)
    assert beside(disputed, Wanted(), thrice) == once.pk
    decide(label_project=disputed, item=thrice, values=answers("yes"), seen=0, by=researcher)
    assert beside(disputed, Wanted(), thrice) == once.pk
    assert beside(disputed, Wanted(), once) is None
    assert beside(disputed, Wanted(), once, back=True) == thrice.pk  # a slip can be put right
    assert beside(disputed, Wanted(show="all"), once, back=True) == thrice.pk
    assert beside(disputed, Wanted(show="all"), once) == agreed.pk


def test_what_was_suggested_stands_beside_the_answer(disputed):
    item = items_of(disputed)[2]
    place = disputed.assignments.filter(item=item).order_by("place").first()
    disputed.assignments.filter(pk=place.pk).update(suggested={"plausible": "no"})
    assert [row.answers[0] for row in given_answers(disputed, item)] == [("Yes", "No"), ("No", "")]


def test_numbers_of_a_pair_lead_to_their_items(disputed):
    _, once, thrice, _ = items_of(disputed)
    first, second = disputed.assignments.order_by("annotator").values_list("annotator", flat=True).distinct()
    pair = {"show": "all", "question": "clear", "first": first, "second": second}
    assert len(queue(disputed, **pair)) == 3
    assert queue(disputed, **pair, one="yes", other="no") == [once.external_id, thrice.external_id]
    assert queue(disputed, **pair, one="no", other="yes") == []


def test_a_decision_is_kept_with_its_history_and_nothing_automatic_changes_it(disputed, researcher):
    item = items_of(disputed)[2]
    decided = decide(
        label_project=disputed, item=item, values={"clear": "yes"}, note=" as told ", seen=0, by=researcher
    )
    assert [(entry.question, entry.value, entry.note) for entry in decided] == [("clear", "yes", "as told")]
    assert (
        decide(label_project=disputed, item=item, values={"clear": "yes"}, note="as told", seen=0, by=researcher) == []
    )
    decide(label_project=disputed, item=item, values={"clear": "no"}, seen=decided[0].pk, by=researcher)
    worker = disputed.assignments.filter(status="submitted").first().annotator
    invalidate(label_project=disputed, user=worker, reason="guessed", by=researcher)
    assert [entry.value for entry in Decision.objects.order_by("pk")] == ["yes", "no"]
    assert standing_decisions(disputed, item)["clear"].value == "no"
    assert disputed.project.audit_events.filter(action="labelling decided", user=researcher).count() == 2


def test_bad_decisions_are_refused_with_a_sentence(disputed, researcher, make_dataset):
    item = items_of(disputed)[2]
    with pytest.raises(DecisionError, match="at least one"):
        decide(label_project=disputed, item=item, values={"clear": ""}, seen=0, by=researcher)
    with pytest.raises(DecisionError) as refusal:
        decide(label_project=disputed, item=item, values={"clear": "maybe"}, seen=0, by=researcher)
    assert list(refusal.value.errors) == ["clear"]
    other = make_dataset(disputed.project, slug="others").items.first()
    with pytest.raises(DecisionError, match="not among those"):
        decide(label_project=disputed, item=other, values={"clear": "yes"}, seen=0, by=researcher)
    assert not Decision.objects.exists()


def test_the_second_adjudicator_sees_the_first_and_confirms(disputed, researcher, owner, client_as):
    item = items_of(disputed)[2]
    address = [disputed.project.slug, disputed.slug, item.pk]
    page, decided = reverse("label_adjudicate_item", args=address), reverse("label_decide", args=address)
    client = client_as(researcher)
    drawn = client.get(page)
    assert drawn.context["latest"] is None
    made = decide(label_project=disputed, item=item, values={"clear": "yes"}, note="mine", seen=0, by=owner)[0]
    refused = client.post(decided, {"seen": 0, "answer_clear": "no"})
    assert refused.status_code == 409
    assert "owner has decided" in refused.content.decode()
    assert refused.context["latest"] == made
    assert 'value="no" data-hotkey="n" checked' in refused.content.decode()  # what was chosen is still there
    assert Decision.objects.get().value == "yes"
    confirmed = client.post(decided, {"seen": made.pk, "answer_clear": "no"})
    assert confirmed.status_code == 302
    assert standing_decisions(disputed, item)["clear"].by == researcher
    with pytest.raises(DecidedMeanwhileError):
        decide(label_project=disputed, item=item, values={"clear": "yes"}, seen=made.pk, by=owner)


def test_names_are_hidden_until_they_are_asked_for(disputed, viewer, client_as):
    item = items_of(disputed)[2]
    page = reverse("label_adjudicate_item", args=[disputed.project.slug, disputed.slug, item.pk])
    client = client_as(viewer)
    hidden = client.get(page).content.decode()
    assert "never seen it" in hidden
    assert "annotator-0" not in hidden
    assert "<form" not in hidden.split("<main")[1]  # a viewer decides nothing
    assert "annotator-0" in client.get(f"{page}?names=on").content.decode()


def test_items_are_named_by_their_text_and_made_up_addresses_lead_to_the_whole_list(disputed, viewer, client_as):
    page = reverse("label_adjudicate", args=[disputed.project.slug, disputed.slug])
    assert '<span dir="auto">Scenario ' in client_as(viewer).get(page).content.decode()
    for query in (
        "show=x",
        "question=x",
        "page=-1",
        "page=99999999999999999999",
        "first=x&second=1",
        "one=%00&other={",
    ):
        assert client_as(viewer).get(f"{page}?{query}").status_code == 200
