"""Agreement and labels of a labelling project: computed by a worker, kept until answers change, and shown."""

import csv
import io
import json
from datetime import datetime
from unittest import mock

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelProject
from annotation.services import claim_next, create_label_project, decide, invalidate, submit
from evaluation import label_results
from evaluation.label_agreement import compute_agreement
from evaluation.label_building import build_label_results
from evaluation.label_doubts import dawid_skene_doubts
from evaluation.labels import aggregated_labels
from projects.models import Role, User
from projects.services import set_member

YES_NO = [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}]
QUESTIONS = [
    {"kind": "choice", "code": "clear", "text": "Clear?", "options": YES_NO},
    {"kind": "choice", "code": "fair", "text": "Fair?", "options": YES_NO},
    {"kind": "scale", "code": "warm", "text": "Warm?", "maximum": 3, "required": False},
    {"kind": "multi", "code": "tones", "text": "Tones?", "options": YES_NO, "required": False},
    {"kind": "text", "code": "note", "text": "Note", "required": False},
]
GIVEN = {  # by person, the answers to clear and fair on the items in their order
    "ana": [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", "yes")],
    "ben": [("yes", "yes"), ("yes", "yes"), ("no", "no"), ("no", "yes")],
}


@pytest.fixture
def labelled(project, make_dataset, make_instrument) -> LabelProject:
    """Two people, four items: they agree on clear for three and on fair for three."""
    label_project = create_label_project(
        project=project,
        name="Validation",
        dataset=make_dataset(project, n=4),
        instrument=make_instrument(project, questions=QUESTIONS),
        by=None,
        order="fixed",
        overlap=2,
    )
    for name, given in GIVEN.items():
        user = User.objects.create_user(username=name)
        set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
        for clear, fair in given:
            submit(claim_next(label_project, user), user, {"clear": clear, "fair": fair, "tones": ["yes"]})
    return label_project


def rows(label_project):
    return {row["code"]: row for row in compute_agreement(label_project)["rows"]}


def test_coefficients_of_each_criterion_and_pooled(labelled):
    found = rows(labelled)
    clear = found["clear"]["estimates"]
    assert clear["observed_agreement"]["value"] == 0.75
    assert clear["observed_agreement"]["low"] < 0.75 < clear["observed_agreement"]["high"]
    assert clear["brennan_prediger"]["value"] == pytest.approx(0.5)  # 2 * 0.75 - 1
    assert clear["cohen_kappa"]["value"] == pytest.approx(0.5)  # (0.75 - 0.5) / (1 - 0.5)
    assert found[""]["estimates"]["observed_agreement"]["n"] == 8  # items times criteria
    assert found["warm"]["reason"] == "nobody has answered it"
    assert found["tones:yes"]["estimates"]["cohen_kappa"]["reason"].startswith("every rating is the same")
    assert "note" not in found


def test_what_is_behind_a_criterion(labelled):
    details = rows(labelled)["clear"]["details"]
    ana, ben = User.objects.filter(username__in=GIVEN).order_by("username").values_list("pk", flat=True)
    pair = details["pairs"][0]
    assert (pair["first"], pair["second"], pair["n"], pair["confusion"]) == (ana, ben, 4, [[2, 1], [0, 1]])
    last = labelled.dataset.items.order_by("position").last()
    assert details["disputed"] == [(last.pk, last.external_id, 2, 1.0)]
    assert [(label, round(cell["value"], 3)) for label, cell in details["specific"]] == [("Yes", 0.8), ("No", 0.667)]


def test_labels_stand_in_columns_of_their_own(labelled, researcher):
    last = labelled.dataset.items.order_by("position").last()
    values = {"clear": "no", "note": "Both read it well"}
    decide(label_project=labelled, item=last, values=values, note="as told", seen=0, by=researcher)
    found = aggregated_labels(labelled).set_index(["item", "question"])
    clear = found.loc[(last.external_id, "clear")]
    assert (clear["n"], clear["majority"], clear["adjudicated"]) == (2, None, "no")  # a tie has no majority
    assert (clear["decision_note"], clear["decided_by"]) == ("as told", researcher.username)
    assert datetime.fromisoformat(clear["decided_at"]) <= timezone.now()
    agreed = found.loc[(last.external_id, "fair")]
    assert (agreed["majority"], agreed["majority_share"], agreed["dawid_skene"]) == ("yes", 1.0, "yes")
    assert found["adjudicated"].dropna().to_dict() == {
        (last.external_id, "clear"): "no",
        (last.external_id, "note"): "Both read it well",
    }


def test_results_are_computed_once_for_the_same_answers(labelled, researcher, client_as):
    client = client_as(researcher)
    page = reverse("label_agreement", args=[labelled.project.slug, labelled.slug])
    with mock.patch.object(label_results.current_app, "send_task") as sent:
        assert "Being computed" in client.get(page).content.decode()
        client.get(page)
        sent.assert_called_once_with("evaluation.tasks.compute_label_results", [labelled.pk])
        build_label_results(labelled.pk)
        shown = client.get(page).content.decode()
        assert "Confusion of ana and ben" in shown
        assert "hx-trigger" not in shown.split("<main")[1]  # nothing to wait for
        assert sent.call_count == 1
        user = User.objects.get(username="ana")
        invalidate(label_project=labelled, user=user, reason="guessed", by=researcher)
        assert not label_results.look(labelled).current


def test_results_of_no_answers_do_not_stand_for_the_first_ones(labelled, researcher, client_as):
    for name in GIVEN:
        invalidate(label_project=labelled, user=User.objects.get(username=name), reason="guessed", by=researcher)
    names, user = [labelled.project.slug, labelled.slug], User.objects.create_user(username="cleo")
    set_member(project=labelled.project, user=user, role=Role.ANNOTATOR, by=None)
    with mock.patch.object(label_results.current_app, "send_task") as sent:
        label_results.look(labelled)
        build_label_results(labelled.pk)
        submit(claim_next(labelled, user), user, {"clear": "yes", "fair": "yes"})
        for page in ("label_agreement", "label_labels"):
            shown = client_as(researcher).get(reverse(page, args=names)).content.decode()
            assert "Being computed" in shown
            assert "obody has answered" not in shown
        assert sent.call_count == 2  # at once, without waiting for the minute after the first look


def test_dawid_skene_labels_of_two_people_or_below_chance_are_doubted(labelled, researcher, client_as):
    build_label_results(labelled.pk)
    page = client_as(researcher).get(reverse("label_labels", args=[labelled.project.slug, labelled.slug]))
    assert "Fewer than three people answered “Clear?”, “Fair?”" in page.content.decode()
    three = {"text": "Clear?", "details": {"raters": [1, 2, 3]}}
    for value, doubts in ((-0.2, 1), (0.0, 0), (None, 0)):
        assert len(dawid_skene_doubts([three | {"estimates": {"brennan_prediger": {"value": value}}}])) == doubts


def test_a_confusion_leads_to_its_items(labelled, researcher, client_as):
    build_label_results(labelled.pk)
    client = client_as(researcher)
    page = client.get(reverse("label_agreement", args=[labelled.project.slug, labelled.slug]))
    n, query = page.context["confusion"][0][1][1]
    items = client.get(f"{reverse('label_adjudicate', args=[labelled.project.slug, labelled.slug])}?{query}")
    assert (n, [row.item for row in items.context["queued"]]) == (
        1,
        [labelled.dataset.items.order_by("position").last()],
    )


def test_labels_that_rest_on_a_bot_say_so(project, labelled, researcher, client_as):
    assert not aggregated_labels(labelled)["simulated"].any()
    ana = User.objects.get(username="ana")
    project.respondents.filter(key=f"annotator:{ana.pk}").update(simulated=True)
    assert aggregated_labels(labelled)["simulated"].all()
    build_label_results(labelled.pk)
    for page in ("label_labels", "label_agreement"):
        shown = client_as(researcher).get(reverse(page, args=[project.slug, labelled.slug])).content.decode()
        assert "badge-simulated" in shown


def test_a_fault_is_told_on_the_page(labelled, researcher, client_as):
    fault = mock.patch("evaluation.label_building.compute_agreement", side_effect=ZeroDivisionError)
    with fault, pytest.raises(ZeroDivisionError):
        build_label_results(labelled.pk)
    page = client_as(researcher).get(reverse("label_agreement", args=[labelled.project.slug, labelled.slug]))
    assert "A fault in the program" in page.content.decode()


def test_downloads_are_of_the_latest_answers_and_safe_in_spreadsheets(labelled, researcher, client_as):
    last = labelled.dataset.items.order_by("position").last()
    decide(label_project=labelled, item=last, values={"note": "=1+1"}, seen=0, by=researcher)
    client, names = client_as(researcher), [labelled.project.slug, labelled.slug]
    with mock.patch.object(label_results.current_app, "send_task"):
        assert client.get(reverse("label_labels_file", args=[*names, "csv"])).status_code == 302
    build_label_results(labelled.pk)
    text = b"".join(client.get(reverse("label_labels_file", args=[*names, "csv"])).streaming_content).decode()
    table = list(csv.DictReader(io.StringIO(text)))
    assert table[-1]["adjudicated"] == "'=1+1"
    assert len(table) == 4 * 4 + 1
    lines = b"".join(client.get(reverse("label_labels_file", args=[*names, "jsonl"])).streaming_content).splitlines()
    assert json.loads(lines[0]) == {
        "item": "scenarios-0",
        "question": "clear",
        "n": 2,
        "majority": "yes",
        "majority_share": 1.0,
        "dawid_skene": "yes",
        "dawid_skene_probability": pytest.approx(1.0, abs=0.01),
        "adjudicated": None,
        "decision_note": None,
        "decided_by": None,
        "decided_at": None,
        "simulated": False,
    }
    assert client.get(reverse("label_labels_file", args=[*names, "exe"])).status_code == 404
    assert labelled.project.audit_events.filter(action="labels exported").count() == 2


def test_the_figure_shows_agreement_by_criterion_and_downloads(labelled, researcher, client_as):
    names, client = [labelled.project.slug, labelled.slug], client_as(researcher)
    with mock.patch.object(label_results.current_app, "send_task"):
        assert client.get(reverse("label_agreement_figure", args=[*names, "csv"])).status_code == 404  # nothing yet
        build_label_results(labelled.pk)
        page = client.get(reverse("label_agreement", args=names)).content.decode()
        drawn = client.get(reverse("label_agreement_figure", args=[*names, "csv"])).content.decode()
        assert client.get(reverse("label_agreement_figure", args=[*names, "svg"])).content.startswith(b"<svg")
    assert "Agreement of annotators by criterion" in page
    shown = {(row["who"], row["question"]): row["value"] for row in csv.DictReader(io.StringIO(drawn))}
    assert float(shown["clear", "Observed"]) == 0.75
    assert ("Pooled over 2 criteria · Yes, No", "Gwet’s AC1") in shown
