"""PACT from its shipped source files to its reports: a trial with a scripted model and bots in the place of people."""

from dataclasses import replace

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.models import Report
from llm.models import Job
from llm.servers.embedded import NAME
from llm.services import save_endpoint
from materials.models import Dataset, Item
from projects.models import Project, User
from protocols import trial
from protocols.models import ProtocolRun
from protocols.pact import protocol
from protocols.services import plan_stage
from responses.models import Response
from tests.model_server import MODEL, Script, ScriptedModelServer
from tests.protocols.pact_model import reply

PROTOCOL = protocol.PROTOCOL
# All rows and the default limits of the checks; otherwise as in a trial with a tiny model.
TRIAL = {code: values for code, values in PROTOCOL.trial.items() if code not in ("read", "check")} | {
    "people": {"sample": 20, "shared": 4},
    "behaviour": {"cases_each": 2},
    "study": {"per_country": 4},
    "styles": {"endpoints": [2]},
}


@pytest.fixture
def model(settings, monkeypatch):
    with ScriptedModelServer(Script(answer=reply), keep_bodies=False) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.DEMO_MODEL = server.base_url, MODEL, True
        monkeypatch.setenv("CONCORD_MODEL_KEY", "any")
        monkeypatch.setenv("CONCORD_MODEL_BASE_URL", server.base_url)
        yield server


@pytest.mark.django_db(transaction=True)
def test_from_source_files_to_reports(
    project: Project, researcher: User, client_as, live_server, model, monkeypatch, capsys
):
    monkeypatch.setattr(protocol, "PROTOCOL", replace(PROTOCOL, trial=TRIAL))
    monkeypatch.setattr(trial, "PARTICIPANTS", 6)
    prices = {"price_per_million_in": 1, "price_per_million_out": 2}
    save_endpoint(project=project, name=NAME, base_url=model.base_url, model=MODEL, concurrency=16, **prices)
    call_command("protocol", "pact", "--trial", base_url=live_server.url)
    printed = capsys.readouterr().out
    assert "PACT 1 in everyday-norms, with Embedded model, Embedded model 2, bots" in printed
    assert "6 simulated people: " in printed
    run = project.protocol_runs.get()
    rows = {one.code: (one.came, one.out, one.why) for one in run.stage_runs.order_by("id")}
    assert rows["read"] == (66, 54, {"false statements, kept beside the true one they vary": 12})
    assert rows["filter_check"] == (54, 50, {"discarded by a person": 1, "discarded by the model": 3})
    assert rows["check"] == (
        50,
        48,
        {"with a situation that says what is right": 1, "with options that hardly differ": 1},
    )
    assert rows["people"][:2] == (20, 16)
    assert rows["judge"] == (48, 46, {"no: Is the scenario clear?": 2})
    assert rows["overrule"] == (2, 2, {})
    scenarios = 44
    assert rows["remove"] == (48, scenarios, {"found unusable by people": 4})
    assert rows["dyads"] == (scenarios, 48 * scenarios, {})
    assert rows["behaviour"] == (2 * 3 * scenarios, 2 * 3 * scenarios, {})
    plan = plan_stage(run=run, code="behaviour")
    assert plan
    assert plan.price
    assert plan.counts["With the demographic conditions"] == 48 * scenarios * 24
    assert set(run.stage_runs.values_list("status", flat=True)) == {"done"}
    assert Report.objects.filter(status="ready").count() == 3
    for code, answers in (("filter_check", 6), ("people", 32 * 3), ("overrule", 2)):
        note = run.stage_runs.get(code=code).outputs["note"][-1]
        assert note == f"{answers} of these answers are of bots and say nothing about people."
    pilot = run.stage_runs.get(code="judge_pilot").outputs["note"]
    assert any("Judge and people agree on" in sentence for sentence in pilot)
    notes = run.stage_runs.get(code="styles").outputs["note"]
    assert len(notes) == 10
    page = client_as(researcher).get(reverse("protocol", args=[project.slug, run.pk])).content.decode()
    assert all(sentence in page for sentence in pilot)
    assert page.count(">Done<") == len(run.protocol.stages)
    assert ">Stale<" not in page
    _walk_back(run)
    with capsys.disabled():
        print(f"\n{printed}")


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
