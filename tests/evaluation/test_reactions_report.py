"""Reports on reactions: counts of the database against pandas, and sections against counts done by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client

from evaluation.building import build_report
from evaluation.metrics.attitudes import attitude_rmse
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.reactions_report.frames import read_frames
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.reactions_report.reactions import ALL, CEILING, Reactions
from evaluation.services import create_report
from materials.models import Dataset, Instrument
from projects.models import Project, User
from responses.models import RespondentKind
from responses.services import get_respondent
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db

TONES = ["fear", "hope", "irony"]
QUESTIONS = [
    {
        "kind": "multi",
        "code": "tone",
        "text": "Which tones?",
        "options": [{"code": tone, "text": tone} for tone in TONES],
    },
    {
        "kind": "scale",
        "code": "attitude",
        "text": "Which attitude?",
        "minimum": -1,
        "maximum": 1,
        "labels": ["-", "0", "+"],
    },
]


@pytest.fixture
def posts(project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]) -> Paired:
    """Reactions 0 and 1 to the post p of r/a, 2 to q of r/a, 3 to s of r/b."""

    def content(i: int) -> dict[str, Any]:
        where = {"community": "r/b", "scope": "GLOBAL"} if i == 3 else {"community": "r/a", "scope": "Europe"}
        return {"text": str(i), "post": "ppqs"[i], "topic": "Work", **where}

    dataset = make_dataset(project, n=4, slug="reactions", content=content)
    return Paired(project, dataset, make_instrument(project, questions=QUESTIONS, name="reactions"))


def observe(posts: Paired, item: int, tones: list[str], attitude: int, *, by: str = "1") -> None:
    key = f"annotator:{by}"
    who = get_respondent(project=posts.project, kind=RespondentKind.ANNOTATOR, key=key, attributes={})
    posts.record([(who, item, "tone", tones), (who, item, "attitude", attitude)])  # type: ignore[list-item]


def simulate(posts: Paired, item: int, setting: str, tones: list[str], attitude: int, **factors: Any) -> None:
    who = posts.model("tiny", demo_model=True)
    rows = [(who, item, "tone", tones), (who, item, "attitude", attitude)]
    posts.record(rows, setting=setting, prompt="react v1", **factors)  # type: ignore[arg-type]


@pytest.fixture
def simulated(posts: Paired) -> Paired:
    """Observed: p fear and hope, -1 and 0; q fear, -1; s irony, 1. Blind fear and -1 everywhere but hope and 0 on s;
    informed hope and -1 on p, hope and 0 on q, irony and 1 on s."""
    for item, (tones, attitude) in enumerate([(["fear"], -1), (["hope"], 0), (["fear"], -1), (["irony"], 1)]):
        observe(posts, item, tones, attitude)
    for item, blind, informed in (
        (0, (["fear"], -1), (["hope"], -1)),
        (2, (["fear"], -1), (["hope"], 0)),
        (3, (["hope"], 0), (["irony"], 1)),
    ):
        simulate(posts, item, "blind", *blind)
        simulate(posts, item, "informed", *informed)
    simulate(posts, 0, "other", ["irony"], 1)
    return posts


@pytest.fixture
def asked() -> dict[str, Any]:
    return {
        "dataset": "reactions",
        "instrument": "reactions",
        "tone": "tone",
        "attitude": "attitude",
        "people": "real",
        "post": "item_post",
        "community": "item_community",
        "resamples": 200,
        "swaps": 100,
    }


def built(posts: Paired, asked: dict[str, Any], **changes: Any) -> Report:
    made = create_report(
        project=posts.project, title="Reactions", kind="reactions", parameters=asked | changes, created_by=None
    )
    return build_report(made.pk)


def row(report: Report, table: str, **cells: Any) -> dict[str, Any]:
    assert report.status == Report.Status.READY, report.problem
    tables = [table for section in report.sections for table in section["tables"]]
    found = [row["cells"] for found in tables if found["code"] == table for row in found["rows"]]
    return next(row for row in found if cells.items() <= row.items())


def values(report: Report, figure: str) -> list[dict[str, Any]]:
    figures = [figure for section in report.sections for figure in section["figures"]]
    return next(list(found["spec"]["data"]["values"]) for found in figures if found["code"] == figure)


def test_tones_are_those_of_the_hand(simulated: Paired, asked: dict[str, Any]):
    report = built(simulated, asked)
    blind, informed = (row(report, "tones", split=ALL, level=level) for level in ("blind", "informed"))
    assert [side["exact_match"]["value"] for side in (blind, informed)] == [pytest.approx(2 / 3)] * 2
    assert blind["coverage"]["value"] == pytest.approx(2 / 3)  # irony is never simulated
    delta = row(report, "tone_deltas", split=ALL)
    assert delta["exact_match"]["value"] == pytest.approx(0)
    assert delta["mcnemar"]["value"] == 1  # one post gains, one loses
    assert row(report, "posts", split="Negative")["posts"] == 2  # p and q


def test_attitudes_are_those_of_the_hand(simulated: Paired, asked: dict[str, Any]):
    report = built(simulated, asked)
    blind, informed = (row(report, "attitudes", split=ALL, level=level) for level in ("blind", "informed"))
    # Observed -0.5, -1, 1; blind -1, -1, 0; informed -1, 0, 1.
    assert blind["mean_error"]["value"] == pytest.approx(-0.5)
    assert blind["rmse"]["value"] == pytest.approx((1.25 / 3) ** 0.5)
    assert informed["mean_error"]["value"] == pytest.approx(1 / 6)
    delta = row(report, "attitude_deltas", split=ALL)
    assert delta["delta_abs_me"]["value"] == pytest.approx(-1 / 3)
    assert delta["p_abs_me"]["value"] == 0.5  # of the four patterns of two communities, itself and its reverse
    shares = {(part["who"], part["attitude"]): part["value"] for part in values(report, "attitude_shares")}
    assert shares["Observed", "negative"] == 0.5
    assert shares["tiny · informed", "positive"] == pytest.approx(1 / 3)


def test_beside_the_models_stands_what_one_more_person_reaches(simulated: Paired, asked: dict[str, Any]):
    report = built(simulated, asked)
    tones, attitudes = (row(report, table, model=CEILING, split=ALL) for table in ("tones", "attitudes"))
    # Only p has two reactions, fear at -1 and hope at 0.
    assert (tones["posts"], tones["exact_match"]["value"], tones["divergence"]["value"]) == (1, 0, 1)
    assert tones["coverage"]["reason"].startswith("2 of 3 posts left out: fewer than two real reactions")
    assert (attitudes["posts"], attitudes["rmse"]["value"], attitudes["mean_error"]["value"]) == (1, 1, 0)
    for table, names in (
        ("tones", ["exact_match", "coverage", "divergence"]),
        ("tone_deltas", ["exact_match", "coverage", "divergence"]),
        ("attitudes", ["rmse", "mean_error", "correlation"]),
    ):
        found = row(report, table, model="tiny", split=ALL)
        for name in names:
            assert found[name]["low"] <= found[name]["value"] <= found[name]["high"], (table, name)


def test_where_posts_come_from_is_counted_and_drawn(
    simulated: Paired, asked: dict[str, Any], make_dataset: Callable[..., Dataset]
):
    def phrase(i: int) -> dict[str, Any]:
        return {"salience": 2.5 - i / 2, "frequency": 8 // (i + 1), "sparsity": i / 4, "chosen": "" if i else "yes"}

    make_dataset(simulated.project, n=4, slug="phrases", content=phrase)
    named = {"topic": "item_topic", "place": "item_scope", "keyphrases": "phrases"}
    with pytest.raises(ReportError, match="phrases is no dataset of keyphrases: its items need salience, frequency"):
        built(simulated, asked | named)
    Dataset.objects.filter(slug="phrases").update(field_order=list(phrase(0)))
    report = built(simulated, asked | named)
    places = {(cell["down"], cell["across"]): cell["n"] for cell in values(report, "places")}
    assert places == {("Work", "Europe"): 1, ("Work", "GLOBAL"): 1}
    assert row(report, "places", place="Europe")["posts"] == 2
    lines: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for point in values(report, "keyphrases"):
        lines.setdefault((point["panel"], point["who"]), []).append((point["value"], point["keyphrases"]))
    assert lines["Posts with the keyphrase", "All candidates"] == [(2, 4), (4, 2), (8, 1)]
    assert lines["Sparsity", "Most salient"] == [(0, 1)]
    assert row(report, "keyphrases", group="All candidates")["frequency"] == "3; 8"


def test_communities_move_between_intervals(simulated: Paired, asked: dict[str, Any]):
    report = built(simulated, asked)
    moves = row(report, "moves")
    assert (moves["communities"], moves["improved"], moves["degraded"]) == (2, 1, 1)
    cells = {(cell["across"], cell["down"]): cell["n"] for cell in values(report, "transitions_1") if cell["n"]}
    assert cells == {("0.8 to 1.0", "0.4 to 0.6"): 1, ("0.0 to 0.2", "0.8 to 1.0"): 1}
    without = built(simulated, asked, community=None)
    assert "communities" not in {section["code"] for section in without.sections}


def test_attitudes_can_come_from_tones(
    simulated: Paired, asked: dict[str, Any], make_instrument: Callable[..., Instrument]
):
    options = [{"code": tone, "text": tone} for tone in TONES]
    question = {"kind": "choice", "code": "tone", "text": "Which tone?", "options": options}
    one = Paired(
        simulated.project, simulated.dataset, make_instrument(simulated.project, questions=[question], name="one")
    )
    who = get_respondent(project=one.project, kind=RespondentKind.ANNOTATOR, key="annotator:1", attributes={})
    one.record([(who, 0, "tone", "fear"), (who, 2, "tone", "irony")])
    one.record([(one.model("tiny"), i, "tone", "hope") for i in (0, 2)], setting="blind")
    chosen = {"instrument": "one", "attitude": "tone", "attitudes": {"fear": -1, "hope": 1}}
    found = row(built(one, asked | chosen), "attitudes", split=ALL, level="blind")
    assert (found["posts"], found["mean_error"]["value"]) == (1, 2)  # irony stands nowhere
    with pytest.raises(ReportError, match="stand nowhere"):
        built(one, asked | chosen | {"attitudes": {"joy": 1}})


def test_reactions_are_counted_as_pandas_counts_them(posts: Paired, asked: dict[str, Any]):
    rng = np.random.default_rng(5)
    given: list[dict[str, Any]] = []
    for item in range(4):
        for by in range(6):
            tones = sorted(rng.choice(TONES, size=int(rng.integers(1, 3)), replace=False).tolist())
            observe(posts, item, tones, attitude := int(rng.integers(-1, 2)), by=str(by))
            given.append({"post": "ppqs"[item], "tones": tones, "attitude": attitude})
        simulate(posts, item, "blind", ["fear"], int(rng.integers(-1, 2)))
    parameters = ReactionsParameters.parse(asked)
    data = read_frames(posts.project, parameters)
    expected = pd.DataFrame(given)
    counted = data["observed_tones"].set_index(["post", "tone"])["n"].to_dict()
    assert counted == expected.explode("tones").groupby(["post", "tones"]).size().to_dict()
    reactions = Reactions(**data, parameters=parameters)
    frame = reactions.attitudes(reactions.models[0], "blind", reactions.splits[ALL]).set_index("post")
    assert frame["real"].to_dict() == pytest.approx(expected.groupby("post")["attitude"].mean().to_dict())
    assert attitude_rmse(frame.reset_index()).n == 3


def test_the_page_is_asked_for_by_form_and_shows_the_figures(
    simulated: Paired, asked: dict[str, Any], client_as: Callable[[User | None], Client], researcher: User
):
    client = client_as(researcher)
    reports = f"/p/{simulated.project.slug}/reports/"
    assert "negative = -1, neutral = 0" in client.get(f"{reports}new/?kind=reactions").content.decode()
    given = asked | {"title": "By form", "kinds": ["annotator"], "sessions": "all", "seed": 1, "min_n": 5}
    given |= {"condition": "cond_setting", "blind": "blind", "informed": "informed"}
    refused = client.post(f"{reports}new/?kind=reactions", given | {"attitudes": "negative"})
    assert "Write each option with its number" in refused.content.decode()
    assert client.post(f"{reports}new/?kind=reactions", given | {"attitudes": "negative = -1"}).status_code == 302
    report = build_report(Report.objects.get().pk)
    page = client.get(f"{reports}{report.pk}/").content.decode()
    for words in ("is a demo model", "What telling the community changes", "How communities move when they are named"):
        assert words in page
    assert client.get(f"{reports}{report.pk}/figures/attitude_shares.svg").status_code == 200
