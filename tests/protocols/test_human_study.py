"""PACT's study of people: its file becomes a study, bots walk it, and the export can be scored as it is."""

import csv
import json
from collections import Counter
from io import BytesIO

import pytest
from django.core.management import CommandError, call_command

from materials.importing import import_items
from materials.reading import read_items
from protocols.pact.human_study import HumanStudyError, human_study
from protocols.pact.scenarios import SCENARIOS_FILE
from protocols.pact.score import main
from studies.models import Screen, Study
from studies.services import open_study
from studies.walk import walk

COUNTRIES = {"Brazil", "IND", "South Africa", "UK", "United States of America", "Argentina", "Nepal", "Singapore"}


def test_countries_are_written_as_in_the_dataset_and_close_are_those_of_the_list():
    design = human_study(COUNTRIES, dataset="d", contact="c", codes={})["design"]
    assert design["relation"]["close"] == {
        "Brazil": ["Argentina"],
        "IND": ["Nepal"],
        "South Africa": [],
        "UK": [],
        "United States of America": [],
    }
    assert [quota["attributes"]["country"] for quota in design["quotas"]] == list(design["relation"]["close"])
    with pytest.raises(HumanStudyError, match="No scenario is set in South Africa, United Kingdom"):
        human_study(COUNTRIES - {"South Africa", "UK"}, dataset="d", contact="c", codes={})


@pytest.mark.django_db(transaction=True)
def test_bots_walk_it_and_the_export_is_scored_unchanged(project, live_server, tmp_path):
    records = read_items(BytesIO(SCENARIOS_FILE.read_bytes()), filename=SCENARIOS_FILE.name)
    import_items(project=project, dataset_slug="scenarios", records=records, source="scenarios.jsonl", by=None)
    path, out = tmp_path / "study.json", tmp_path / "pact.csv"
    arguments = ["--project", project.slug]
    with pytest.raises(CommandError, match="The project has no dataset none; it has scenarios"):
        call_command("pact_human_study", str(path), *arguments, "--dataset", "none", "--contact", "us")
    call_command("pact_human_study", str(path), *arguments, "--dataset", "scenarios", "--contact", "us")
    call_command("create_study", str(path), *arguments)
    study = open_study(study=Study.objects.get(), by=None)
    summary = walk(live_server.url, study.key, 5, 1, refuse=0, inattentive=0, concurrency=2)
    assert summary.ends == {"completed": 5}
    screens = Screen.objects.filter(kind="item")
    relations = [
        Counter(found.factors["relation"] for found in screens.filter(session=s)) for s in study.sessions.all()
    ]
    assert all(set(counts) >= {"same", "far"} for counts in relations)
    explained = [screen.session_id for screen in screens if "why" in screen.asked]
    assert set(Counter(explained).values()) == {2}

    call_command("export_study", study.slug, "--what", "pact", "--simulated", "--out", str(out))
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 35
    assert {row["human_personal"] for row in rows} == {"A", "B"}
    predictions = tmp_path / "models.csv"
    lines = [f"m,no_persona,,,{item},A,B" for item in sorted({row["scenario_item_id"] for row in rows})]
    header = "model_tag,persona_setting,persona_country,persona_demo,scenario_item_id,llm_personal,llm_norm"
    predictions.write_text("\n".join([header, *lines]) + "\n")
    scored = ["--human", str(out), "--predictions", str(predictions), "--out", str(tmp_path / "out")]
    assert main([*scored, "--splits", "2", "--resamples", "2"]) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary["gap_by_country"]) == {row["respondent_country"] for row in rows}
    left_out = summary["input"]["left_out"]
    assert left_out["human"] == {"rows": 35, "personal": 0, "norm": 0}
    assert left_out["items_without_predictions"] == 0


@pytest.mark.django_db
def test_the_page_makes_a_draft_that_can_be_opened_or_says_what_the_items_lack(
    project, make_dataset, researcher, client_as
):
    records = read_items(BytesIO(SCENARIOS_FILE.read_bytes()), filename=SCENARIOS_FILE.name)
    import_items(project=project, dataset_slug="scenarios", records=records, source="scenarios.jsonl", by=None)
    client, url = client_as(researcher), f"/p/{project.slug}/protocols/people/"
    typed = {"contact": "us", "per_country": 2, "seed": 1}
    answer = client.post(url, typed | {"dataset": make_dataset(project, slug="plain").pk})
    assert answer.status_code == 422
    assert "No scenario is set in Brazil" in answer.content.decode()
    answer = client.post(url, typed | {"dataset": project.datasets.get(slug="scenarios").pk})
    study = Study.objects.get()
    assert answer.url == f"/p/{project.slug}/studies/{study.pk}/edit/"
    assert open_study(study=study, by=None).parsed_design.quotas[0].most == 2
