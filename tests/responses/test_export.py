import csv
import io
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from materials.questions import parse_questions
from responses import export_table
from responses.export import BOM, codebook_lines, csv_cell, table_lines, write_table
from responses.export_columns import Column, merged, question_cells, question_columns
from responses.export_table import Choices, ExportError, Table
from responses.models import RespondentKind, Response, SourceKind
from responses.services import get_condition, get_respondent, record_many
from tests.responses.conftest import Scene

AT = datetime(2026, 11, 30, 9, 5, 1, 250_000, tzinfo=UTC)


def table(scene: Scene, **choices: Any) -> Table:
    return Table(scene.project, Response.objects.filter(project=scene.project), Choices(**choices))


def as_csv(scene: Scene, **choices: Any) -> list[dict[str, str]]:
    text = "".join(table_lines(table(scene, **choices), "csv"))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def as_json(scene: Scene, **choices: Any) -> list[dict]:
    return [json.loads(line) for line in table_lines(table(scene, **choices), "jsonl")]


def as_file(scene: Scene, format: str, **choices: Any) -> io.BytesIO:
    file = io.BytesIO()
    write_table(file, table(scene, **choices), format)
    file.seek(0)
    return file


def test_a_row_says_everything_about_an_answer(scene: Scene):
    scene.record(scene.answer("yes", respondent_id=scene.model.pk, answered_at=AT, seconds=1.5, source_id=9, sample=2))
    (row,) = as_json(scene, durations=True)
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
        "attr_model": "tiny",
        "cond_prompt": "plain v1",
        "sample": 2,
        "purpose": None,
        "value": "yes",
        "answered_at": "2026-11-30T09:05:01.250000Z",
        "seconds": 1.5,
        "seconds_in_view": None,
        "source_kind": "import",
        "source_id": 9,
    }
    scene.record(scene.answer("yes"))
    cells, other = as_csv(scene, durations=True)
    assert list(cells) == list(other)
    assert cells["demo_model"] == "true"
    assert (cells["attr_country"], other["attr_country"]) == ("", "Japan")


def test_history_says_what_replaced_an_answer_and_when(scene: Scene):
    scene.record(scene.answer("yes"), scene.answer("x", "note"))
    scene.record(scene.answer("no", answered_at=AT), on_conflict="supersede")
    assert {row["value"] for row in as_json(scene)} == {"no", "x"}
    Response.objects.filter(question="note").update(superseded_by=F("pk"))
    first, note, second = as_json(scene, superseded=True)
    assert (first["value"], first["superseded"], first["superseded_by"]) == ("yes", True, second["response_id"])
    assert first["superseded_at"] == "2026-11-30T09:05:01.250000Z"
    assert (note["superseded_by"], note["superseded_at"]) == (note["response_id"], None)
    assert (second["superseded"], second["superseded_by"], second["superseded_at"]) == (False, None, None)


def test_wide_has_a_row_for_each_respondent_and_item_and_a_typed_column_for_each_question(scene: Scene):
    scene.record(scene.answer("no", sample=1, seconds=3))
    scene.record(
        scene.answer("yes", seconds=2.5),
        scene.answer(["a"], "why"),
        scene.answer(4, "much"),
        scene.answer("yes", respondent_id=scene.model.pk),
    )
    first, second, model = as_json(scene, shape="wide", durations=True)
    assert [first[name] for name in ("respondent", "sample", "q_fits", "q_why", "q_note", "q_much", "seconds")] == [
        *("annotator:1", 0, "yes", ["a"], None, 4, 2.5)
    ]
    assert (second["sample"], second["q_fits"], second["q_why"]) == (1, "no", None)
    assert (model["respondent"], model["demo_model"], model["q_fits"]) == ("model:1:x", True, "yes")
    assert list(first) == list(second) == list(model)
    with pytest.raises(ExportError, match="one row an answer"):
        table(scene, shape="wide", superseded=True)


def test_conditions_keep_rows_apart_unless_they_are_of_one_assignment(scene: Scene):
    """A model asked under two prompts has two rows; a person's questions may each have an option order of their own."""
    other = get_condition(project=scene.project, factors={"prompt": "plain v2"}).pk
    scene.record(scene.answer("yes"), scene.answer("no", condition_id=other))
    assert [row["cond_prompt"] for row in as_json(scene, shape="wide")] == ["plain v1", "plain v2"]
    Response.objects.all().delete()
    for question, value, order in (("fits", "yes", "yes|no"), ("why", ["a"], "b|a")):
        condition = get_condition(project=scene.project, factors={"option_order": order, "suggestion": "shown"}).pk
        record_many(
            project=scene.project,
            instrument=scene.instrument,
            answers=[scene.answer(value, question, condition_id=condition, source_id=1)],
            source_kind=SourceKind.ASSIGNMENT,
        )
    (row,) = as_json(scene, shape="wide")
    assert (row["q_fits"], row["q_why"], row["cond_suggestion"]) == ("yes", ["a"], "shown")
    assert row["cond_option_order"] == "fits: yes|no; why: b|a"


AWKWARD = '\r\nNA, "null"\t_x0041_ =1\r ünï \u2028'


def test_texts_of_items_come_out_as_they_went_in(scene: Scene):
    """Whatever the format, and whatever name the field has."""
    scene.dataset.items.update(content={"text": AWKWARD, "1": "#N/A", "list": [1, "a"]})
    scene.record(scene.answer("yes"), scene.answer("=1+1", "note"))
    fields = ("1", "list", "text")
    wanted = ["#N/A", [1, "a"], AWKWARD]
    names = [f"item_{name}" for name in fields]
    assert [[row[name] for name in names] for row in as_json(scene, item_fields=fields)] == [wanted, wanted]
    in_cells = ["#N/A", '[1, "a"]', AWKWARD]
    row = as_csv(scene, item_fields=fields)[0]
    assert [row[name].removeprefix("'") for name in names] == in_cells
    parquet = pq.read_table(as_file(scene, "parquet", item_fields=fields)).to_pylist()
    assert [parquet[0][name] for name in names] == in_cells
    sheet = openpyxl.load_workbook(as_file(scene, "xlsx", item_fields=fields)).active
    assert sheet is not None
    head, *rows = [{cell.column: cell for cell in row} for row in sheet.iter_rows()]
    columns = {cell.value: column for column, cell in head.items()}
    # openpyxl leaves the format's escapes as they are; Excel reads _x005F_ as an underscore.
    assert [rows[0][columns[name]].value for name in names] == [*in_cells[:2], AWKWARD.replace("_x", "_x005F_x")]
    assert (rows[1][columns["value"]].value, rows[1][columns["value"]].data_type) == ("=1+1", "s")
    with pytest.raises(ExportError, match="no field colour; they have"):
        table(scene, item_fields=("colour",))


def test_parquet_and_excel_keep_types(scene: Scene):
    given = (("yes", "fits"), ([], "why"), (2.5, "much"))
    scene.record(*(scene.answer(value, question, answered_at=AT) for value, question in given))
    read = pq.read_table(as_file(scene, "parquet", shape="wide"))
    (row,) = read.to_pylist()
    assert (row["q_fits"], row["q_why"], row["q_much"], row["q_note"]) == ("yes", [], 2.5, None)
    assert (row["answered_at"], row["simulated"], row["instrument_version"]) == (AT, False, 1)
    assert read.schema.field("q_note").type == "string"
    sheet = openpyxl.load_workbook(as_file(scene, "xlsx", shape="wide"), read_only=True).worksheets[0]
    head, cells = sheet.iter_rows(values_only=True)
    row = dict(zip(head, cells, strict=True))
    assert (row["q_fits"], row["q_why"], row["q_much"], row["q_note"]) == ("yes", "[]", 2.5, None)
    assert (row["simulated"], row["instrument_version"]) == (False, 1)


def test_excel_is_refused_what_it_would_cut(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    scene.record(scene.answer("yes"))
    scene.dataset.items.update(content={"text": "a" * 32_768})
    with pytest.raises(ExportError, match="32,768 characters and Excel takes 32,767"):
        as_file(scene, "xlsx", item_fields=("text",))
    monkeypatch.setattr("responses.workbook.MAX_ROWS", 1)
    with pytest.raises(ExportError, match="at most 1 rows"):
        as_file(scene, "xlsx")


def test_ranks_bests_and_passages_have_columns_that_say_what_they_are():
    options = [{"code": code, "text": code.upper()} for code in ("a", "b", "c")]
    asked = [
        {"kind": "rank", "code": "order", "text": "Order", "options": options, "top": 2},
        {"kind": "best_worst", "code": "ends", "text": "Best and worst", "options": options},
        {"kind": "span", "code": "marks", "text": "Mark", "field": "text", "labels": [{"code": "x", "text": "X"}]},
        {"kind": "number", "code": "age", "text": "Age", "integer": True},
        {"kind": "scale", "code": "sure", "text": "Sure?", "low_label": "no", "high_label": "yes"},
    ]
    order, ends, marks, age, sure = parse_questions(asked).questions
    assert [column.name for column in question_columns(order)] == ["q_order.a", "q_order.b", "q_order.c"]
    assert question_cells(order, ["c", "a"]) == {"q_order.c": 1, "q_order.a": 2}
    assert question_cells(ends, {"best": "a", "worst": "c"}) == {"q_ends.best": "a", "q_ends.worst": "c"}
    assert [question_columns(question)[0].type for question in (ends, marks, age, sure)] == [
        *("text", "json", "integer", "integer")
    ]
    assert question_columns(sure)[0].options == {"1": "no", "2": "", "3": "", "4": "", "5": "yes"}


def test_versions_of_a_question_share_a_column():
    old = Column("q_a", "integer", "Number", options={"x": "X"})
    assert merged([old, Column("q_a", "number", "Number", options={"y": "Y"})]) == [
        Column("q_a", "number", "Number", options={"x": "X", "y": "Y"})
    ]
    assert merged([old, Column("q_a", "text", "Text")])[0].type == "json"


def test_the_codebook_names_questions_and_options(scene: Scene):
    scene.record(scene.answer("yes"))
    columns = table(scene, shape="wide").columns
    book = {row["variable"]: row for row in json.loads("".join(codebook_lines(columns, "json")))}
    assert book["q_fits"] == {
        "variable": "q_fits",
        "type": "text",
        "description": "Code of the chosen option",
        "question": "fits",
        "question_text": "Does it fit?",
        "options": {"yes": "Yes", "no": "No"},
    }
    rows = list(csv.DictReader(codebook_lines(columns, "csv")))
    assert [row["variable"] for row in rows] == [column.name for column in columns]


def test_a_byte_order_mark_comes_on_request(scene: Scene):
    scene.record(scene.answer("yes"))
    plain, marked = ("".join(table_lines(table(scene), "csv", bom=bom)) for bom in (False, True))
    assert marked == BOM + plain


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


def peak_bytes(scene: Scene, rows: int, shape: str) -> int:
    Response.objects.all().delete()
    scene.record(*(scene.answer("yes", sample=sample) for sample in range(rows)))
    tracemalloc.start()
    count = sum(1 for _ in table_lines(table(scene, shape=shape), "jsonl"))
    high = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == rows
    return high


@pytest.mark.parametrize("shape", ["tidy", "wide"])
def test_more_rows_need_no_more_memory(scene: Scene, monkeypatch: pytest.MonkeyPatch, shape: str):
    monkeypatch.setattr(export_table, "CHUNK_ROWS", 100)
    peak_bytes(scene, 200, shape)  # fills the caches of a first run
    assert peak_bytes(scene, 3000, shape) < 1.5 * peak_bytes(scene, 200, shape)


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
    book = tmp_path / "book.csv"
    options = ["--shape", "wide", "--item-field", "text", "--format", "xlsx"]
    call_command("export_responses", "--project", scene.project.slug, *options, "--output", str(target))
    call_command(
        "export_responses", "--project", scene.project.slug, *options, "--codebook", "csv", "--output", str(book)
    )
    head, _ = openpyxl.load_workbook(io.BytesIO(target.read_bytes())).worksheets[0].iter_rows(values_only=True)
    assert list(head) == [row["variable"] for row in csv.DictReader(book.open())]
    assert {"item_text", "q_fits"} <= set(head)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--project", "nowhere"], "no project nowhere"),
        (["--project", "p", "--output", "/nowhere/x.csv"], "cannot be written"),
        (["--project", "p", "--format", "parquet"], "--output"),
        (["--project", "p", "--item-field", "colour"], "no field colour"),
        (["--project", "p", "--shape", "wide", "--superseded"], "one row an answer"),
    ],
)
def test_command_refuses_in_a_sentence(scene: Scene, options: list[str], words: str):
    options = [scene.project.slug if option == "p" else option for option in options]
    with pytest.raises(CommandError, match=words):
        call_command("export_responses", *options)


@pytest.mark.parametrize("text", ["=1+1", "＝1+1", "\ufeff=1+1", "@SUM(A1)", "＠SUM(A1)", "-1+1", "\t=1"])
def test_no_spreadsheet_takes_a_cell_for_a_formula(text: str):
    assert csv_cell(text) == f"'{text}"
