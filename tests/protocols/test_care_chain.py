"""The whole of CARE on its shipped files, with a scripted model and people who label by rule."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from django.core.management import call_command

from annotation.models import LabelProject
from annotation.services import claim_next, submit
from evaluation.building import build_report
from evaluation.metrics.attitudes import attitude_mean_error, attitude_rmse, post_attitudes
from evaluation.metrics.tones import tone_exact_match
from evaluation.models import Report
from llm.models import Call, Job
from llm.services import save_endpoint
from materials.models import Dataset, Item
from projects.models import AuditEvent, Project, Role, User
from projects.services import set_member
from protocols.care.keyphrases import Keyphrase
from protocols.care.protocol import PROTOCOL
from protocols.care.tones import SHIPPED, read_tones
from protocols.context import rows_done
from protocols.models import ProtocolRun, StageRun
from protocols.services import collect_stage, give_file, perform, run_stage, set_settings, start_protocol
from protocols.stages import StageError
from protocols.states import stage_states
from responses.models import Response
from tests.llm.jobs import run_here
from tests.model_server import MODEL, Script, ScriptedModelServer
from tests.model_server.answers import seeded

pytestmark = pytest.mark.django_db(transaction=True)
TONES = read_tones(SHIPPED.read_text(encoding="utf-8")).tones
DRAFTS = {tone.name: tone.attitude for tone in TONES}


def model(body: dict) -> str:
    """Reactions that repeat the headline, and a tone that follows from the comment alone, never "weighing"."""
    text = body["messages"][-1]["content"]
    if '"polarity"' in text:
        return json.dumps({"polarity": "A", "stance": "B"})
    if '"reaction"' in text:
        return json.dumps({"reaction": f"{seeded(text).randrange(1000)} thoughts on this."})
    comment = text.split("Comment: ")[1].splitlines()[0]
    return json.dumps({"tone": "ABCDEFGHIJKLMNOPQRSTUVWXY"[seeded(comment).randrange(25)]})


def decide(content: dict, code: str) -> str | None:
    return {
        "topic": "place",
        "geopath": "gb-lak",
        "decision": "remove" if content.get("phrase") == "Monday" else "keep",
        "reason": "a weekday",
        "attitude": DRAFTS.get(content.get("tone", "")),
        "right": "no" if content.get("tone") in ("accusing", "asking") else "yes",
        "right_tone": "joking",
        "note": "",
    }[code]


@pytest.fixture
def people(project: Project) -> list[User]:
    users = [User.objects.create_user(username=f"author-{n}") for n in range(2)]
    for user in users:
        set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
    return users


@pytest.fixture
def care(project: Project) -> Iterator[ProtocolRun]:
    with ScriptedModelServer(Script(answer=model)) as server:
        for name in ("one", "two"):
            prices = {"price_per_million_in": 1, "price_per_million_out": 2}
            save_endpoint(project=project, name=name, base_url=server.base_url, model=MODEL, concurrency=8, **prices)
        run = start_protocol(project=project, name="care", by=None)
        set_settings(run=run, code="salience", values={"most": 12}, by=None)
        yield run


def label(label_project: LabelProject, people: list[User], decide: Callable = decide) -> int:
    codes = [question.code for question in label_project.instrument.questionnaire.questions]
    n = 0
    for person in people:
        while place := claim_next(label_project, person):
            submit(place, person, {code: decide(place.item.content, code) for code in codes})
            n += 1
    return n


def go(run: ProtocolRun, code: str, people: list[User], decide: Callable = decide) -> StageRun:
    """The stage with all that models and people do for it."""
    stage_run = run_stage(run=run, code=code, by=None, here=True)
    if "report" in stage_run.outputs:
        build_report(stage_run.outputs["report"])
    for pk in stage_run.outputs.get("job", []):
        run_here(Job.objects.get(pk=pk))
    if "label_project" in stage_run.outputs:
        label(LabelProject.objects.get(slug=stage_run.outputs["label_project"]), people, decide)
    if stage_run.status == StageRun.Status.UNDER_WAY:
        stage_run = collect_stage(run=run, code=code, by=None)
    assert stage_run.status == StageRun.Status.DONE, stage_run.problem
    return stage_run


def items(stage_run: StageRun, name: str = "dataset") -> list[Item]:
    return list(Dataset.objects.get(slug=stage_run.outputs[name]).items.order_by("position"))


def test_the_chain_from_files_to_attitudes(care: ProtocolRun, people: list[User], capsys: pytest.CaptureFixture):
    done = {stage.code: go(care, stage.code, people) for stage in PROTOCOL.stages}
    call_command("protocol", "care")
    funnel = capsys.readouterr().out
    print(funnel)  # shown with -s
    assert all(stage.title in funnel for stage in PROTOCOL.stages if stage.kind != "report")
    assert not any(state.stale for state in stage_states(care).values())
    for stage_run in done.values():
        assert stage_run.came == stage_run.out + sum(stage_run.why.values()), stage_run.code
    assert {code: (done[code].came, done[code].out) for code in ("read", "corpus", "reactions", "communities")} == {
        "read": (286, 286),
        "corpus": (80, 74),
        "reactions": (186, 151),
        "communities": (5, 4),
    }
    _check_sample(done)
    _check_pilot(done)
    _check_attitudes(done)
    _check_lineage(done)
    _check_report(done)


def _check_sample(done: dict[str, StageRun]) -> None:
    sampled = [(item.content["community"], item.content["quarter"]) for item in items(done["sample"])]
    assert len(set(sampled)) == len(sampled) == done["sample"].out == 16
    posts = {item.external_id for item in items(done["sample"])}
    assert {item.content["post"] for item in items(done["sample"], "dataset_reactions")} <= posts
    table = [item.content for item in items(done["sample"], "table")]
    assert [row["communities"] for row in table] == [5, 4, 4, 4]
    for name in ("articles", "keyphrases", "posts", "reactions"):
        numbers = [row[name] for row in table]
        assert numbers == sorted(numbers, reverse=True)
    assert (table[0]["posts"], table[0]["reactions"], table[3]["posts"]) == (74, 151, 16)
    removed = {item.content["phrase"] for item in items(done["salience"])} - {
        item.content["phrase"] for item in items(done["phrases"])
    }
    assert removed <= {"Monday"}


def _check_pilot(done: dict[str, StageRun]) -> None:
    assert (done["pilot"].came, done["set_up"].came) == (4 * 6 * 2, 6)
    rows = {item.content["set_up"]: item.content for item in items(done["set_up"], "table")}
    assert sorted(rows) == [f"{name}_{a}" for name in ("one", "two") for a in ("definitions", "maximal", "minimal")]
    audited = [item.content["right"] == "yes" for item in items(done["audit"])]
    assert len(audited) == 4  # the scripted model says one tone of a comment in every set-up
    assert {row["accuracy"] for row in rows.values()} == {sum(audited) / 4}
    assert {row["consistency"] for row in rows.values()} == {1.0}
    prices = {name: float(row["price"]) for name, row in rows.items()}
    assert 0 < prices["one_minimal"] < prices["one_definitions"] < prices["one_maximal"]
    assert all(prices[f"two_{a}"] == prices[f"one_{a}"] for a in ("minimal", "maximal"))  # taken over, and counted
    assert done["set_up"].outputs["set_up"] == {"endpoint": "one", "architecture": "minimal"}  # the cheapest


def _check_attitudes(done: dict[str, StageRun]) -> None:
    """Splits by the sign of the real attitude make the whole: what the paper's tables keep to in every row."""
    frames = {}
    for name in ("real", "simulated"):
        frames[name] = pd.DataFrame([item.content for item in items(done["derive"], f"dataset_{name}")])
    assert (frames["simulated"].groupby("setting").size() == 16).all()
    assert set(frames["simulated"]["setting"]) == {"blind", "informed"}
    real = frames["real"]
    assert {row.tone: row.attitude for row in real.itertuples()}.items() <= {
        tone: {"negative": -1, "neutral": 0, "positive": 1}[attitude] for tone, attitude in DRAFTS.items()
    }.items()
    for _, simulated in frames["simulated"].groupby("setting"):
        posts = post_attitudes(real, simulated)
        negative = set(posts.loc[posts["real"] < 0, "post"])
        splits = [posts[posts["post"].isin(negative)], posts[~posts["post"].isin(negative)]]
        sizes = [len(split) for split in splits]
        assert min(sizes) > 0
        for metric, power in ((attitude_mean_error, 1), (attitude_rmse, 2)):
            parts = [metric(split).value ** power * n for split, n in zip(splits, sizes, strict=True)]
            assert sum(parts) / sum(sizes) == pytest.approx(metric(posts).value ** power)
        matches = [tone_exact_match(real, simulated[simulated["post"].isin(split["post"])]) for split in splits]
        whole = tone_exact_match(real, simulated)
        assert sum(match.value * match.n for match in matches) / whole.n == pytest.approx(whole.value)


def _check_lineage(done: dict[str, StageRun]) -> None:
    """From a simulated reaction's attitude back to its calls, its post and the line of the file."""
    derived = items(done["derive"], "dataset_simulated")[0]
    toned = Item.objects.get(pk=derived.lineage["item"])
    call = Call.objects.get(pk=toned.lineage["call"])
    assert Response.objects.filter(source_kind="call", source_id=call.pk, value=toned.content["tone"]).exists()
    assert call.condition.factors["tones"] == "version 1"
    written = Call.objects.get(pk=Item.objects.get(pk=toned.lineage["item"]).lineage["call"])
    assert written.values["reaction"] == derived.content["text"]
    post = written.item
    assert "simulated" not in derived.lineage
    assert all(item.lineage["simulated"] for item in items(done["derive"], "dataset_real"))
    for _ in range(3):  # the sample, the news with a keyphrase, the corpus
        post = Item.objects.get(pk=post.lineage["item"])
    assert post.lineage["file"] == "posts.jsonl"
    assert post.external_id == derived.content["post"]
    assert post.lineage["file_row"] >= 1


def _check_report(done: dict[str, StageRun]) -> None:
    """Every table and figure, on the reactions that the chain labelled."""
    report = Report.objects.get(pk=done["report"].outputs["report"])
    sections = {section["code"]: section for section in report.sections}
    figures = {figure["code"] for section in sections.values() for figure in section["figures"]}
    assert figures >= {"places", "keyphrases", "attitude_shares", "transitions_1"}
    tables = {table["code"]: table for section in sections.values() for table in section["tables"]}
    assert tables.keys() >= {"posts", "models", "attitudes", "attitude_deltas", "tones", "tone_deltas", "moves"}
    real = [item.content for item in items(done["derive"], "dataset_real")]
    (place,) = (row["cells"] for row in tables["places"]["rows"])
    assert (place["topic"], place["place"]) == ("A place and its people", "Europe")
    assert (place["communities"], place["posts"]) == (4, 16)
    candidates = [item.content for item in items(done["salience"], "table_all")]
    assert [row["cells"]["keyphrases"] for row in tables["keyphrases"]["rows"]] == [len(candidates), 12]
    assert [item.content["key"] for item in items(done["salience"])] == [one["key"] for one in candidates[:12]]
    whole = tables["posts"]["rows"][0]["cells"]
    assert (whole["posts"], whole["tones"], whole["communities"]) == (16, len(real), 4)


def test_keyphrases_go_on_from_the_last_step_that_was_kept(
    care: ProtocolRun, people: list[User], monkeypatch: pytest.MonkeyPatch
):
    """A worker that is killed in its third step of seven articles costs that step and nothing else."""
    go(care, "read", people)
    go(care, "corpus", people)
    texts: list[str] = []

    def looked_at(text: str, most: int) -> list[Keyphrase]:
        texts.append(text)
        if len(texts) == 17:
            raise KeyboardInterrupt
        return [Keyphrase(1, "snow", "snow", 0.5)]

    monkeypatch.setattr("protocols.care.stages.corpus.ARTICLES_A_STEP", 7)
    monkeypatch.setattr("protocols.care.keyphrases.keyphrases", looked_at)
    with pytest.raises(KeyboardInterrupt):
        run_stage(run=care, code="keyphrases", by=None, here=True)
    left = care.stage_runs.get(code="keyphrases")
    assert (left.status, len(items(left)), rows_done(left)) == (StageRun.Status.PENDING, 14, 14)
    perform(left.pk)
    left.refresh_from_db()
    found = items(left)
    assert (left.status, left.came, left.out) == (StageRun.Status.DONE, 20, len(found))
    assert [item.position for item in found] == list(range(1, len(found) + 1))
    assert len(texts) == len(found) + 3  # what the killed step had looked at is looked at again


def test_decisions_outlive_other_data_and_a_changed_one_relabels_all(care: ProtocolRun, people: list[User]):
    for code in ("read", "corpus", "communities", "topics", "tones", "proposals"):
        go(care, code, people)
    set_settings(run=care, code="communities", values={"posts_a_month": 1, "months": 1}, by=None)
    go(care, "communities", people)
    again = run_stage(run=care, code="topics", by=None)
    label_project = LabelProject.objects.get(slug=again.outputs["label_project"])
    assert [item.external_id for item in label_project.dataset.items.all()] == ["QuietBirders"]
    label(label_project, people, lambda content, code: {"topic": "home_life", "geopath": "nowhere"}[code])
    with pytest.raises(StageError, match="QuietBirders: 'NOWHERE' is no geopath"):
        collect_stage(run=care, code="topics", by=None)
    place = label_project.assignments.get()
    submit(place, place.annotator, {"topic": "home_life", "geopath": "GLOBAL"}, changing=True)
    topics = {item.external_id: item.content for item in items(collect_stage(run=care, code="topics", by=None))}
    assert len(topics) == 5
    assert again.outputs["dataset_asked"] != label_project.dataset.slug  # all five, of which one was asked
    joint = [item.content for item in items(care.stage_runs.filter(code="topics").last(), "table")]
    assert {(row["topic"], row["scope"]): row["communities"] for row in joint} == {
        ("A place and its people", "Europe"): 4,
        ("Family, home and everyday life", "GLOBAL"): 1,
    }
    assert (topics["QuietBirders"]["scope"], topics["LakeshireLocal"]["scope"]) == ("GLOBAL", "Europe")

    said: dict[str, int] = defaultdict(int)

    def split(content: dict, code: str) -> str:
        said[content["tone"]] += 1
        return "positive" if content["tone"] == "joking" and said["joking"] == 2 else str(DRAFTS[content["tone"]])

    voting = run_stage(run=care, code="attitudes", by=None)
    label_project = LabelProject.objects.get(slug=voting.outputs["label_project"])
    label(label_project, people[:1], split)
    with pytest.raises(StageError, match="Tones without an attitude: 26"):
        collect_stage(run=care, code="attitudes", by=None, partial=True)
    label(label_project, people[1:], split)
    with pytest.raises(StageError, match=r"Tones without an attitude: 1 \(joking\)"):
        collect_stage(run=care, code="attitudes", by=None)
    place = label_project.assignments.get(annotator=people[0], item__external_id="joking/v1")
    submit(place, people[0], {"attitude": "positive"}, changing=True)
    locked = collect_stage(run=care, code="attitudes", by=None)
    assert {item.content["tone"]: item.content["attitude"] for item in items(locked)} == DRAFTS | {"joking": "positive"}
    (event,) = AuditEvent.objects.filter(action="attitudes of tones locked")
    assert event.detail["mapping"]["joking"] == "positive"
    submit(place, people[0], {"attitude": "neutral"}, changing=True)
    other = label_project.assignments.get(annotator=people[1], item__external_id="joking/v1")
    submit(other, people[1], {"attitude": "neutral"}, changing=True)
    relocked = run_stage(run=care, code="attitudes", by=None)
    assert relocked.status == StageRun.Status.DONE
    assert {item.content["tone"]: item.content["attitude"] for item in items(relocked)} == DRAFTS


def test_what_cannot_be_read_is_refused_with_its_lines_and_nothing_is_made(care: ProtocolRun):
    for name in ("posts", "comments", "articles"):
        path = next(source.shipped for source in PROTOCOL.sources if source.name == name)
        lines = path.read_bytes().splitlines()[:3]
        lines[1] = b'{"id": "broken"' if name == "comments" else lines[1]
        give_file(run=care, source=name, file_name=f"my-{name}.jsonl", chunks=[b"\n".join(lines)], by=None)
    failed = run_stage(run=care, code="read", by=None, here=True)
    assert failed.status == StageRun.Status.FAILED
    assert failed.problem.startswith("my-comments.jsonl was not read, mend these lines or remove them. Line 2: ")
    assert not Dataset.objects.exists()
    assert care.files.count() == 3
    assert run_stage(run=care, code="tones", by=None, here=True).out == 26  # no file of tones was given
