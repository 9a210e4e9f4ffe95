from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Draft
from annotation.services import claim_next, submit
from responses.models import Response
from tests.annotation.conftest import answers

SCRIPT = "<script>alert(1)</script>"


def work_url(label_project):
    return reverse("label_work", args=[label_project.project.slug, label_project.slug])


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
    page = client.post(url("label_assignment", place), form(answer_note="mine"))
    text = page.content.decode()
    assert page.status_code == 422
    assert "passed on to somebody else" in text
    assert "mine</textarea>" in text
    page = client.get(url("label_assignment", place), follow=True)
    assert "passed on to somebody else" in page.content.decode()
    page = client.post(url("label_skip", place), {"note": "x"}, headers={"X-Part": "work"})
    assert "a secret" not in text + page.content.decode()
    assert client.post(url("label_draft", place), {"answer_note": "more"}).status_code == 409
    assert Draft.objects.get(annotator=first).answers["note"] == "more"


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
    text = client_as(annotator).get(work_url(label_project)).content.decode()
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


def test_queries_do_not_grow_with_items(make_label_project, annotator, client_as, django_assert_max_num_queries):
    label_project = make_label_project(n=60)
    client = client_as(annotator)
    for _ in range(20):
        submit(claim_next(label_project, annotator), annotator, answers())
    with django_assert_max_num_queries(20):
        client.get(work_url(label_project))
    place = Assignment.objects.get(status="leased")
    with django_assert_max_num_queries(45):
        assert client.post(url("label_assignment", place), form(), headers={"X-Part": "work"}).status_code == 200
