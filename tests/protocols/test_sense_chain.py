"""SenseJudge from the shipped dialogues to its ranking, with a scripted model and two annotators."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import LabelProject
from annotation.services import claim_next, submit
from evaluation.building import build_report
from evaluation.models import Report
from llm.models import Job
from llm.services import save_endpoint
from materials.models import Item
from projects.models import Project, Role, User
from projects.services import set_member
from protocols.models import ProtocolRun, StageRun
from protocols.presentation import funnel
from protocols.services import collect_stage, give_file, plan_stage, run_stage, set_settings, start_protocol
from protocols.stages import StageError
from tests.llm.jobs import run_here
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)

DROPPED = {"Make it better": "ambiguous", "asdkj": "low_quality", "capital of Italy": "too_simple"}
KINDS = {"bakery": "Applied Math", "geometric": "Advanced Math", "boxes": "Conditional", "2, 6, 12": "Inductive"}
TASTES = {"ann": ["alpha", "beta", "gamma"], "bob": ["gamma", "beta", "alpha"]}


def reply(body: dict[str, Any]) -> str:
    """Says what each stage's prompt asks for: a judge follows the preference, and the first place without one."""
    text, model = body["messages"][-1]["content"], body["model"]
    if "fit for it" in text:
        why = next((code for word, code in DROPPED.items() if word in text), "")
        return json.dumps({"quality": {"ambiguous": "C", "low_quality": "D", "too_simple": "E"}.get(why, "A")})
    if "what kind of task" in text:
        title = next((title for word, title in KINDS.items() if word in text), "None of these")
        (letter,) = re.findall(rf"^([A-Z]+)\. .*{title}", text, re.MULTILINE)
        return json.dumps({"category": letter})
    if "Continue this dialogue" in text:
        return json.dumps({"response": f"{model} says this."})
    if "Compare their responses" in text:
        return json.dumps({"comparison": 1 if text.index("strong says") < text.index("weak says") else 5})
    if "Persona Preference:" in text:
        return json.dumps({"preference": f"Likes {re.findall(r'Assistant: (.*) says', text)[0]}."})
    liked = re.findall(r"Likes (\w+)\.", text)
    second = text.partition("Response B")[2]
    return f"The final decision is Response {'B' if liked and f'{liked[0]} says' in second else 'A'}."


@pytest.fixture
def run(project: Project) -> Iterator[ProtocolRun]:
    with ScriptedModelServer(Script(answer=reply)) as server:
        for name in ("strong", "weak", "alpha", "beta", "gamma"):
            save_endpoint(project=project, name=name, base_url=server.base_url, model=name, timeout_seconds=20)
        yield start_protocol(project=project, name="sense", by=None)


@pytest.fixture
def people(project: Project) -> dict[str, User]:
    users = {name: User.objects.create_user(username=name) for name in TASTES}
    for user in users.values():
        set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
    return users


def do(run: ProtocolRun, code: str, **settings: Any) -> StageRun:
    """Run the stage with the calls of its jobs; what people do is left."""
    if settings:
        set_settings(run=run, code=code, values=settings, by=None)
    stage_run = run_stage(run=run, code=code, by=None, here=True)
    assert stage_run.status != "failed", stage_run.problem
    for pk in stage_run.outputs.get("job", []):
        run_here(Job.objects.get(pk=pk))
    if "report" in stage_run.outputs:
        assert build_report(stage_run.outputs["report"]).status == "ready"
    asked = not {"job", "report"}.isdisjoint(stage_run.outputs)
    return collect_stage(run=run, code=code, by=None) if asked else stage_run


def work(stage_run: StageRun, people: list[User], answer: Callable[[User, Item], dict[str, Any]]) -> StageRun:
    label_project = LabelProject.objects.get(slug=stage_run.outputs["label_project"])
    for user in people:
        while place := claim_next(label_project, user):
            submit(place, user, answer(user, place.item))
    return collect_stage(run=stage_run.run, code=stage_run.code, by=None)


def preferred(user: User, item: Item) -> dict[str, Any]:
    taste = TASTES[user.username]
    first = taste.index(item.content["model_1"]) < taste.index(item.content["model_2"])
    return {"better": "first" if first else "second"}


def reported(stage_run: StageRun, table: str) -> list[dict[str, Any]]:
    """The rows of a table of the stage's report, estimates by their values."""
    sections = Report.objects.get(pk=stage_run.outputs["report"]).sections
    (found,) = [found for section in sections for found in section["tables"] if found["code"] == table]
    return [
        {name: cell["value"] if isinstance(cell, dict) else cell for name, cell in row["cells"].items()}
        for row in found["rows"]
    ]


def rows(run: ProtocolRun, stage_run: StageRun, name: str = "dataset") -> list[dict[str, Any]]:
    items = Item.objects.filter(dataset__project=run.project, dataset__slug=stage_run.outputs[name])
    return list(items.order_by("position").values_list("content", flat=True))


def test_the_whole_chain(run: ProtocolRun, people: dict[str, User], viewer: User, client_as, capsys):
    ann, bob = people.values()
    read, denoised = do(run, "read"), do(run, "denoise")
    assert (read.came, read.out, read.why) == (22, 21, {"say the same as an earlier one": 1})
    assert (denoised.out, denoised.why) == (18, {"ambiguous": 1, "low quality": 1, "too simple": 1})
    assert do(run, "categorise").why == {"for a person to sort": 14}
    sorted_ = work(do(run, "sort"), [ann], lambda user, item: {"category": "none"})
    assert (sorted_.out, sorted_.why) == (4, {"of no topic": 14})
    with pytest.raises(StageError, match="Choose at least one strong model"):
        plan_stage(run=run, code="contrast")
    do(run, "contrast", strong=["strong"], weak=["weak"])
    assert do(run, "challenge", endpoint="strong").out == 4
    cleaned = {"separates": "yes", "cleaned": "How much are 26 rolls?"}
    manual = work(
        do(run, "manual"),
        [ann],
        lambda user, item: cleaned if item.external_id == "math-1" else {"separates": "yes", "cleaned": ""},
    )
    first, second, *_ = rows(run, manual)
    assert (first["query"], first["original"][:16], first["cleaned"]) == (
        "Human: How much are 26 rolls?",
        "Human: A bakery ",
        True,
    )
    assert (second["query"], second["cleaned"]) == (second["original"], False)
    do(run, "respond", models=["alpha", "beta", "gamma"])
    pairs = do(run, "pairs")
    assert (pairs.came, pairs.out, pairs.why) == (12, 12, {})
    labels = work(do(run, "labels", annotators=2), [ann, bob], preferred)
    assert (labels.came, labels.out) == (24, 24)
    labels = do(run, "labels")  # nobody is asked again
    assert (labels.status, labels.came, labels.out) == ("done", 24, 24)
    agreement = rows(run, labels, "table_agreement")
    assert [(row["topic"], row["not_the_same"]) for row in agreement] == [("math", 6), ("reasoning", 6)]
    split = do(run, "split", dev_per_topic=2)
    assert [len(rows(run, split, f"dataset_{part}")) for part in ("dev", "test")] == [8, 16]
    written = do(run, "preferences", endpoint="strong")
    assert written.out == 8
    plan = plan_stage(run=run, code="judge_dev")
    assert plan
    assert plan.calls == 32  # 8 dev pairs, 2 preferences, 2 orders
    do(run, "judge_dev", endpoint="strong")
    selected = do(run, "select")
    assert {row["subsets_searched"] for row in rows(run, selected, "table")} == {3}
    do(run, "judge_test", endpoint="strong")
    do(run, "baseline", endpoint="strong")
    ids = Item.objects.filter(dataset__slug=pairs.outputs["dataset"]).values_list("external_id", flat=True)
    lines = ["pair,judge,winner_order_12,winner_order_21", *(f"{pair},first,1,1" for pair in ids)]
    verdicts = "\n".join(lines).encode()
    give_file(run=run, source="verdicts", file_name="verdicts.csv", chunks=[verdicts], by=None)
    assert do(run, "verdicts").out == 12
    scored = do(run, "accuracy")
    overall, first = [row for row in reported(scored, "personal_topics") if row["topic"] == "Mean of topics"]
    assert (overall["author"], overall["people"], overall["pairs"]) == ("strong", 2, 8)
    assert overall["baseline"] == 0.5  # the first place is right in one of two orders
    assert overall["accuracy"] > 0.5
    assert overall["gain"] == overall["accuracy"] - 0.5
    test = rows(run, split, "dataset_test")
    share = [
        [label["human"] for label in test if (label["annotator"], label["topic"]) == key].count("first") / 4
        for key in {(label["annotator"], label["topic"]) for label in test}
    ]
    assert (first["judge"], first["accuracy"]) == ("first", sum(share) / 4)
    assert {row["searched"] for row in reported(scored, "selection")} == {3}
    without, with_ = [row for row in reported(scored, "positions") if row["who"] != "People"]
    assert (without["front"], without["behind"], without["consistency"]) == (24, 0, 0)
    assert with_["consistency"] > 0
    for code in ("preferences", "judge_dev", "select", "judge_test", "accuracy"):  # a second run
        do(run, code)
    do(run, "cross", source="math", targets=["reasoning"])
    do(run, "judge_cross", endpoint="strong")
    compared = do(run, "compare")
    assert [(row["runs"], row["mean"]) for row in reported(compared, "personal_runs")] == [(2, overall["accuracy"])]
    assert {(row["source"], row["target"]) for row in reported(compared, "crossed")} == {("math", "reasoning")}
    table = {"slug": run.project.slug, "dataset": selected.outputs["table"]}
    header, *_ = client_as(viewer).get(reverse("protocol_table_csv", kwargs=table)).content.decode().splitlines()
    assert header.startswith("annotator,topic,subsets_searched,")
    do(run, "ranking_pairs", preferences_each=1)
    do(run, "judge_ranking", endpoint="strong")
    ranked = do(run, "ranking", reference=["alpha", "beta", "gamma"], anchor="beta")
    models = [row for row in reported(ranked, "ranking") if row["who"] == "strong (judge-v1 v1) (with preferences)"]
    assert {row["author"]: row["anchored"] is None for row in models} == {"alpha": False, "beta": True, "gamma": False}
    call_command("protocol", "sense", project=run.project.slug)
    printed = capsys.readouterr().out
    assert {row["title"] for row in funnel(run)} == {
        stage.title for stage in run.protocol.stages if stage.code not in ("accuracy", "compare", "ranking")
    }
    assert "Dialogues" in printed
    assert "1 say the same as an earlier one" in printed
    with capsys.disabled():
        print(printed)
