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
    return collect_stage(run=run, code=code, by=None) if "job" in stage_run.outputs else stage_run


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
    report = do(run, "report", people="real")
    build_report(report.outputs["report"])
    report = collect_stage(run=run, code="report", by=None)
    assert report.status == "done"
    scored = do(run, "accuracy")
    found = {
        row["topic"]: (row["accuracy"], row["baseline"])
        for row in rows(run, scored, "table_topics")
        if row["judge"] == "strong"
    }
    assert found["overall"][1] == 0.5  # the first place is right in one of two orders
    assert found["overall"][0] > 0.5
    others = rows(run, scored, "table_others")
    assert {row["judge"] for row in others} == {"first"}
    test = rows(run, split, "dataset_test")
    for row in others:
        own = [
            label["human"] for label in test if (label["annotator"], label["topic"]) == (row["annotator"], row["topic"])
        ]
        assert (row["pairs"], row["accuracy"]) == (4, own.count("first") / 4)
    without, with_ = rows(run, scored, "table_positions")
    assert (without["second"], without["consistency"]) == (0, 0)
    assert with_["consistency"] > 0
    table = {"slug": run.project.slug, "dataset": scored.outputs["table_topics"]}
    page = client_as(viewer).get(reverse("protocol_table", kwargs=table)).content.decode()
    assert '<td class="number">0.500</td>' in page
    header, *_ = client_as(viewer).get(reverse("protocol_table_csv", kwargs=table)).content.decode().splitlines()
    assert header == "topic,accuracy,baseline,gain,judge,preferences_by,simulated,demo_model"
    do(run, "accuracy")
    compared = rows(run, do(run, "compare"), "table")
    (overall,) = [row for row in compared if (row["judge"], row["topic"]) == ("strong", "overall")]
    assert (overall["runs"], overall["accuracy"]) == (2, found["overall"][0])
    do(run, "cross", source="math", targets=["reasoning"])
    crossed = rows(run, do(run, "judge_cross", endpoint="strong"), "table")
    assert {(row["from"], row["to"]) for row in crossed} == {("math", "reasoning")}
    do(run, "ranking_pairs", preferences_each=1)
    do(run, "judge_ranking", endpoint="strong")
    ranked = do(run, "ranking", reference=["alpha", "beta", "gamma"], anchor="beta")
    assert {row["model"] for row in rows(run, ranked, "table")} == {"alpha", "beta", "gamma"}
    call_command("protocol", "sense", project=run.project.slug)
    printed = capsys.readouterr().out
    assert {row["title"] for row in funnel(run)} == {
        stage.title for stage in run.protocol.stages if stage.code != "report"
    }
    assert "Dialogues" in printed
    assert "1 say the same as an earlier one" in printed
    with capsys.disabled():
        print(printed)
