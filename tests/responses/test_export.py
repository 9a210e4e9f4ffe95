import csv
import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from responses import export
from responses.export import csv_cell, export_lines
from responses.models import RespondentKind, Response
from responses.services import get_respondent
from tests.responses.conftest import Scene

AT = datetime(2026, 11, 30, 9, 5, 1, 250_000, tzinfo=UTC)


def as_csv(scene: Scene) -> list[dict[str, str]]:
    text = "".join(export_lines(scene.project, Response.objects.filter(project=scene.project), "csv"))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def as_json(scene: Scene) -> list[dict]:
    return [json.loads(line) for line in export_lines(scene.project, Response.objects.all(), "jsonl")]


def test_a_row_says_everything_about_an_answer(scene: Scene):
    scene.record(scene.answer("yes", respondent_id=scene.model.pk, answered_at=AT, seconds=1.5, source_id=9, sample=2))
    (row,) = as_json(scene)
    stored = Response.objects.get()
    assert row == {
        "response_id": stored.pk,
        "project": "everyday-norms",
        "dataset": "scenarios",
        "item": "scenarios-0",
        "instrument": "everyday",
        "instrument_version": 1,
        "question": "fits",
        "kind": "choice",
        "respondent": "model:1:x",
        "respondent_kind": "model",
        "simulated": False,
        "demo_model": True,
        "attr_country": None,
        "attr_model": "tiny",
        "cond_prompt": "plain v1",
        "sample": 2,
        "value": "yes",
        "answered_at": "2026-11-30T09:05:01.250000Z",
        "seconds": 1.5,
        "source_kind": "import",
        "source_id": 9,
        "superseded": False,
    }
    (cells,) = as_csv(scene)
    assert list(cells) == list(row)
    assert cells["demo_model"] == "true"
    assert cells["attr_country"] == ""


def test_superseded_answers_are_marked(scene: Scene):
    scene.record(scene.answer("yes"))
    scene.record(scene.answer("no"), on_conflict="supersede")
    assert [(row["value"], row["superseded"]) for row in as_csv(scene)] == [("yes", "true"), ("no", "false")]


def test_cells_that_a_spreadsheet_would_run_are_neutralised_and_numbers_are_not(scene: Scene):
    person = get_respondent(
        project=scene.project,
        kind=RespondentKind.PARTICIPANT,
        key="session:1",
        attributes={"country": "=cmd()"},
        simulated=True,
    )
    scene.record(
        scene.answer('=HYPERLINK("x")', "note", respondent_id=person.pk),
        scene.answer(-2.5, "much"),
        scene.answer(["b", "a"], "why"),
        scene.answer('x,"y"\n=z', "note"),
    )
    rows = as_csv(scene)
    assert [row["value"] for row in rows] == ['\'=HYPERLINK("x")', "-2.5", '["a", "b"]', 'x,"y"\n=z']
    assert (rows[0]["attr_country"], rows[0]["simulated"]) == ("'=cmd()", "true")
    assert [row["value"] for row in as_json(scene)] == ['=HYPERLINK("x")', -2.5, ["a", "b"], 'x,"y"\n=z']


@given(st.text())
def test_no_cell_starts_a_formula_unless_it_is_a_number(text: str):
    cell = csv_cell(text)
    assert cell.removeprefix("'") == text.removeprefix("'")
    if cell[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        float(cell)


def peak_bytes(scene: Scene, rows: int) -> int:
    Response.objects.all().delete()
    scene.record(*(scene.answer("yes", sample=sample) for sample in range(rows)))
    tracemalloc.start()
    count = sum(1 for _ in export_lines(scene.project, Response.objects.all(), "jsonl"))
    high = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == rows
    return high


def test_more_rows_need_no_more_memory(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(export, "CHUNK_ROWS", 100)
    peak_bytes(scene, 200)  # fills the caches of a first run
    assert peak_bytes(scene, 3000) < 1.5 * peak_bytes(scene, 200)


def test_command_writes_whole_files(scene: Scene, tmp_path: Path):
    scene.record(scene.answer("yes"))
    scene.record(scene.answer("no"), on_conflict="supersede")
    target = tmp_path / "out.csv"
    target.write_text("old")
    call_command("export_responses", "--project", scene.project.slug, "--output", str(target))
    assert [row["value"] for row in csv.DictReader(target.open())] == ["no"]
    assert list(tmp_path.iterdir()) == [target]
    out = io.StringIO()
    call_command("export_responses", "--project", scene.project.slug, "--format", "jsonl", "--superseded", stdout=out)
    assert [json.loads(line)["value"] for line in out.getvalue().splitlines()] == ["yes", "no"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--project", "nowhere"], "no project nowhere"),
        (["--project", "p", "--output", "/nowhere/x.csv"], "cannot be written"),
    ],
)
def test_command_refuses_in_a_sentence(scene: Scene, options: list[str], words: str):
    options = [scene.project.slug if option == "p" else option for option in options]
    with pytest.raises(CommandError, match=words):
        call_command("export_responses", *options)


@pytest.mark.parametrize("text", ["=1+1", "＝1+1", "\ufeff=1+1", "@SUM(A1)", "＠SUM(A1)", "-1+1", "\t=1"])
def test_no_spreadsheet_takes_a_cell_for_a_formula(text: str):
    assert csv_cell(text) == f"'{text}"
