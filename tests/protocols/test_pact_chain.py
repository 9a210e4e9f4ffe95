"""PACT from its shipped source files to its reports, with a scripted model, labelled by bots and answered by bots."""

import time
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import LabelProject
from annotation.services import claim_next, submit
from evaluation.building import build_report
from evaluation.models import Report
from llm.models import Job
from llm.services import save_endpoint
from llm.tasks import run_shard
from materials.models import Dataset, Item
from projects.models import Project, Role, User
from projects.services import set_member
from protocols.models import ProtocolRun, StageRun
from protocols.services import collect_stage, plan_stage, run_stage, set_settings, start_protocol
from responses.models import Response
from studies.models import Study
from studies.services import close_study, open_study
from studies.walk import walk
from tests.model_server import MODEL, Script, ScriptedModelServer
from tests.protocols.pact_model import FLAGGED, reply

ALL_YES = {"preference_plausible": "yes", "preference_distinct": "yes", "scenario_clear": "yes", "note": ""}


def go(run: ProtocolRun, code: str) -> StageRun:
    """Run a stage and ask the calls of its jobs; what people have to do stays under way."""
    stage_run = run_stage(run=run, code=code, by=None, here=True)
    assert stage_run.status != "failed", f"{code}: {stage_run.problem}"
    for pk in stage_run.outputs.get("job", []) if stage_run.status == "under_way" else []:
        while Job.objects.get(pk=pk).status == Job.Status.RUNNING:
            run_shard(pk)
    if stage_run.status == "under_way" and "job" in stage_run.outputs:
        stage_run = collect_stage(run=run, code=code, by=None)
    return stage_run


def label(run: ProtocolRun, stage_run: StageRun, users: list[User], answer) -> StageRun:
    label_project = LabelProject.objects.get(slug=stage_run.outputs["label_project"])
    for user in users:
        while place := claim_next(label_project, user):
            submit(place, user, answer(place.item), simulated=True)
    return collect_stage(run=run, code=stage_run.code, by=None)


def funnel(run: ProtocolRun) -> dict[str, tuple[int, int, dict[str, int]]]:
    return {one.code: (one.came, one.out, one.why) for one in run.stage_runs.order_by("id")}


@pytest.fixture
def people(project: Project) -> list[User]:
    users = [User.objects.create_user(username=f"annotator-{n}") for n in range(4)]
    for user in users:
        set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
    return users


@pytest.mark.django_db(transaction=True)
def test_from_source_files_to_reports(project: Project, people: list[User], researcher: User, client_as, live_server):
    started = time.monotonic()
    with ScriptedModelServer(Script(answer=reply), keep_bodies=False) as server:
        save_endpoint(project=project, name="scripted", base_url=server.base_url, model=MODEL, concurrency=16,
                      price_per_million_in=1, price_per_million_out=2)  # fmt: skip
        run = start_protocol(project=project, name="pact", by=None)
        go(run, "read")
        go(run, "filter")
        label(run, go(run, "filter_check"), people[:1], lambda item: {"use": item.content["usable"]})
        for code in ("expectation", "preference", "rewrite", "check"):
            go(run, code)
        set_settings(run=run, code="people", values={"sample": 20, "shared": 4}, by=None)
        label(run, go(run, "people"), people, lambda item: ALL_YES)
        go(run, "judge_pilot")
        go(run, "judge")
        label(run, go(run, "overrule"), people[:1], _keep)
        go(run, "remove")
        dyads = go(run, "dyads")
        plan = plan_stage(run=run, code="behaviour")
        assert plan
        assert plan.price
        scenarios = 45
        assert (dyads.came, dyads.out) == (scenarios, 48 * scenarios)
        assert plan.calls == plan.counts["With the demographic conditions"] == 48 * scenarios * 24
        set_settings(run=run, code="behaviour", values={"cases_each": 2}, by=None)
        go(run, "behaviour")
        _participants(run, live_server.url)
        for code in ("align", "styles", "positions"):
            set_settings(run=run, code=code, values={"personas": False}, by=None)
            go(run, code)
        set_settings(
            run=run, code="alignment_report",
            values={"people": "simulated", "sessions": "completed", "resamples": 100}, by=None,
        )  # fmt: skip
        set_settings(run=run, code="behaviour_report", values={"resamples": 100}, by=None)
        for code in ("behaviour_report", "alignment_report"):
            go(run, code)
            for report in Report.objects.filter(status="pending"):
                build_report(report.pk)
            collect_stage(run=run, code=code, by=None)
    rows = funnel(run)
    assert rows["read"] == (66, 54, {"false statements, kept beside the true one they vary": 12})
    assert rows["filter_check"][:2] == (54, 48)
    assert rows["check"] == (
        48,
        46,
        {"with a situation that says what is right": 1, "with options that hardly differ": 1},
    )
    assert rows["people"] == (20, 20, {})
    assert rows["judge"][1] == 44
    assert rows["overrule"] == (2, 1, {"removed by a person": 1})
    assert rows["behaviour"] == (2 * 3 * scenarios, 2 * 3 * scenarios, {})
    pilot = run.stage_runs.get(code="judge_pilot").outputs["note"]
    assert any("Judge and people agree on" in sentence for sentence in pilot)
    notes = run.stage_runs.get(code="styles").outputs["note"]
    assert len(notes) == 10
    page = client_as(researcher).get(reverse("protocol", args=[project.slug, run.pk])).content.decode()
    assert all(sentence in page for sentence in pilot)
    assert page.count(">Done<") == len(run.protocol.stages)
    assert ">Stale<" not in page
    _walk_back(run)
    out = StringIO()
    call_command("protocol", "pact", stdout=out)
    print(f"\n{out.getvalue()}\n{time.monotonic() - started:.1f} s")


def _keep(item: Item) -> dict[str, str]:
    return {"keep": "yes" if FLAGGED[0].split("-")[1] == "fr" and "cheese" in item.content["situation"] else "no"}


def _participants(run: ProtocolRun, base_url: str) -> None:
    study = Study.objects.get(pk=go(run, "study").outputs["study"])
    open_study(study=study, by=None)
    walk(base_url, study.key, 6, 1, refuse=0, inattentive=0)
    close_study(study=study, by=None)
    collect_stage(run=run, code="study", by=None)


def _walk_back(run: ProtocolRun) -> None:
    """From an answer to the item, its dyad's scenario, the calls that made it and the row of the source file."""
    dyads = Dataset.objects.get(slug=run.stage_runs.get(code="dyads").outputs["dataset"])
    item = Response.objects.filter(item__dataset=dyads, source_kind="call").first().item
    seen = []
    while "item" in item.lineage:
        seen.append(item.dataset.slug.split("-", 2)[2])
        assert "call" not in item.lineage or Job.objects.get(pk=item.lineage["job"]).calls.filter(
            pk=item.lineage["call"]
        )
        item = Item.objects.get(pk=item.lineage["item"])
    assert seen[:3] == ["dyads", "remove", "judge"]
    assert item.lineage["file"].startswith("source_")
    assert item.lineage["file_row"] > 1
