from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation import monitoring
from annotation.models import LabelMember
from annotation.overview import box
from annotation.progress import progress_of
from annotation.services import NewKnown, add_flag, add_known_answers, claim_next, invalidate, skip, submit
from responses.models import RespondentKind
from responses.services import get_respondent
from tests.annotation.conftest import answers

MULTI = [
    {"kind": "multi", "code": "tones", "text": "Tones?", "options": [{"code": c, "text": c} for c in ("warm", "curt")]},
    {"kind": "scale", "code": "sure", "text": "Sure?"},
]


@pytest.fixture
def labelled(make_label_project, make_annotators):
    """Three items, two places: plausible is yes/yes, yes/no, and no alone; one skip and one flag."""
    label_project = make_label_project(n=3, overlap=2)
    first, second = make_annotators(2)
    for value in ("yes", "yes", "no"):
        submit(claim_next(label_project, first), first, answers(value))
    for value in ("yes", "no"):
        submit(claim_next(label_project, second), second, answers(value, note="hm"))
    place = claim_next(label_project, second)
    add_flag(place, second, "odd")
    skip(place, second, "unclear")
    return label_project


def test_counts(labelled):
    assert monitoring.states(labelled) == {
        "items": 3,
        "complete": 2,
        "unanswered": 0,
        "partial": 1,
        "places": 6,
        "submitted": 5,
        "free": 0,
        "skipped": 1,
        "leased": 0,
    }
    people = monitoring.people(labelled)
    counts = [(person.name, person.done, person.skipped, person.flags, person.holds) for person in people]
    assert counts == [("annotator-0", 3, 0, 0, False), ("annotator-1", 2, 1, 1, False)]
    assert all(person.seconds > 0 for person in people)
    assert [(row["kind"], row["why"]) for row in monitoring.attention(labelled)] == [
        ("skipped", "unclear"),
        ("flagged", "odd"),
    ]


def test_an_item_that_is_only_held_or_skipped_has_no_answer(make_label_project, make_annotators):
    label_project = make_label_project(n=4)
    first, second = make_annotators(2)
    submit(claim_next(label_project, first), first, answers())
    skip(claim_next(label_project, first), first, "unclear")
    claim_next(label_project, second)
    counts = monitoring.states(label_project)
    assert (counts["complete"], counts["partial"], counts["unanswered"]) == (1, 0, 3)
    assert (counts["leased"], counts["skipped"], counts["free"]) == (1, 1, 1)


def test_the_overview_counts_annotations_in_words(make_label_project, make_annotators):
    label_project = make_label_project(n=2, overlap=2)
    assert box(label_project.project).state == "of 4 annotations, 0 annotators"
    first, second = make_annotators(2)
    claim_next(label_project, first)
    assert box(label_project.project).state == "of 4 annotations, 1 annotator"
    claim_next(label_project, second)
    assert box(label_project.project).state == "of 4 annotations, 2 annotators"


@pytest.mark.parametrize(("seconds", "pace"), [([9, 8], None), ([9, 400, 8], None), ([397, 9, 20, 10, 9], 9.5)])
def test_the_pace_needs_three_items_and_leaves_pauses_out(make_label_project, annotator, seconds, pace):
    label_project = make_label_project(n=9)
    for spent in seconds:
        place = submit(claim_next(label_project, annotator), annotator, answers())
        place.opened_at = place.finished_at - timedelta(seconds=spent)
        place.save()
    progress = progress_of(label_project, annotator)
    assert progress.pace == pace
    assert bool(progress.time_left) == bool(progress.pace_words) == (pace is not None)


def test_labels(labelled):
    plausible, *_, note = monitoring.question_summaries(labelled)
    assert [(count.label, count.n, count.share) for count in plausible.counts] == [("Yes", 3, 60), ("No", 2, 40)]
    assert (note.answers, note.counts) == (2, ())


def test_labels_count_each_of_several_options_and_only_used_points(make_label_project, make_annotators):
    label_project = make_label_project(n=1, overlap=3, questions=MULTI)
    given = [(["warm", "curt"], "5"), (["curt", "warm"], "5"), (["warm"], "1")]
    for user, (tones, sure) in zip(make_annotators(3), given, strict=True):
        submit(claim_next(label_project, user), user, {"tones": tones, "sure": sure})
    tones, sure = monitoring.question_summaries(label_project)
    assert [(count.label, count.n) for count in tones.counts] == [("warm", 3), ("curt", 2)]
    assert [(count.label, count.n) for count in sure.counts] == [("1", 1), ("5", 2)]


def test_known_answers_say_how_good_a_person_is_and_count_nowhere_else(make_label_project, annotator, viewer):
    label_project = make_label_project(n=4, gold_every=1)
    items = list(label_project.dataset.items.order_by("position"))
    known = [NewKnown(item, {"plausible": ["yes"], "clear": ["no"]}) for item in items[:2]]
    add_known_answers(label_project=label_project, known=known, purpose="gold", by=None)
    member = LabelMember.objects.create(label_project=label_project, user=viewer)
    while place := claim_next(label_project, annotator):
        if place.item == items[1]:
            skip(place, annotator, "unclear")
        else:
            submit(place, annotator, answers("yes"))
    named, person = sorted(monitoring.people(label_project), key=lambda person: person.done)
    gold = person.accuracy["gold"]
    assert (gold.value, gold.n) == (0.25, 4)  # one of two right, and two skipped
    assert (round(gold.low, 3), round(gold.high, 3)) == (0.046, 0.699)  # Wilson, by hand
    assert (person.done, person.skipped, named.member, named.accuracy["gold"].n) == (2, 0, member, 0)
    assert monitoring.states(label_project)["places"] == 2
    assert monitoring.question_summaries(label_project)[0].answers == 2
    assert monitoring.attention(label_project) == []
    invalidate(label_project=label_project, user=annotator, reason="guessed", by=None)
    left_out = next(person for person in monitoring.people(label_project) if person.pk == annotator.pk)
    assert left_out.accuracy["gold"] == gold  # why the work was left out can still be seen


def test_a_changed_answer_counts_once(make_label_project, annotator):
    label_project = make_label_project()
    place = submit(claim_next(label_project, annotator), annotator, answers("yes"))
    submit(place, annotator, answers("no"), changing=True)
    summary = monitoring.question_summaries(label_project)[0]
    assert [(count.label, count.n) for count in summary.counts] == [("Yes", 0), ("No", 1)]


def test_the_page_shows_it_in_a_bounded_number_of_queries(
    labelled, researcher, client_as, django_assert_max_num_queries
):
    client = client_as(researcher)
    page = reverse("label_project", args=[labelled.project.slug, labelled.slug])
    with django_assert_max_num_queries(20):
        text = client.get(page).content.decode()
    assert "unclear" in text
    skipped = [labelled.project.slug, labelled.slug, labelled.dataset.items.last().pk]
    assert reverse("label_adjudicate_item", args=skipped) in text


def test_the_part_that_changes_asks_again_only_while_something_can_change(
    make_label_project, annotator, researcher, client_as
):
    label_project = make_label_project(n=1)
    client = client_as(researcher)
    page = reverse("label_project", args=[label_project.project.slug, label_project.slug])
    part = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div class="stack" id="live" hx-get')
    submit(claim_next(label_project, annotator), annotator, answers())
    cache.clear()  # counts that took long stand for a while
    assert 'id="live" hx-get' not in client.get(page, headers={"HX-Request": "true"}).content.decode()


def test_answers_of_bots_carry_a_badge_everywhere(make_label_project, annotator, researcher, client_as):
    label_project = make_label_project()
    client = client_as(researcher)
    slug = label_project.project.slug
    pages = [
        reverse("labelling", args=[slug]),
        reverse("label_project", args=[slug, label_project.slug]),
        reverse("project", args=[slug]),
    ]
    assert not any("badge-simulated" in client.get(page).content.decode() for page in pages)
    submit(claim_next(label_project, annotator), annotator, answers(), simulated=True)
    get_respondent(  # one who came with an import, and is no user here
        project=label_project.project, kind=RespondentKind.ANNOTATOR, key="panda:1", attributes={}, simulated=True
    )
    cache.clear()
    assert all("badge-simulated" in client.get(page).content.decode() for page in pages)
