"""The kinds of job that the studies need, on real texts where they are at hand."""

import csv
import json
import re
from collections import Counter
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from llm.models import Job
from materials.importing import import_items
from materials.models import Dataset
from materials.reading import read_items
from projects.models import Project
from responses.models import Response
from tests.llm.jobs import JobMaker
from tests.model_server import Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs = pytest.mark.skipif(not DATA.is_dir(), reason="the folder shared/data is not beside the project")

BETTER = {"kind": "pairwise", "code": "better", "text": "?", "first_field": "output_1", "second_field": "output_2"}
JUDGE = """\
Query: {{ item.input }}
{% for option in questions[0].options %}
Response {{ option.letter }}: {{ option.text }}
{% endfor %}
The user {{ condition.preference }}
{{ answer_format }}"""
PREFERENCES = {
    "name": "preference",
    "levels": [{"name": "short", "value": "likes short answers."}, {"name": "long", "value": "likes long answers."}],
}


def judge_by_length(body: dict[str, Any]) -> str:
    """The preferred of the two by length; of two equally long ones the first shown: a judge with a position bias."""
    text = body["messages"][-1]["content"]
    a, b = (re.search(rf"\nResponse {letter}: (.*?)\n(?=\n?(?:Response|The user))", text, re.DOTALL) for letter in "AB")
    assert a
    assert b
    shorter = "A" if len(a.group(1)) <= len(b.group(1)) else "B"
    longer = "A" if len(a.group(1)) >= len(b.group(1)) else "B"
    wanted = shorter if "likes short" in text else longer
    return f"Length decides. The final decision is Response {wanted}."


@needs
def test_judge_pairs_in_both_orders_by_a_stated_preference(jobs: JobMaker, project: Project):
    lines = [json.loads(line) for line in islice((DATA / "llmbar_419.jsonl").open(encoding="utf-8"), 40)]
    pairs = [line | {"id": f"{line['subset']}-{line['idx']}"} for line in lines]
    made = import_records(project, "pairs", pairs)
    with ScriptedModelServer(Script(answer=judge_by_length)) as server:
        job = jobs.run(
            server,
            kind=Job.Kind.JUDGE,
            dataset=made,
            questions=[BETTER],
            user=JUDGE,
            factors=[PREFERENCES],
            option_orders="both",
            answer_mode="sentence",
            answer_sentence="The final decision is Response {letter}.",
        )
        assert (job.n_ok, server.requests) == (160, 160)
        assert all("response_format" not in body for body in server.bodies)
    chosen: dict[tuple[str, str], set[str]] = {}
    for response in Response.objects.select_related("item", "condition"):
        key = (response.item.external_id, response.condition.factors["preference"])
        chosen.setdefault(key, set()).add(response.value)
    for pair in pairs:
        first, second = len(pair["output_1"].strip()), len(pair["output_2"].strip())
        for preference in ("short", "long"):
            first_wins = (first < second) == (preference == "short")
            expected = {"first", "second"} if first == second else {"first"} if first_wins else {"second"}
            assert chosen[pair["id"], preference] == expected, pair["id"]


@needs
def test_annotate_real_comments_with_labels(jobs: JobMaker, project: Project):
    names = (DATA / "goemotions_labels.txt").read_text().split()
    with (DATA / "goemotions_dev.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(islice(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 60))
    gold = {key: [names[int(label)] for label in labels.split(",")] for _, labels, key in rows}
    made = import_records(project, "comments", [{"id": key, "text": text} for text, _, key in rows])
    by_text = {text.strip(): gold[key] for text, _, key in rows}
    tones = {"kind": "multi", "code": "tones", "text": "?", "options": [{"code": name, "text": name} for name in names]}

    def label(body: dict[str, Any]) -> str:
        return ", ".join(by_text[body["messages"][-1]["content"].split("\nTones", maxsplit=1)[0].strip()])

    with ScriptedModelServer(Script(answer=label)) as server:
        job = jobs.run(
            server,
            kind=Job.Kind.ANNOTATE,
            dataset=made,
            questions=[tones],
            user="{{ item.text }}\nTones? {{ answer_format }}",
            answer_mode="label",
        )
    assert job.n_ok == 60
    assert {answer.item.external_id: sorted(answer.value) for answer in Response.objects.select_related("item")} == {
        key: sorted(labels) for key, labels in gold.items()
    }


def test_simulate_reactions_blind_and_informed(jobs: JobMaker):
    """The two settings differ in nothing but the community's name, and each reaction is an answer of its own."""
    setting = {"name": "setting", "levels": ["blind", "informed"]}
    user = "{{ item.text }}{% if condition.setting == 'informed' %} Posted in /r/{{ item.text[-1] }}.{% endif %} React."
    reaction = {"kind": "text", "code": "reaction", "text": "React."}
    with ScriptedModelServer(Script(answer=lambda body: body["messages"][-1]["content"])) as server:
        job = jobs.run(server, n=5, questions=[reaction], user=user, factors=[setting], temperature=0.7)
    assert job.n_ok == 10
    texts = {
        (response.item_id, response.condition.factors["setting"]): response.value
        for response in Response.objects.select_related("condition")
    }
    for (item, name), text in texts.items():
        if name == "informed":
            assert re.sub(r" Posted in /r/\d\.", "", text) == texts[item, "blind"] != text


def test_validate_items_by_criteria_with_a_note(jobs: JobMaker):
    criteria = [
        {
            "kind": "choice",
            "code": code,
            "text": "?",
            "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
        }
        for code in ("plausible", "distinct", "clear")
    ] + [{"kind": "text", "code": "note", "text": "?", "required": False}]
    answer = '{"plausible": "A", "distinct": "A", "clear": "B", "note": null}'
    with ScriptedModelServer(Script(answer=lambda body: answer)) as server:
        job = jobs.run(server, n=3, kind=Job.Kind.ANNOTATE, questions=criteria)
    assert job.n_ok == 3
    assert Counter(Response.objects.values_list("question", "value")) == {
        ("plausible", "yes"): 3,
        ("distinct", "yes"): 3,
        ("clear", "no"): 3,
    }


def import_records(project: Project, slug: str, rows: list[dict[str, Any]]) -> Dataset:
    body = BytesIO("\n".join(json.dumps(row) for row in rows).encode())
    records = read_items(body, filename="rows.jsonl")
    return import_items(project=project, dataset_slug=slug, records=records, source="rows.jsonl", by=None).dataset
