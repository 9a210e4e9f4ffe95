import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Draft, KnownAnswer, LabelProject, Submission
from annotation.services import (
    NewKnown,
    add_known_answers,
    claim_next,
    member_for,
    publish_guidelines,
    release_leases,
    set_member_status,
    skip,
    submit,
)
from responses.models import Response
from responses.querysets import standing_values
from tests.annotation.conftest import answers, known, record

SCRIPT = "<script>alert(1)</script>"


def work_url(label_project):
    return reverse("label_work", args=[label_project.project.slug, label_project.slug])


def read_url(label_project, version):
    return reverse("label_guidelines_read", args=[label_project.project.slug, label_project.slug, version])


def url(name, place):
    return reverse(name, args=[place.label_project.project.slug, place.label_project.slug, place.pk])


def form(value="yes", **more):
    return {"answer_plausible": value, "answer_clear": value, "answer_neutral": value} | more


def test_without_scripts_the_forms_lead_through(make_label_project, annotator, client_as):
    label_project = make_label_project(n=2)
    client = client_as(annotator)
    page = client.get(work_url(label_project))
    assert "Scenario 0" in page.content.decode()
    first, second = Assignment.objects.order_by("rank")
    page = client.post(url("label_assignment", first), form(), follow=True)
    assert "Scenario 1" in page.content.decode()
    page = client.post(url("label_skip", second), {"note": ""})
    assert page.status_code == 422
    assert "few words" in page.content.decode()
    page = client.post(url("label_skip", second), {"note": "no context"}, follow=True)
    assert "Done. Thank you" in page.content.decode()
    assert "You answered 1 item and skipped 1." in " ".join(page.content.decode().split())
    page = client.get(url("label_assignment", first))
    assert "You have answered this item" in page.content.decode()
    client.post(url("label_assignment", first), form("no", changing="1"))
    assert set(Response.objects.filter(superseded_by=None).values_list("value", flat=True)) == {"no"}


def test_a_script_gets_the_next_item_in_the_answer(make_label_project, annotator, client_as):
    label_project = make_label_project(n=2)
    client = client_as(annotator)
    client.get(work_url(label_project))
    place = Assignment.objects.get(annotator=annotator)
    answer = client.post(url("label_assignment", place), form(), headers={"X-Part": "work"})
    assert answer.content.decode().lstrip().startswith('<div class="work"')
    assert "Scenario 1" in answer.content.decode()
    following = Assignment.objects.get(annotator=annotator, status="leased")
    assert answer["X-Location"] == url("label_assignment", following)


def test_wrong_answers_come_back_with_what_was_typed(make_label_project, annotator, client_as):
    label_project = make_label_project()
    client = client_as(annotator)
    client.get(work_url(label_project))
    place = Assignment.objects.get(annotator=annotator)
    page = client.post(url("label_assignment", place), {"answer_clear": "no", "answer_note": "my \x00words\r\nhere"})
    text = page.content.decode()
    assert page.status_code == 422
    assert "An answer is required." in text
    assert "my words\nhere</textarea>" in text
    assert Draft.objects.get().answers["note"] == "my words\nhere"


def test_another_persons_assignment_does_not_exist(make_label_project, make_annotators, client_as):
    label_project = make_label_project()
    first, second = make_annotators(2)
    place = claim_next(label_project, first)
    client = client_as(second)
    for name, method in [
        ("label_assignment", client.get),
        ("label_assignment", client.post),
        ("label_draft", client.post),
        ("label_skip", client.post),
        ("label_flag", client.post),
    ]:
        assert method(url(name, place)).status_code == 404
    free = Assignment.objects.filter(status="free").first()
    assert client.get(url("label_assignment", free)).status_code == 404


def test_a_place_given_away_shows_nothing_of_its_new_holder(make_label_project, make_annotators, client_as):
    label_project = make_label_project(n=1)
    first, second = make_annotators(2)
    place = claim_next(label_project, first)
    Assignment.objects.filter(pk=place.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    submit(claim_next(label_project, second), second, answers("no", note="a secret"))
    client = client_as(first)
    part = {"X-Part": "work"}
    pages = [
        client.post(url("label_assignment", place), form(answer_note="mine"), headers=part),
        client.get(url("label_assignment", place), follow=True),
        client.post(url("label_skip", place), {"note": "x"}, headers=part),
    ]
    for page in pages:
        text = page.content.decode()
        assert page.status_code == 200
        assert "passed on to somebody else" in text
        assert "Done" in text  # the next item, of which there is none
        assert "a secret" not in text
    assert Draft.objects.get(annotator=first).answers["note"] == "mine"
    assert client.post(url("label_draft", place), {"answer_note": "more"}).status_code == 409
    assert Draft.objects.get(annotator=first).answers["note"] == "more"


def test_what_was_stored_in_another_place_of_the_item_is_found_under_the_old_address(
    make_label_project, make_annotators, client_as
):
    label_project = make_label_project(n=1, overlap=2)
    first, second = make_annotators(2)
    client = client_as(first)
    held = claim_next(label_project, first)
    release_leases(label_project=label_project, by=None)
    assert claim_next(label_project, second).pk == held.pk
    sent = form(key=str(uuid4()))
    for _ in range(2):  # the answer to the first may be lost
        assert client.post(url("label_assignment", held), sent).status_code == 302
    own = Assignment.objects.get(annotator=first)
    assert own.pk != held.pk
    assert "You have answered this item" in client.get(url("label_assignment", held)).content.decode()
    client.post(url("label_assignment", held), form("no", changing="1"))
    assert standing_values("assignment", own.pk)["clear"] == "no"


def test_labelling_goes_on_while_the_cache_is_away(make_label_project, annotator, client_as, settings):
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    label_project = make_label_project(n=2)
    client = client_as(annotator)
    assert client.get(work_url(label_project)).status_code == 200
    response = client.post(
        url("label_assignment", claim_next(label_project, annotator)), form(), headers={"X-Part": "work"}
    )
    assert (response.status_code, Response.objects.count()) == (200, 3)


@pytest.mark.parametrize("fields", [[], [{"field": "text", "label": SCRIPT}]])
def test_item_text_guidelines_and_options_are_escaped(make_label_project, annotator, client_as, fields):
    question = {
        "kind": "choice",
        "code": "which",
        "text": SCRIPT,
        "options": [{"code": "a", "text": SCRIPT}, {"code": "b", "text_field": "text"}],
    }
    label_project = make_label_project(
        questions=[question],
        content=lambda i: {"text": SCRIPT, "list": [SCRIPT], "deep": {"x": SCRIPT}},
        item_fields=fields,
        guidelines=f"Read\n\n{SCRIPT}\n\n[link](javascript:alert(1))",
    )
    client = client_as(annotator)
    guidelines = client.get(work_url(label_project)).content.decode()
    item = client.post(read_url(label_project, 1), follow=True).content.decode()
    for text in (guidelines, item):
        assert SCRIPT not in text
        assert "&lt;script&gt;alert(1)" in text
        assert 'href="javascript' not in text


def test_the_work_list_says_start_continue_and_done(make_label_project, annotator, client_as):
    label_project = make_label_project(n=2)
    listing = reverse("labelling", args=[label_project.project.slug])
    client = client_as(annotator)
    assert "Start<" in client.get(listing).content.decode()
    submit(claim_next(label_project, annotator), annotator, answers())
    assert "Continue<" in client.get(listing).content.decode()
    submit(claim_next(label_project, annotator), annotator, answers())
    text = client.get(listing).content.decode()
    assert "Continue<" not in text
    assert "Done</span>" in text


def test_when_others_hold_the_rest_the_page_says_so(make_label_project, make_annotators, client_as):
    label_project = make_label_project(n=1)
    first, second = make_annotators(2)
    claim_next(label_project, first)
    text = client_as(second).get(work_url(label_project)).content.decode()
    assert "with other annotators right now" in text
    assert "about 30 min" in text


def test_training_shows_what_was_right_and_why(make_label_project, annotator, client_as):
    label_project = make_label_project(n=1)
    known(label_project, "training", 1)
    KnownAnswer.objects.update(why="Because **tea**.")
    client = client_as(annotator)
    page = client.get(work_url(label_project)).content.decode()
    assert "This is a training item" in page
    place = Assignment.objects.get(status="leased")
    assert "This is a training item" in client.post(url("label_assignment", place), {}).content.decode()
    page = client.post(url("label_assignment", place), form("no"), follow=True).content.decode()
    assert "Not right" in page
    assert "Right: <strong" in page
    assert "<strong>tea</strong>" in page
    assert "<textarea" not in page
    assert "Scenario 0" in client.get(work_url(label_project)).content.decode()


PAIR = {"kind": "pairwise", "code": "better", "text": "Which one?", "first_field": "one", "second_field": "two"}


def test_the_texts_of_a_pair_are_named_by_the_side_on_which_the_person_saw_them(
    make_label_project, annotator, researcher, client_as
):
    texts = {"story": "A shop at six.", "one": "Closed.", "two": "Come at five."}
    label_project = make_label_project(n=2, questions=[PAIR], content=lambda i: texts, item_fields=["story"])
    example = {"item": "scenarios-0", "answers": {"better": "second"}, "why": ""}
    publish_guidelines(label_project=label_project, text="", examples=[example], by=None)
    item = label_project.dataset.items.last()
    right = NewKnown(item, {"better": ["first"]})
    add_known_answers(label_project=label_project, known=[right], purpose="training", by=None)
    client = client_as(annotator)
    guidelines = client.get(work_url(label_project)).content.decode()
    assert "Closed." in guidelines
    assert "B: Come at five." in guidelines
    client.post(read_url(label_project, 1))
    client.get(work_url(label_project))
    place = Assignment.objects.get(annotator=annotator)
    Assignment.objects.update(orders={"better": ["second", "first"]})
    feedback = client.post(url("label_assignment", place), {"answer_better": "second"}, follow=True).content.decode()
    assert 'Your answer: <strong dir="auto">A: Come at five.' in feedback
    assert 'Right: <strong dir="auto">B: Closed.' in feedback
    assert "A: Come at five." in client.get(f"{work_url(label_project)}answers/").content.decode()
    for name, more in (("label_right", [item.pk]), ("label_known", []), ("label_guidelines_versions", [])):
        page = client_as(researcher).get(reverse(name, args=[label_project.project.slug, label_project.slug, *more]))
        assert "never as A or B" in page.content.decode()


def test_nothing_on_a_page_tells_a_known_item_from_others(make_label_project, annotator, client_as):
    label_project = make_label_project(n=2)
    known(label_project, "gold", 1)
    LabelProject.objects.update(gold_every=1)
    client, pages = client_as(annotator), {}
    for _ in range(2):
        text = client.get(work_url(label_project)).content.decode()
        place = Assignment.objects.get(status="leased")
        pages[place.purpose] = text
        client.post(url("label_assignment", place), form())
    assert set(pages) == {"label", "gold"}
    assert re.search(r"(\d) of (\d)", pages["label"])[2] == re.search(r"(\d) of (\d)", pages["gold"])[2] == "3"
    shapes = {
        re.sub(r"Scenario \d|gold \d|[\w-]{22}/|[\w-]{64}|[0-9a-f-]{36}|\d of \d|value=\"\d\"", "", text)
        for text in pages.values()
    }
    assert len({re.sub(r'<a [^>]*rel="prev".*?</a>|\d', "", text) for text in shapes}) == 1


def test_after_so_many_items_there_is_a_break(make_label_project, annotator, client_as):
    label_project = make_label_project(n=3)
    LabelProject.objects.update(break_every=2)
    client = client_as(annotator)
    client.get(work_url(label_project))
    for _ in range(2):
        place = Assignment.objects.get(status="leased")
        page = client.post(url("label_assignment", place), form(), headers={"X-Part": "work"})
    assert "2 items in about 1 minute" in " ".join(page.content.decode().split())
    assert page["X-Location"] == f"{work_url(label_project)}?break"
    assert not Assignment.objects.filter(status="leased").exists()
    assert "2 items in about" in " ".join(client.get(page["X-Location"]).content.decode().split())
    assert "Scenario 2" in client.get(work_url(label_project)).content.decode()


def test_what_one_person_sends_is_not_stored_for_another(make_label_project, make_annotators, client_as):
    label_project = make_label_project()
    first, second = make_annotators(2)
    place = claim_next(label_project, first)
    headers = {"X-Part": "work", "X-Person": str(first.pk)}
    answer = client_as(second).post(url("label_assignment", place), form(), headers=headers)
    assert (answer.status_code, "logged in as annotator-1" in answer.content.decode()) == (401, True)
    assert client_as(first).post(url("label_assignment", place), form(), headers=headers).status_code == 200


@pytest.mark.parametrize(("key", "status"), [("", 200), ("no key", 422), ("0e1f2a3b-4c5d-4e6f-8a9b-0c1d2e3f4a5b", 200)])
def test_a_key_is_read_or_refused(make_label_project, annotator, client_as, key, status):
    place = claim_next(make_label_project(), annotator)
    answer = client_as(annotator).post(
        url("label_assignment", place), form(key=key, seconds="3.25"), headers={"X-Part": "work"}
    )
    assert answer.status_code == status
    assert list(Submission.objects.values_list("seconds", flat=True)) == [3.25] * (status == 200)


def test_a_verdict_on_the_model_is_an_answer(make_label_project, annotator, client_as):
    place = claim_next(make_label_project(), annotator)
    place.suggested, place.suggested_as = {"plausible": "no", "clear": "no"}, "audited"
    place.save()
    client, sent = client_as(annotator), {"audit_plausible": "right", "answer_neutral": "yes"}
    page = client.post(url("label_assignment", place), sent)
    assert page.status_code == 422
    assert "The model says: No. An answer is required." in page.content.decode()
    page = client.post(url("label_assignment", place), sent | {"audit_clear": "wrong", "answer_clear": "no"})
    assert standing_values("assignment", place.pk) == {"plausible": "no", "clear": "yes", "neutral": "yes"}
    text = client.get(url("label_assignment", place)).content.decode()
    assert re.search(r'name="audit_plausible" value="right"[^>]*checked', text)
    assert re.search(r'name="audit_clear" value="wrong"[^>]*checked', text)


def test_verdicts_on_an_item_that_was_taken_back_are_taken_or_stay_on_the_page(
    make_label_project, annotator, client_as, model
):
    label_project = make_label_project(n=1)
    record(label_project, model, {0: ["no"]})
    LabelProject.objects.update(suggestions="audited", suggestions_of=model)
    client = client_as(annotator)
    client.get(work_url(label_project))
    place = Assignment.objects.get(annotator=annotator)
    release_leases(label_project=label_project, by=None)
    sent = {"audit_plausible": "right", "answer_clear": "yes"}
    text = client.post(url("label_assignment", place), sent).content.decode()
    assert re.search(r'name="audit_plausible" value="right"[^>]*checked', text)
    client.post(url("label_assignment", place), sent | {"answer_neutral": "yes"})
    assert standing_values("assignment", place.pk) == {"plausible": "no", "clear": "yes", "neutral": "yes"}


def test_guidelines_come_before_the_first_item_and_again_when_they_change(make_label_project, annotator, client_as):
    label_project = make_label_project(guidelines="First")
    client = client_as(annotator)
    page = client.get(work_url(label_project)).content.decode()
    assert "Before you begin" in page
    assert not Assignment.objects.filter(annotator=annotator).exists()  # no item is held by who reads
    assert "Scenario 0" in client.post(read_url(label_project, 1), follow=True).content.decode()
    assert "Scenario 0" in client.get(work_url(label_project)).content.decode()
    publish_guidelines(
        label_project=label_project,
        text="Second",
        examples=[{"item": "scenarios-3", "answers": {"clear": "no"}, "why": "It says who *acts*."}],
        by=None,
    )
    place = Assignment.objects.get(annotator=annotator)
    part = client.post(url("label_assignment", place), form(), headers={"X-Part": "work"}).content.decode()
    assert "The guidelines have changed" in part
    assert "Scenario 3" in part
    assert "<em>acts</em>" in part
    assert client.post(read_url(label_project, 3)).status_code == 404
    part = client.post(read_url(label_project, 2), headers={"X-Part": "work"}).content.decode()
    assert "Scenario 1" in part
    client.post(read_url(label_project, 1))  # an old tab takes nothing back
    assert "Scenario 1" in client.get(work_url(label_project)).content.decode()


def test_own_answers_are_listed_and_nobody_elses(make_label_project, make_annotators, client_as):
    label_project = make_label_project(n=3)
    first, second = make_annotators(2)
    submit(claim_next(label_project, first), first, answers(note="my words"))
    skip(claim_next(label_project, first), first, "too long")
    submit(claim_next(label_project, second), second, answers(note="a secret"))
    text = client_as(first).get(reverse("label_answers", args=["everyday-norms", "validation"])).content.decode()
    assert "Yes · Yes · Yes · my words" in text
    assert "too long" in text
    assert "a secret" not in text


def test_somebody_paused_reads_why(make_label_project, annotator, client_as):
    label_project = make_label_project()
    set_member_status(member=member_for(label_project, annotator), status="paused", reason="a question", by=None)
    text = client_as(annotator).get(work_url(label_project)).content.decode()
    assert "paused your work on this (a question)" in text


def test_queries_do_not_grow_with_items(make_label_project, annotator, client_as, django_assert_max_num_queries):
    label_project = make_label_project(n=60)
    client = client_as(annotator)
    for _ in range(20):
        submit(claim_next(label_project, annotator), annotator, answers())
    with django_assert_max_num_queries(20):
        client.get(work_url(label_project))
    place = Assignment.objects.get(status="leased")
    with django_assert_max_num_queries(30):
        assert client.post(url("label_assignment", place), form(), headers={"X-Part": "work"}).status_code == 200
