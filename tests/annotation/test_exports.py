import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.exports import answers_of
from annotation.models import LabelProject
from annotation.services import NewKnown, add_known_answers, change_settings, claim_next, invalidate, submit
from responses.export import table_lines
from responses.export_table import Choices, Table
from responses.models import RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many
from tests.annotation.conftest import CRITERIA, answers, record


def rows(label_project: LabelProject, **choices) -> list[dict]:
    table = Table(label_project.project, answers_of(label_project), Choices(**choices))
    return [json.loads(line) for line in table_lines(table, "jsonl")]


@pytest.fixture
def labelled(make_label_project, make_annotators) -> LabelProject:
    """One training item and one ordinary one answered by the same person; another holds nothing."""
    made = make_label_project(n=2)
    (person,) = make_annotators(1)
    right = NewKnown(item=made.dataset.items.get(position=0), answers={"clear": ["yes"]})
    add_known_answers(label_project=made, known=[right], purpose="training", by=None)
    for note in ("first", "second"):
        place = claim_next(made, person)
        assert place
        submit(place, person, answers(note=note), seconds=2.0)
    return made


def test_training_is_left_out_unless_asked_for_and_marked(labelled: LabelProject):
    (row,) = rows(labelled, shape="wide", durations=True)
    assert [row[name] for name in ("item", "purpose", "q_plausible", "q_note", "seconds_in_view")] == [
        *("scenarios-1", "label", "yes", "second", 2.0)
    ]
    both = rows(labelled, shape="wide", known=True)
    assert [(row["item"], row["purpose"]) for row in both] == [("scenarios-0", "training"), ("scenarios-1", "label")]


def test_what_a_model_suggested_stands_beside_the_answer(make_label_project, make_annotators):
    made = make_label_project(n=1)
    (person,) = make_annotators(1)
    model = get_respondent(project=made.project, kind=RespondentKind.MODEL, key="model:1:x", attributes={})
    said = Answer(
        respondent_id=model.pk,
        item_id=made.dataset.items.get().pk,
        question="clear",
        value="no",
        condition_id=get_condition(project=made.project, factors={}).pk,
    )
    record_many(project=made.project, instrument=made.instrument, answers=[said], source_kind=SourceKind.CALL)
    LabelProject.objects.update(suggestions="shown", suggestions_of=model)
    made.refresh_from_db()
    place = claim_next(made, person)
    assert place
    submit(place, person, answers())
    shown = {row["question"]: (row["cond_suggestion"], row["suggested"], row["value"]) for row in rows(made)}
    assert shown["clear"] == ("shown", "no", "yes")
    assert shown["neutral"] == (None, None, "yes")
    (row,) = rows(made, shape="wide")
    assert (row["suggested_clear"], row["suggested_neutral"], row["cond_suggestion"]) == ("no", None, "shown")


def test_a_verdict_on_the_model_stands_beside_the_answer(make_label_project, annotator, model):
    made = make_label_project(n=2)
    record(made, model, {0: ["no"], 1: ["no"]})
    change_settings(label_project=made, suggestions="audited", suggestions_of=model, by=None)
    for verdict in ("right", "wrong"):
        submit(claim_next(made, annotator), annotator, {"audit:plausible": verdict, "clear": "no", "neutral": "no"})
    tidy = {(row["item"], row["question"]): (row["value"], row["verdict"]) for row in rows(made)}
    assert tidy["scenarios-0", "plausible"] == ("no", "right")
    assert tidy["scenarios-1", "plausible"] == ("yes", "wrong")
    assert tidy["scenarios-0", "clear"] == ("no", None)
    assert [row["verdict_plausible"] for row in rows(made, shape="wide")] == ["right", "wrong"]


def test_the_side_of_the_chosen_text_stands_beside_a_pair(make_label_project, make_annotators):
    pair = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "one", "second_field": "two"}
    made = make_label_project(n=1, questions=[pair, *CRITERIA], content=lambda i: {"one": "a", "two": "b"}, overlap=4)
    wanted = {}
    for person in make_annotators(4):
        place = claim_next(made, person)
        assert place
        submit(place, person, answers() | {"better": "first"})
        wanted[f"annotator:{person.pk}"] = "left" if place.orders["better"][0] == "first" else "right"
    assert {row["respondent"]: row["side_better"] for row in rows(made, shape="wide")} == wanted
    tidy = rows(made)
    assert {row["respondent"]: row["side"] for row in tidy if row["question"] == "better"} == wanted
    assert {row["side"] for row in tidy if row["question"] != "better"} == {None}


def test_history_says_why_work_was_left_out(make_label_project, make_annotators, viewer, client_as):
    made = make_label_project(n=1, overlap=2)
    left_out, kept = make_annotators(2)
    for person in (left_out, kept):
        submit(claim_next(made, person), person, answers(note="first"))
    submit(made.assignments.get(annotator=kept), kept, answers(note="changed"), changing=True)
    invalidate(label_project=made, user=left_out, reason="guessed", by=None)
    why = {(row["respondent"], row["superseded"]): row["left_out_reason"] for row in rows(made, superseded=True)}
    assert why == {
        (f"annotator:{left_out.pk}", True): "guessed",
        (f"annotator:{kept.pk}", True): None,
        (f"annotator:{kept.pk}", False): None,
    }
    page = client_as(viewer).get(reverse("responses", args=[made.project.slug]), {"superseded": "on"}).content.decode()
    assert page.count("guessed") == 4  # of four answers, beside each
    assert page.count("Superseded") == 1


def test_downloads_are_of_one_labelling_project(labelled: LabelProject, viewer, client_as):
    client, at = client_as(viewer), {"slug": labelled.project.slug, "label": labelled.slug}
    page = client.get(reverse("label_download", kwargs=at))
    assert page.context["count"] == 4
    file = client.get(reverse("label_export", kwargs=at | {"format": "csv"}), {"known": "on"})
    text = b"".join(file.streaming_content).decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == 8
    event = labelled.project.audit_events.get(action="responses exported")
    assert event.detail["filters"] == f"label_project={labelled.slug}&known=on"
    assert client.get(reverse("label_export", kwargs=at | {"format": "pdf"})).status_code == 404
    wrong = {"shape": "wide", "superseded": "on"}
    back = client.get(reverse("label_export", kwargs=at | {"format": "csv"}), wrong, headers={"Accept": "text/html"})
    said = client.get(back.url)  # in a browser, which asks for pages, the choices stay and the reason stands above
    assert (said.status_code, said.context["form"]["shape"].value()) == (422, "wide")
    assert "one row an answer" in said.content.decode()
    assert client.get(reverse("label_export", kwargs=at | {"label": "other", "format": "csv"})).status_code == 404


def test_the_command_names_the_labelling_projects_there_are(labelled: LabelProject):
    out = io.StringIO()
    options = ["--project", labelled.project.slug, "--format", "jsonl"]
    call_command("export_labels", *options, "--labels", labelled.slug, stdout=out)
    assert len(out.getvalue().splitlines()) == 4
    with pytest.raises(CommandError, match=f"no labelling project other; it has: {labelled.slug}"):
        call_command("export_labels", *options, "--labels", "other")
