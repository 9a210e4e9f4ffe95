"""The stages of a protocol: run, stale, run again, collected, and what the page says of them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import LabelProject
from annotation.services import claim_next, submit
from materials.models import Dataset, Item
from projects.models import Project, User
from protocols import catalogue
from protocols.models import ProtocolRun, StageRun
from protocols.services import (
    KILLED,
    MOST_TRIES,
    begin,
    collect_stage,
    give_file,
    perform,
    run_stage,
    set_settings,
    start_protocol,
)
from protocols.stages import StageError
from protocols.states import stage_states
from protocols.tasks import sweep


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> ProtocolRun:
    monkeypatch.setitem(catalogue.PROTOCOLS, "small", "tests.protocols.small")
    return start_protocol(project=project, name="small", by=None)


def do(run: ProtocolRun, *codes: str) -> StageRun:
    for code in codes:
        stage_run = run_stage(run=run, code=code, by=None, here=True)
    return stage_run


def stale(run: ProtocolRun) -> list[str]:
    return [code for code, state in stage_states(run).items() if state.stale]


def test_a_stage_waits_for_what_it_needs_and_counts_what_it_left_out(run: ProtocolRun):
    with pytest.raises(StageError, match='Run "Read" first'):
        do(run, "keep")
    kept = do(run, "read", "keep")
    assert (kept.status, kept.came, kept.out, kept.why) == ("done", 3, 2, {"too short": 1})
    item = Dataset.objects.get(slug=kept.outputs["dataset"]).items.first()
    assert item
    assert Dataset.objects.get(items=item.lineage["item"]).items.count() == 3


def test_a_change_makes_all_stale_that_rests_on_it_until_it_is_run_again(run: ProtocolRun):
    do(run, "read", "keep", "label")
    collect_stage(run=run, code="label", by=None, partial=True)
    assert stale(run) == []
    set_settings(run=run, code="keep", values={"characters": 6}, by=None)
    assert stale(run) == ["keep", "label"]
    set_settings(run=run, code="keep", values={"characters": 4}, by=None)
    assert stale(run) == []
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"four\nnot\n", b"seventeen"], by=None)
    assert stale(run) == ["read", "keep", "label"]
    kept = do(run, "read", "keep")
    assert (kept.number, kept.came, kept.out) == (2, 3, 2)
    assert stale(run) == ["label"]
    assert StageRun.objects.filter(run=run, code="keep").count() == 2


def test_what_people_do_is_collected_when_they_are_through_and_earlier_only_when_asked(run: ProtocolRun):
    label = do(run, "read", "keep", "label")
    assert label.status == "under_way"
    with pytest.raises(StageError, match="under way"):
        do(run, "label")
    with pytest.raises(StageError, match="not through"):
        collect_stage(run=run, code="label", by=None)
    LabelProject.objects.update(status="closed")
    sweep()
    label.refresh_from_db()
    assert (label.status, label.came, label.out, label.why) == ("done", 2, 0, {"not labelled": 2})


def test_decisions_are_found_again_and_only_what_changed_is_given_out(run: ProtocolRun, annotator: User):
    label = do(run, "read", "keep", "label")
    answer_all(label, annotator, "yes")
    assert collect_stage(run=run, code="label", by=None).out == 2
    lines = b"one\nthree\neleven\nanother"  # the third changed, the fourth is new
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[lines], by=None)
    again = do(run, "read", "keep", "label")
    assert again.status == "under_way"
    assert [item.content["text"] for item in given_out(again)] == ["eleven", "another"]
    answer_all(again, annotator, "no")
    done = collect_stage(run=run, code="label", by=None)
    assert (done.came, done.out, done.why) == (3, 1, {"no": 2})
    assert do(run, "label").status == "done"  # nothing is left to ask


def given_out(label: StageRun) -> list[Item]:
    label_project = LabelProject.objects.get(slug=label.outputs["label_project"])
    return list(label_project.dataset.items.order_by("position"))


def answer_all(label: StageRun, annotator: User, answer: str) -> None:
    label_project = LabelProject.objects.get(slug=label.outputs["label_project"])
    while place := claim_next(label_project, annotator):
        submit(place, annotator, {"fine": answer})


def test_what_cannot_be_collected_can_be_run_again(run: ProtocolRun):
    do(run, "read", "keep", "label")
    StageRun.objects.filter(code="label").update(outputs={"label_project": "gone"})
    with pytest.raises(StageError, match="nowhere"):
        collect_stage(run=run, code="label", by=None)
    assert do(run, "label").status == "under_way"
    assert list(run.stage_runs.filter(code="label").values_list("number", "status")) == [
        (1, "failed"), (2, "under_way"),
    ]  # fmt: skip


def test_what_people_do_is_counted_for_the_inputs_they_were_asked_about(run: ProtocolRun):
    do(run, "read", "keep", "label")
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"four\nfive\nseven\neight"], by=None)
    do(run, "read", "keep")
    assert collect_stage(run=run, code="label", by=None, partial=True).came == 2
    assert stale(run) == ["label"]
    assert do(run, "label").status == "under_way"
    assert collect_stage(run=run, code="label", by=None, partial=True).came == 4


def test_the_command_does_not_begin_a_done_stage_again_to_collect_it_empty(run: ProtocolRun, annotator: User):
    do(run, "read", "keep", "label")
    answer_all(run.stage_runs.get(code="label"), annotator, "yes")
    call_command("protocol", "small", "label", "--partial")
    done = run.stage_runs.get(code="label")
    assert done.status == "done"
    with pytest.raises(CommandError, match="is done already; run it again without --partial"):
        call_command("protocol", "small", "label", "--partial")
    assert run.stage_runs.get(code="label") == done


def test_asking_too_early_leaves_the_stage_to_the_sweep(run: ProtocolRun):
    do(run, "read", "keep", "label")
    kept = run.stage_runs.filter(code="keep")
    outputs = kept.get().outputs
    kept.update(outputs={"dataset": "gone"})
    with pytest.raises(StageError, match='The dataset gone was deleted; run "Keep" again'):
        collect_stage(run=run, code="label", by=None, partial=True)
    kept.update(outputs=outputs)
    LabelProject.objects.update(status="closed")
    sweep()
    assert run.stage_runs.get(code="label").status == "done"


def test_a_fault_leaves_nothing_but_its_sentence(run: ProtocolRun):
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"fault\0"], by=None)
    failed = do(run, "read")
    assert (failed.status, failed.problem) == ("failed", "Line 1 is a fault�; mend the file.")
    assert not Dataset.objects.exists()
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"fine\n\nnot\0"], by=None)
    assert "at row 3, column text: a NUL" in do(run, "read").problem
    with pytest.raises(StageError, match="There is no setting"):
        set_settings(run=run, code="read", values={"colour": 1}, by=None)
    with pytest.raises(StageError, match="characters: Input should be greater than or equal to 1"):
        set_settings(run=run, code="keep", values={"characters": 0}, by=None)
    with pytest.raises(StageError, match="seed: Give a whole number from 0 to 2,147,483,647"):
        set_settings(run=run, code="keep", values={"seed": 2**31}, by=None)
    with pytest.raises(StageError, match="is empty"):
        give_file(run=run, source="lines", file_name="none.txt", chunks=[], by=None)
    assert run.files.count() == 2


def test_what_a_killed_worker_left_is_done_by_the_sweep_once(run: ProtocolRun):
    waiting = run_stage(run=run, code="read", by=None)
    assert waiting.status == "pending"
    sweep()
    assert not Dataset.objects.exists()  # whoever was asked may be about to begin
    StageRun.objects.update(started_at=timezone.now() - timedelta(minutes=1))
    sweep()
    perform(waiting.pk)
    assert Dataset.objects.count() == 1
    assert StageRun.objects.get().status == "done"


def test_a_fault_in_collecting_one_stage_keeps_the_sweep_from_no_other(run: ProtocolRun):
    other = start_protocol(project=run.project, name="small", by=None)
    for one in (run, other):
        do(one, "read", "keep", "label")
    StageRun.objects.filter(code="label").update(outputs={})  # nobody is at work any more
    run.stage_runs.filter(code="keep").update(outputs={})
    sweep()
    (failed, done) = StageRun.objects.filter(code="label")
    assert (failed.status, done.status) == ("under_way", "done")
    assert "A fault in the program kept this stage from being done (KeyError: 'dataset');" in failed.problem


def test_a_stage_that_kills_its_worker_is_given_up_and_can_be_run_again(run: ProtocolRun):
    killer = run_stage(run=run, code="read", by=None)
    StageRun.objects.update(started_at=timezone.now() - timedelta(minutes=1))
    assert [begin(killer.pk) for _ in range(MOST_TRIES)] == [True] * MOST_TRIES  # each worker dies before it is through
    sweep()
    killer.refresh_from_db()
    assert (killer.status, killer.problem) == ("failed", KILLED)
    label = do(run, "read", "keep", "label")
    LabelProject.objects.update(status="closed")
    StageRun.objects.filter(pk=label.pk).update(tries=MOST_TRIES)  # now collecting kills
    sweep()
    label.refresh_from_db()
    assert (label.status, label.problem) == ("under_way", KILLED)
    assert collect_stage(run=run, code="label", by=None).status == "done"


def test_a_plan_that_fails_is_said_in_its_row_and_the_page_stands(
    run: ProtocolRun, viewer: User, client_as: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
):
    do(run, "read")
    monkeypatch.setattr("protocols.context.StageContext.dataset", lambda *_: 1 / 0)
    page = client_as(viewer).get(reverse("protocol", args=[run.project.slug, run.pk])).content.decode()
    assert "kept this stage from being planned (ZeroDivisionError: division by zero)" in page


def test_a_setting_that_a_newer_stage_refuses_is_as_if_not_set(run: ProtocolRun):
    run.settings = {"keep": {"least": -1, "gone": 3}}
    run.save()
    assert stage_states(run)["keep"].settings == run.protocol.stage("keep").settings()


def test_runs_are_numbered_within_their_protocol(run: ProtocolRun):
    other = start_protocol(project=run.project, name="pact", by=None)
    again = start_protocol(project=run.project, name="small", by=None)
    assert [str(one).split()[-1] for one in (run, other, again)] == ["1", "1", "2"]
    slugs = {do(one, "read").outputs["dataset"] for one in (run, again)}
    assert slugs == {"small-1-read", "small-2-read"}


def test_the_shipped_files_can_be_taken_again(run: ProtocolRun, researcher: User, client_as: Callable[[User], Client]):
    page, client = reverse("protocol", args=[run.project.slug, run.pk]), client_as(researcher)
    assert "small set again" not in client.get(page).content.decode()
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"mine"], by=None)
    assert do(run, "read").came == 1
    assert "small set again" in client.get(page).content.decode()
    client.post(f"{page}shipped/")
    assert stale(run) == ["read"]
    assert do(run, "read").came == 3
    give_file(run=run, source="lines", file_name="mine.txt", chunks=[b"mine"], by=None)
    call_command("protocol", "small", "read", "--shipped", "--wait")
    assert run.stage_runs.latest("pk").came == 3


def test_the_page_sets_and_runs_and_says_what_is_stale(
    run: ProtocolRun, researcher: User, viewer: User, client_as: Callable[[User], Client]
):
    client, page = client_as(researcher), reverse("protocol", args=[run.project.slug, run.pk])
    assert client.get(reverse("protocols", args=[run.project.slug])).status_code == 200
    do(run, "read")
    text = client.get(page).content.decode()
    assert "3 in, 3 out" in text
    assert "<dd>3</dd>" in text  # the calls of the next stage's plan
    assert client.post(f"{page}keep/settings/", {"keep-characters": "0"}).status_code == 422
    client.post(f"{page}keep/settings/", {"keep-characters": "6"})
    do(run, "keep")
    assert client.post(f"{page}label/run/").status_code == 302
    assert client.get(page, headers={"HX-Request": "true"}, query_params={"stage": "keep"}).status_code == 286
    client.post(f"{page}files/lines/", {"file": SimpleUploadedFile("mine.txt", b"first line")})
    client.post(f"{page}read/run/")
    perform(run.stage_runs.get(status="pending").pk)
    assert ">Stale<" in client.get(page).content.decode()
    assert "Run again" not in client_as(viewer).get(page).content.decode()


def test_a_spreadsheet_runs_nothing_from_the_head_of_a_table(
    run: ProtocolRun, client_as: Callable[[User], Client], viewer: User
):
    do(run, "read")
    Item.objects.update(content={"=1+1": "=2"})
    table = {"slug": run.project.slug, "dataset": Dataset.objects.get().slug}
    head, row, *_ = client_as(viewer).get(reverse("protocol_table_csv", kwargs=table)).content.decode().splitlines()
    assert (head, row) == ("'=1+1,simulated,demo_model", "'=2,false,false")


def test_the_command_runs_a_stage_and_prints_the_funnel(run: ProtocolRun, tmp_path, capsys):
    file = tmp_path / "lines.txt"
    file.write_text("first\nno\n")
    call_command("protocol", "small", "read", "--wait", file=[f"lines={file}"])
    call_command("protocol", "small", "keep", "--wait", set=["characters=3"])
    call_command("protocol", "small")
    *_, header, read, keep = capsys.readouterr().out.splitlines()
    assert header.split() == ["Stage", "In", "Out", "Left", "out,", "and", "why"]
    assert (read.split(), keep.split()) == (["Read", "2", "2"], ["Keep", "2", "1", "1", "too", "short"])
    with pytest.raises(CommandError, match="has no stage brew"):
        call_command("protocol", "small", "brew")
