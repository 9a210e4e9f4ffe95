"""Bots in the place of annotators: valid answers to every kind of question, and never instead of people at work."""

from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from annotation.bots import bot_answers
from annotation.models import Decision, LabelMember
from annotation.services import claim_next, label_with_bots, settle_splits, submit
from materials.question_examples import EXAMPLES
from materials.questions import check_value, is_shown, parse_questions
from projects.models import User
from responses.models import Respondent
from tests.annotation.conftest import answers, known, record

LETTERS = [{"code": code, "text": code} for code in "abcd"]
QUESTIONS = [
    *(question for _, question in EXAMPLES.values()),
    {"kind": "multi", "code": "few", "text": "?", "options": LETTERS, "minimum": 2, "maximum": 3},
    {"kind": "multi", "code": "apart", "text": "?", "options": [*LETTERS, {"code": "no", "text": "no", "apart": True}]},
    {"kind": "multi", "code": "one", "text": "?", "options": [{**letter, "apart": True} for letter in LETTERS]},
    {"kind": "rank", "code": "top", "text": "?", "options": LETTERS, "top": 2},
    {"kind": "number", "code": "whole", "text": "?", "minimum": 0.5, "maximum": 2.5, "integer": True},
    {"kind": "number", "code": "below", "text": "?", "maximum": -3.25},
    {"kind": "text", "code": "short", "text": "?", "max_length": 2},
    {"kind": "text", "code": "reason", "text": "?", "show_if": {"question": "usual", "any_of": ["no"]}},
]
FIELDS = ("option_a", "option_b", "reply_a", "reply_b", "text", "situation", "review")


def test_every_answer_is_valid_whatever_is_drawn():
    questions = parse_questions(QUESTIONS).questions
    content = dict.fromkeys(FIELDS, "Two words") | {q.field: "Two words" for q in questions if q.kind == "span"}
    reasons = set()
    for n in range(60):
        given = bot_answers(questions, content, item=f"item-{n}", bot="bot-1", seed=1)
        for question in questions:
            if is_shown(question, given) and question.required:
                assert check_value(question, given[question.code], content) is not None
            elif question.code in given:
                check_value(question, given[question.code], content)
        reasons.add("reason" in given)
        assert given["better"] != "tie"
    assert reasons == {True, False}


def test_bots_agree_more_than_by_chance_and_follow_from_the_seed():
    questions = parse_questions([{"kind": "choice", "code": "q", "text": "?", "options": LETTERS}]).questions

    def draw(bot: str, seed: int = 1) -> list[str]:
        return [bot_answers(questions, {}, item=str(n), bot=bot, seed=seed)["q"] for n in range(200)]

    one, other = draw("bot-1"), draw("bot-2")
    assert one == draw("bot-1")
    assert one != draw("bot-1", seed=2)
    assert 0.7 < sum(a == b for a, b in zip(one, other, strict=True)) / 200 < 0.95
    assert set(Counter(one)) == set("abcd")


@pytest.mark.django_db
def test_bots_fill_all_places_and_are_marked(make_label_project, project):
    label_project = make_label_project(n=6, overlap=2, members_only=True, gold_every=2, pass_mark=1.0)
    known(label_project, "training", 2, value="no")
    known(label_project, "gold", 1, value="no")
    summary = label_with_bots(label_project=label_project)
    assert summary == (2, 2 * (6 + 2 + 1), 0)
    assert {one.simulated for one in Respondent.objects.filter(kind="annotator")} == {True}
    assert set(LabelMember.objects.exclude(qualified_at=None).values_list("user__username", flat=True)) == {
        "bot-1",
        "bot-2",
    }
    assert not User.objects.filter(username__startswith="bot-", is_active=True).exists()
    assert label_with_bots(label_project=label_project).filled == 0


@pytest.mark.django_db
def test_bots_judge_what_a_model_suggests(make_label_project, model):
    label_project = make_label_project(n=3)
    record(label_project, model, {0: ["yes"], 1: ["no"], 2: ["no"]})
    label_project.suggestions, label_project.suggestions_of = "audited", model
    label_project.save()
    assert label_with_bots(label_project=label_project).filled == 3


@pytest.mark.django_db
def test_places_are_left_to_people_who_have_begun(make_label_project, annotator, capsys):
    label_project = make_label_project(n=2)
    submit(claim_next(label_project, annotator), annotator, answers())
    with pytest.raises(CommandError, match="People have begun to label Validation"):
        call_command("label_bots", label_project.slug)
    assert not Respondent.objects.filter(simulated=True).exists()
    call_command("label_bots", label_project.slug, "--beside-people", project=label_project.project.slug)
    assert "Simulated annotators (1) filled 1 places; 0 are left." in capsys.readouterr().out


@pytest.mark.django_db
def test_what_bots_cannot_do_is_said(make_label_project):
    label_project = make_label_project(status="closed")
    with pytest.raises(CommandError, match="Validation is closed; open it"):
        call_command("label_bots", label_project.slug)
    label_project.status = "open"
    label_project.save()
    for wanted in (0, -1, 101, 10**9):
        with pytest.raises(CommandError, match=rf"Give 1 to 100 bots; these are {wanted:,}\."):
            call_command("label_bots", label_project.slug, annotators=wanted)
    assert not User.objects.filter(username__startswith="bot-").exists()
    with pytest.raises(CommandError, match="There is no labelling project elsewhere"):
        call_command("label_bots", "elsewhere")


@pytest.mark.django_db
def test_an_answer_that_is_refused_is_named_with_its_item(make_label_project):
    label_project = make_label_project(n=1, gold_every=1)
    known(label_project, "gold", 1, value="perhaps")
    with pytest.raises(CommandError, match="a bot answered on item gold-0 was refused: 'perhaps' is not an option"):
        call_command("label_bots", label_project.slug)


@pytest.mark.django_db
def test_a_persons_account_is_no_bots(make_label_project):
    User.objects.create_user(username="bot-1")
    with pytest.raises(CommandError, match="The account bot-1 is a person's"):
        call_command("label_bots", make_label_project().slug)


@pytest.mark.django_db
def test_a_bot_settles_what_is_split_and_nothing_else(make_label_project, make_annotators):
    label_project = make_label_project(n=2, overlap=2)
    for user, value in zip(make_annotators(2), ("yes", "no"), strict=True):
        while place := claim_next(label_project, user):
            own = answers("yes") | ({"clear": value} if place.item.external_id.endswith("1") else {})
            submit(place, user, own)
    assert settle_splits(label_project=label_project) == 1
    decision = Decision.objects.get()
    assert (decision.question, decision.value, decision.by.username) == ("clear", "yes", "bot-1")
    assert settle_splits(label_project=label_project) == 0
