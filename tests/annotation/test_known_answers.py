from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.known_file import KnownFileError, read_known_answers
from annotation.marking import drawn_first, due
from annotation.models import Assignment, LabelMember
from annotation.right_answers import right_values
from annotation.services import (
    LabelProjectError,
    NewKnown,
    add_known_answers,
    claim_next,
    items_without_places,
    judge,
    member_for,
    next_known,
    remove_known_answer,
    settle_training,
    submit,
)
from materials.questions import AnswerError, parse_questions
from tests.annotation.conftest import answers

OPTIONS = [{"code": code, "text": code} for code in ("warm", "kind", "curt")]
KINDS = parse_questions(
    [
        {"kind": "choice", "code": "tone", "text": "?", "options": OPTIONS},
        {"kind": "multi", "code": "tones", "text": "?", "options": OPTIONS},
        {"kind": "scale", "code": "sure", "text": "?"},
        {"kind": "text", "code": "word", "text": "?"},
    ]
)


@pytest.mark.parametrize(
    ("code", "cell", "values"),
    [
        ("tone", "warm | kind", ["warm", "kind"]),
        ("tone", ["warm", "kind"], ["warm", "kind"]),
        ("tones", "curt, warm", [["warm", "curt"]]),
        ("tones", ["curt", "warm"], [["warm", "curt"]]),
        ("tones", [["curt"], ["warm"]], [["curt"], ["warm"]]),
        ("sure", "4|5", [4, 5]),
        ("sure", 4, [4]),
        ("word", " Blue ", ["Blue"]),
        ("tone", "", []),
        ("tones", None, []),
    ],
)
def test_a_cell_names_every_right_value(code, cell, values):
    assert right_values(KINDS[code], cell, {}) == values


def test_a_cell_with_no_option_is_refused():
    with pytest.raises(AnswerError, match="'cold' is not an option"):
        right_values(KINDS["tone"], "warm|cold", {})


def test_one_known_answer_falls_due_among_every_few_items_at_an_unforeseen_place():
    counts = [due(handled, every=5, key="k") for handled in range(101)]
    assert counts[0] == 0
    assert [counts[n] for n in range(0, 101, 5)] == list(range(21))
    places = {next(n for n in range(5) if counts[block + n + 1] > block // 5) for block in range(0, 100, 5)}
    assert places == {0, 1, 2, 3, 4}
    assert due(1000, every=0, key="k") == 0


def test_what_is_drawn_depends_on_the_key_and_not_on_the_order():
    ids = [str(n) for n in range(40)]
    assert drawn_first(ids, key="a") == drawn_first(reversed(ids), key="a")
    assert len({drawn_first(ids, key=str(key)) for key in range(20)}) > 5


def known(label_project, n, purpose="training", value="yes", start=0):
    items = list(label_project.dataset.items.order_by("position"))[start : start + n]
    right = {code: [value] for code in ("plausible", "clear")}
    return add_known_answers(
        label_project=label_project,
        known=[NewKnown(item, right, "Because.") for item in items],
        purpose=purpose,
        by=None,
    )


def answer(label_project, user, entry, value):
    """Answer a known answer as the annotator's pages do."""
    member = LabelMember.objects.get(label_project=label_project, user=user)
    place = Assignment.objects.create(
        label_project=label_project,
        item=entry.item,
        place=-member.pk,
        purpose=entry.purpose,
        rank=0,
        annotator=user,
        status="leased",
        lease_until="2100-01-01T00:00Z",
    )
    return submit(place, user, answers(value))


def test_known_answers_take_the_free_places_of_their_items_and_give_them_back(make_label_project, annotator):
    label_project = make_label_project(n=3, overlap=2)
    entry = known(label_project, 1)[0]
    assert label_project.assignments.filter(item=entry.item).count() == 0
    with pytest.raises(LabelProjectError, match="has known answers already"):
        known(label_project, 1)
    held = claim_next(label_project, annotator)
    assert held.item_id == entry.item_id  # the training comes first
    with pytest.raises(LabelProjectError, match="has answered the item"):
        remove_known_answer(known=entry, by=None)
    other = known(label_project, 1, start=1)[0]
    remove_known_answer(known=other, by=None)
    assert list(items_without_places(label_project)) == [other.item]


def test_an_item_that_somebody_has_begun_takes_no_known_answer(make_label_project, annotator):
    label_project = make_label_project(n=2)
    claim_next(label_project, annotator)
    with pytest.raises(LabelProjectError, match="Somebody has begun"):
        known(label_project, 2)
    assert label_project.assignments.count() == 2


@pytest.mark.parametrize(("values", "passed"), [(["yes", "yes"], True), (["yes", "no"], True), (["no", "no"], False)])
def test_the_training_comes_first_and_decides(make_label_project, annotator, values, passed):
    label_project = make_label_project(n=4, pass_mark=0.5)
    entries = known(label_project, 2)
    for entry, value in zip(entries, values, strict=True):
        member = member_for(label_project, annotator)
        settle_training(member)  # too early
        assert not member.qualified_at
        assert next_known(member, 0) == entry
        place = answer(label_project, annotator, entry, value)
        judged = judge(place)
        assert judged.right == {"plausible": value == "yes", "clear": value == "yes"}
        assert (judged.why, judged.right_answers["clear"]) == ("Because.", ["yes"])
    member = settle_training(LabelMember.objects.get(user=annotator))
    assert (bool(member.qualified_at), bool(member.failed_at)) == (passed, not passed)
    assert next_known(member, 0) is None


def test_gold_items_come_at_their_rate_each_once(make_label_project, annotator):
    label_project = make_label_project(n=6, gold_every=2)
    entries = known(label_project, 2, purpose="gold")
    member = member_for(label_project, annotator)
    assert next_known(member, 0) is None
    first = next_known(member, 2)
    answer(label_project, annotator, first, "yes")
    assert next_known(member, 2) is None
    second = next_known(member, 4)
    answer(label_project, annotator, second, "yes")
    assert {first, second} == set(entries)
    assert next_known(member, 100) is None


def test_a_table_of_known_answers_is_taken_whole_or_with_every_fault_named(make_label_project):
    label_project = make_label_project(n=3)

    def read(text):
        return read_known_answers(
            BytesIO(text.encode()), filename="known.csv", label_project=label_project, dataset=label_project.dataset
        )

    taken = read("id,plausible,clear,why\nscenarios-0,yes|no,yes,Both do\nscenarios-1,no,,")
    assert [(entry.item.external_id, entry.answers, entry.why) for entry in taken] == [
        ("scenarios-0", {"plausible": ["yes", "no"], "clear": ["yes"]}, "Both do"),
        ("scenarios-1", {"plausible": ["no"]}, ""),
    ]
    with pytest.raises(KnownFileError) as refused:
        read(
            "id,plausible,tone\nscenarios-9,yes,x\nscenarios-1,maybe,\nscenarios-2,,\nscenarios-0,yes,\nscenarios-0,no,"
        )
    assert [(fault.row, fault.column) for fault in refused.value.faults] == [
        (0, "tone"),
        (2, ""),
        (3, "plausible"),
        (4, ""),
        (6, ""),
    ]


def test_the_page_takes_a_table_and_says_how_people_met_it(make_label_project, annotator, researcher, client_as):
    label_project = make_label_project(n=3)
    client = client_as(researcher)
    url = reverse("label_known", args=[label_project.project.slug, label_project.slug])

    def send(text):
        file = SimpleUploadedFile("known.csv", text.encode())
        return client.post(url, {"dataset": label_project.dataset_id, "purpose": "gold", "file": file})

    refused = send("id,plausible\nscenarios-0,maybe")
    assert refused.status_code == 422
    assert "&#x27;maybe&#x27; is not an option" in refused.content.decode()
    assert send("id,plausible,clear\nscenarios-0,yes,no\nscenarios-1,yes,").status_code == 302
    member_for(label_project, annotator)
    answer(label_project, annotator, label_project.known_answers.first(), "yes")
    rows = client.get(url).context["known"]
    assert [(row.people, row.right, row.given, row.percent) for row in rows] == [(1, 1, 2, 50.0), (0, 0, 0, None)]
    client.post(reverse("label_known_remove", args=[label_project.project.slug, label_project.slug, rows[1].known.pk]))
    assert label_project.known_answers.count() == 1
