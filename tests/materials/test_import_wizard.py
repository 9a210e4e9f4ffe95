import csv
import io
import json
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from materials import import_forms, importing_runs
from materials.importing_upload import PART_BYTES, open_upload
from materials.models import Dataset, ImportRun, Item, UploadPart
from projects.models import AuditEvent, Project, User

State = ImportRun.State
CHOSEN = {"id_from": "columns", "same_id": "refuse", "same_content": "keep"}


def url(name: str, run: ImportRun | Project, **kwargs: object) -> str:
    where = {"slug": run.slug} if isinstance(run, Project) else {"slug": run.project.slug, "pk": run.pk}
    return reverse(name, kwargs={**where, **kwargs})


@pytest.fixture
def client(client_as: Callable[[User], Client], researcher: User) -> Client:
    return client_as(researcher)


def begin(project: Project, data: bytes | str, name: str = "food.csv", dataset: str = "food") -> ImportRun:
    raw = data.encode() if isinstance(data, str) else data
    by = project.members.get(username="researcher")
    return importing_runs.begin(project=project, dataset_slug=dataset, file_name=name, chunks=[raw], by=by)


def columns(*chosen: dict[str, str]) -> dict[str, str]:
    fields = {f"column-{number}-{key}": value for number, column in enumerate(chosen) for key, value in column.items()}
    return CHOSEN | fields


def column(name: str, type: str = "keep", **more: str) -> dict[str, str]:
    return {"take": "on", "name": name, "type": type, **more}


def test_a_file_is_uploaded_mapped_checked_and_imported(client: Client, project: Project, researcher: User):
    file = SimpleUploadedFile("food.csv", b"code;text;n\n007;<b>Tea</b>;5\n008;NA;\n")
    page = client.post(url("import_items", project), {"dataset": "food", "file": file}, follow=True)
    assert "&lt;b&gt;Tea&lt;/b&gt;" in page.content.decode()
    run = ImportRun.objects.get()
    chosen = columns(column("id", is_id="on"), column("words"), column("n", "number"))
    page = client.post(url("import_columns", run), chosen, follow=True)
    assert "Import 2 items" in page.content.decode()
    assert not Item.objects.exists()
    assert not Dataset.objects.exists()
    page = client.post(url("import_action", run, action="import"), follow=True)
    assert [(item.external_id, item.content) for item in Item.objects.all()] == [
        ("007", {"id": "007", "words": "<b>Tea</b>", "n": 5}),
        ("008", {"id": "008", "words": "NA", "n": None}),
    ]
    assert Item.objects.all()[0].lineage == {"source": "food.csv", "row": 2, "import": run.pk}
    assert not UploadPart.objects.exists()
    assert AuditEvent.objects.get(action="items imported").user == researcher
    page = client.get(reverse("dataset", args=[project.slug, "food"]))
    assert url("import_run", run) in page.content.decode()


def test_faults_are_shown_and_downloaded_and_keep_everything_out(client: Client, project: Project):
    run = begin(project, 'id,n\na,1\n,2\nb,"=x"\nc,1,2\n')
    page = client.post(
        url("import_columns", run), columns(column("id", is_id="on"), column("n", "number")), follow=True
    )
    assert "3 faults in 4 rows" in page.content.decode()
    rows = list(csv.reader(io.StringIO(client.get(url("import_faults", run)).content.decode())))
    assert [row[:2] for row in rows] == [["row", "column"], ["3", "id"], ["4", "n"], ["5", "3"]]
    page = client.post(url("import_action", run, action="import"), follow=True)
    assert not Item.objects.exists()
    assert "3 faults" in page.content.decode()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (columns(column("a"), column("b")), "Tick the column"),
        (columns(column("a", is_id="on"), column("a")), "Two columns are named a"),
        (columns(column("", is_id="on"), column("b")), "Give id a name"),
        (columns({"type": "keep", "is_id": "on"}, {"type": "keep"}), "Take at least one"),
        (columns(column("a", "picture", is_id="on"), column("b")), "picture"),
    ],
)
def test_what_cannot_be_chosen_is_said_at_the_field(
    client: Client, project: Project, chosen: dict[str, str], words: str
):
    run = begin(project, "id,text\na,1\n")
    page = client.post(url("import_columns", run), chosen)
    assert page.status_code == 422
    assert any(words in problem["text"] for problem in page.context["choosing"].problems)


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [(b"%PDF", "paper.pdf", "save it as one of these"), (b"PK\x03\x04", "a.xlsx", "damaged"), (b"", "a.csv", "empty")],
)
def test_a_file_that_is_none_is_refused_at_the_field(
    client: Client, project: Project, data: bytes, name: str, words: str
):
    page = client.post(url("import_items", project), {"dataset": "food", "file": SimpleUploadedFile(name, data)})
    assert page.status_code == 422
    assert words in str(page.context["form"].errors["file"])
    assert not ImportRun.objects.exists()


def test_a_file_that_is_too_large_is_refused_in_a_sentence(client: Client, project: Project):
    with mock.patch.object(import_forms, "MAX_UPLOAD_BYTES", 3):
        page = client.post(
            url("import_items", project), {"dataset": "food", "file": SimpleUploadedFile("a.csv", b"id\na")}
        )
    assert "larger than 2 GB" in str(page.context["form"].errors["file"])


def test_a_file_in_windows_1252_is_read_as_it_and_can_be_read_otherwise(client: Client, project: Project):
    run = begin(project, b"id,text\na,caf\xe9\n", name="food.tab.csv")
    page = client.get(url("import_columns", run)).content.decode()
    assert "café" in page
    assert "Windows-1252 is a guess" in page
    read = {"read": "1", "encoding": "cp1251", "delimiter": ",", "header": "on"}
    assert "cafй" in client.post(url("import_columns", run), read, follow=True).content.decode()
    read["delimiter"] = ";"
    page = client.post(url("import_columns", run), read, follow=True).content.decode()
    assert "New name of id,text" in page


def test_a_header_that_is_wrong_is_said_with_the_preview(client: Client, project: Project):
    run = begin(project, "id,id\na,b\n")
    assert "the column name id stands there twice" in client.get(url("import_columns", run)).content.decode()
    read = {"read": "1", "encoding": "utf-8", "delimiter": ","}
    assert "column 2" in client.post(url("import_columns", run), read, follow=True).content.decode()


ROWS = "id,text\na,1\nb,2\nb,3\nc,1\n"


@pytest.mark.parametrize(
    ("rules", "ids", "skipped"),
    [
        ({"same_id": "skip"}, ["a", "b", "c"], 1),
        ({"same_id": "skip", "same_content": "skip"}, ["a", "b"], 2),
        ({"id_from": "content"}, None, 0),
    ],
)
def test_rows_that_are_there_already_are_skipped_by_rule(
    client: Client, project: Project, rules: dict[str, str], ids: list[str] | None, skipped: int
):
    run = begin(project, ROWS)
    client.post(url("import_columns", run), columns(column("id", is_id="on"), column("text")) | rules)
    client.post(url("import_action", run, action="import"))
    run.refresh_from_db()
    assert (run.state, run.rows, run.skipped) == (State.DONE, 4, skipped)
    found = [item.external_id for item in Item.objects.all()]
    assert found == ids if ids else len(set(found)) == 4
    again = begin(project, ROWS.replace("c,1", "d,1"))
    client.post(url("import_columns", again), columns(column("id", is_id="on"), column("text")) | rules)
    again.refresh_from_db()
    assert again.added == (0 if "same_content" in rules else 1)


def test_a_large_file_waits_for_a_worker_and_can_be_stopped_and_discarded(
    client: Client, project: Project, django_capture_on_commit_callbacks: Any
):
    run = begin(project, ROWS.replace("b,3\n", ""))
    with (
        mock.patch.object(importing_runs, "AT_ONCE_BYTES", 0),
        mock.patch.object(importing_runs.current_app, "send_task") as sent,
        django_capture_on_commit_callbacks(execute=True),
    ):
        page = client.post(
            url("import_columns", run), columns(column("id", is_id="on"), column("text")), follow=True
        ).content.decode()
    sent.assert_called_once_with("materials.tasks.work", [run.pk])
    assert "waits for a free worker" in page
    assert url("import_live", run) in page
    client.post(url("import_action", run, action="discard"))
    client.post(url("import_action", run, action="stop"))
    run.refresh_from_db()
    assert run.state == State.DRAFT
    client.post(url("import_action", run, action="discard"))
    assert not ImportRun.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_stopped_while_it_is_read_leaves_nothing(project: Project, researcher: User):
    run = begin(project, "id\n" + "\n".join(map(str, range(30_000))))
    assert importing_runs.start_check(run=run, by=researcher)
    run.refresh_from_db()
    heard: list[int] = []
    watched = importing_runs._Watch.__call__

    def somebody_stops_it() -> None:
        importing_runs.stop(run=run)
        connection.close()

    def stop_and_watch(watch: Any, rows: int) -> None:
        heard.append(rows)
        thread = threading.Thread(target=somebody_stops_it)
        thread.start()
        thread.join()
        watched(watch, rows)

    with (
        mock.patch.object(importing_runs._Watch, "__call__", stop_and_watch),
        mock.patch.object(importing_runs, "WATCH_SECONDS", 0),
    ):
        assert importing_runs.start_import(run=run, by=researcher)
    run.refresh_from_db()
    assert run.state == State.CHECKED
    assert len(heard) == 1
    assert heard[0] < 30_000
    assert not Item.objects.exists()
    assert importing_runs.start_import(run=run, by=researcher)
    assert Item.objects.count() == 30_000


@pytest.mark.django_db(transaction=True)
def test_only_a_run_that_nobody_holds_is_marked_as_failed(client: Client, project: Project):
    run = begin(project, ROWS)
    ImportRun.objects.update(state=State.IMPORTING, started_at=timezone.now())
    taken, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with importing_runs.alone(importing_runs.LOCK, run.pk):
            taken.set()
            leave.wait(10)
        connection.close()

    worker = threading.Thread(target=hold)
    worker.start()
    taken.wait(10)
    assert "rows read" in client.get(url("import_live", run)).content.decode()
    leave.set()
    worker.join()
    page = client.get(url("import_run", run)).content.decode()
    assert "The worker ended before it was through" in page
    assert "Check again" in page


def test_the_sweep_asks_again_and_forgets_old_uploads(project: Project, researcher: User):
    begin(project, ROWS)
    waiting = begin(project, ROWS)
    long_ago = timezone.now() - timedelta(days=8)
    ImportRun.objects.update(created_at=long_ago)
    ImportRun.objects.filter(pk=waiting.pk).update(state=State.CHECKING, asked_at=long_ago)
    with mock.patch.object(importing_runs.current_app, "send_task") as sent:
        importing_runs.sweep()
    sent.assert_called_once_with("materials.tasks.work", [waiting.pk])
    assert ImportRun.objects.get() == waiting


def test_an_upload_is_read_in_parts_from_anywhere(project: Project, researcher: User):
    data = bytes(range(256)) * (2 * PART_BYTES // 256) + b"end"
    by = {"project": project, "dataset_slug": "d", "file_name": "f", "plan": {}, "size": 0, "by": researcher}
    run = ImportRun.objects.create(**by)
    importing_runs.store_upload(run, [data[:5], data[5:]])
    with open_upload(run) as file:
        assert file.read() == data
        assert file.seek(-3, io.SEEK_END) == len(data) - 3
        assert file.read() == b"end"
        file.seek(PART_BYTES - 2)
        assert file.read(4) == data[PART_BYTES - 2 : PART_BYTES + 2]


def test_the_shell_takes_the_plan_of_a_run(client: Client, project: Project, tmp_path: Path):
    run = begin(project, "id;n\na;1\n", name="n.csv")
    client.post(url("import_columns", run), columns(column("id", is_id="on"), column("count", "number")))
    (tmp_path / "plan.json").write_bytes(client.get(url("import_plan", run)).content)
    (tmp_path / "n.csv").write_text("id;n\na;1\n")
    arguments = ["--project", project.slug, "--dataset", "d", "--plan", str(tmp_path / "plan.json")]
    call_command("import_items", str(tmp_path / "n.csv"), *arguments, stdout=io.StringIO())
    assert Item.objects.get().content == {"id": "a", "count": 1}
    assert json.loads((tmp_path / "plan.json").read_text())["source"]["delimiter"] == ";"


def test_another_projects_imports_are_out_of_reach(client: Client, project: Project, researcher: User):
    run = begin(project, ROWS)
    ImportRun.objects.update(project=Project.objects.create(name="Other", slug="other"))
    for name in ("import_run", "import_columns", "import_live", "import_faults", "import_plan"):
        assert client.get(reverse(name, args=[project.slug, run.pk])).status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "types"),
    [
        ("a.csv", "id,a\x00b\n1,x\n", []),
        ("a.csv", "id,n\n1,2\x00\n", ["keep", "number"]),
        ("a.jsonl", '{"id": "1", "\\ud800": "x"}\n', ["keep"]),
        ("a.jsonl", '{"id": "1", "n": "2\\ud800"}\n', ["keep", "number"]),
        ("a.jsonl", '{"id": "1", "a\\u0000": "x"}\n', ["keep"]),
    ],
)
def test_what_cannot_be_stored_is_a_fault_and_no_error(
    client: Client, project: Project, name: str, data: str, types: list[str]
):
    run = begin(project, data, name)
    assert client.get(url("import_columns", run)).status_code == 200
    names = zip(["id", "n"], types, strict=False)
    chosen = columns(*(column(name, type, is_id="on" if name == "id" else "") for name, type in names))
    page = client.post(url("import_columns", run), chosen, follow=True)
    assert "\ufffd" in page.content.decode() or "surrogate" in page.content.decode()
    assert not Item.objects.exists()
