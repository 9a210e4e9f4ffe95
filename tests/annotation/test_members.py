import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelMember
from annotation.services import (
    MembershipRefusedError,
    cap_of,
    change_member,
    claim_next,
    let_on,
    member_for,
    name_members,
    set_member_status,
    submit,
)
from tests.annotation.conftest import answers, known


def test_beginning_makes_a_member_unless_only_named_ones_may(make_label_project, make_annotators):
    label_project = make_label_project()
    first, second = make_annotators(2)
    assert member_for(label_project, first) == member_for(label_project, first)
    label_project.members_only = True
    label_project.save()
    with pytest.raises(MembershipRefusedError, match="you are not among them"):
        member_for(label_project, second)
    assert name_members(label_project=label_project, users=[first, second], by=None) == 1
    assert member_for(label_project, second).user == second


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"status": "paused", "reason": "holiday"}, r"paused your work on this \(holiday\)"),
        ({"status": "excluded", "reason": "secret"}, "ended your work on this.$"),
    ],
)
def test_who_may_not_go_on_is_told_why(make_label_project, annotator, fields, sentence):
    label_project = make_label_project()
    LabelMember.objects.create(label_project=label_project, user=annotator, **fields)
    with pytest.raises(MembershipRefusedError, match=sentence):
        member_for(label_project, annotator)


def test_a_person_goes_on_after_a_pause_and_past_a_failed_training(make_label_project, annotator, researcher):
    label_project = make_label_project()
    member = member_for(label_project, annotator)
    set_member_status(member=member, status="paused", reason="holiday", by=researcher)
    set_member_status(member=member, status="active", by=researcher)
    member.failed_at = timezone.now()
    member.save()
    let_on(member=member, by=researcher)
    assert member_for(label_project, annotator).qualified_at
    actions = label_project.project.audit_events.filter(user=researcher).values_list("action", flat=True)
    assert {"labelling member paused", "labelling member active", "labelling member let on"} <= set(actions)


def test_a_cap_of_ones_own_goes_before_the_projects(make_label_project, annotator):
    member = member_for(make_label_project(cap=20), annotator)
    assert cap_of(member) == 20
    change_member(member=member, cap=0, sees_suggestions=False, by=None)
    assert cap_of(member) == 0


def test_the_page_of_people_names_and_pauses_them(make_label_project, make_annotators, researcher, client_as):
    label_project = make_label_project()
    first = make_annotators(2)[0]
    client = client_as(researcher)
    url = reverse("label_members", args=[label_project.project.slug, label_project.slug])
    assert client.post(url, {}).status_code == 422
    client.post(url, {"users": [first.pk]})
    member = LabelMember.objects.get(label_project=label_project)
    own = reverse("label_member", args=[label_project.project.slug, label_project.slug, member.pk])
    pause = reverse("label_person_bulk", args=[label_project.project.slug, label_project.slug, first.pk, "pause"])
    assert pause in client.get(url).content.decode()
    client.post(pause, {"reason": "holiday"})
    client.post(own, {"cap": 5})
    refused = client.post(own, {"cap": 0}, follow=True)
    assert "items at most: Ensure this value is greater than or equal to 1." in refused.content.decode()
    member.refresh_from_db()
    assert (member.user, member.status, member.reason, member.cap) == (first, "paused", "holiday", 5)
    assert "holiday" in client.get(url).content.decode()
    client.post(own, {"action": "resume"})
    assert member_for(label_project, first).cap == 5


def test_who_did_not_pass_reads_the_score_and_is_not_said_to_have_passed_when_let_on(
    make_label_project, annotator, researcher, client_as
):
    label_project = make_label_project(pass_mark=0.8)
    known(label_project, "training", 2)
    for value in ("yes", "no"):
        submit(claim_next(label_project, annotator), annotator, answers(value))
    with pytest.raises(MembershipRefusedError, match="1 of your 2 answers to them were right, and 80 % are needed"):
        member_for(label_project, annotator)
    client, slugs = client_as(researcher), [label_project.project.slug, label_project.slug]
    page = client.get(reverse("label_members", args=slugs)).content.decode()
    assert "Training not passed" in page
    assert "n = 2" in page
    own = reverse("label_member", args=[*slugs, LabelMember.objects.get().pk])
    page = client.post(own, {"action": "let_on"}, follow=True).content.decode()
    assert "Let on without passing" in page
    assert "Training passed" not in page
    assert claim_next(label_project, annotator).purpose == "label"
