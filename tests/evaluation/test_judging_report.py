"""Reports on judges: judgments counted by the database against pandas, and sections against counts done by hand."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from django.test import Client
from pydantic import ValidationError

from evaluation.building import build_report
from evaluation.judging_report.frames import read_frames
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from llm.models import Call, Endpoint, Job
from materials.models import Dataset, Instrument
from projects.models import Project, User
from responses.models import Respondent, RespondentKind
from responses.services import get_condition, get_respondent
from tests.evaluation.conftest import Paired

pytestmark = pytest.mark.django_db

BETTER = {
    "kind": "pairwise",
    "code": "better",
    "text": "Which response is better?",
    "first_field": "one",
    "second_field": "two",
    "allow_tie": True,
}
AUTHORS = [("x", "y"), ("y", "z"), ("x", "z"), ("z", "x")]
FRONT, BACK = "first|second|tie", "second|first|tie"


@pytest.fixture
def pairs(project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]) -> Paired:
    """Four pairs of responses by x, y and z; the first two of the topic math."""

    def content(i: int) -> dict[str, Any]:
        by, against = AUTHORS[i]
        return {"one": "1", "two": "2", "by": by, "against": against, "topic": "math" if i < 2 else "code"}

    dataset = make_dataset(project, n=4, slug="pairs", content=content)
    return Paired(project, dataset, make_instrument(project, questions=[BETTER], name="judging"))


def annotator_of(pairs: Paired, number: int) -> Respondent:
    key = f"annotator:{number}"
    return get_respondent(project=pairs.project, kind=RespondentKind.ANNOTATOR, key=key, attributes={})


@pytest.fixture
def judged(pairs: Paired) -> Paired:
    """Person 7 chooses first, second, first of three pairs, person 8 first, second, second: a tie on the third.

    The judge, in the order of the pairs, takes first, first, second, first where first stands in front, and first,
    second, second, second where second does: it is right on 3 of the 4 choices with a majority.
    """
    for number, values in ((7, ["first", "second", "first"]), (8, ["first", "second", "second"])):
        who = annotator_of(pairs, number)
        pairs.record([(who, i, "better", value) for i, value in enumerate(values)], option_order=FRONT)
    judge = pairs.model("tiny", demo_model=True)
    for order, values in ((FRONT, "first first second first"), (BACK, "first second second second")):
        rows = [(judge, i, "better", value) for i, value in enumerate(values.split())]
        pairs.record(rows, option_order=order, prompt="judge v1", temperature=0)
    return pairs


@pytest.fixture
def asked() -> dict[str, Any]:
    return {
        "dataset": "pairs",
        "instrument": "judging",
        "question": "better",
        "people": "real",
        "resamples": 200,
        "topic": "item_topic",
        "first_author": "item_by",
        "second_author": "item_against",
    }


def built(pairs: Paired, asked: dict[str, Any], **changes: Any) -> Report:
    made = create_report(
        project=pairs.project, title="Judges", kind="judging", parameters=asked | changes, created_by=None
    )
    return build_report(made.pk)


def rows(report: Report, table: str) -> list[dict[str, Any]]:
    assert report.status == Report.Status.READY, report.problem
    tables = [table for section in report.sections for table in section["tables"]]
    return [row["cells"] for found in tables if found["code"] == table for row in found["rows"]]


def row(report: Report, table: str, **cells: Any) -> dict[str, Any]:
    return next(found for found in rows(report, table) if cells.items() <= found.items())


def test_accuracy_is_that_of_the_hand(judged: Paired, asked: dict[str, Any]):
    report = built(judged, asked)
    tiny = row(report, "accuracy", judge="tiny")
    assert tiny["items"] == 2  # on one pair people are tied, one has no label
    assert tiny["accuracy"]["value"] == 0.75
    assert tiny["accuracy"]["low"] <= 0.75 <= tiny["accuracy"]["high"]
    assert tiny["right_in_both"]["value"] == 0.5
    assert tiny["consistency"]["value"] == 0.5
    assert row(report, "accuracy", judge="People with each other")["accuracy"]["value"] == pytest.approx(2 / 3)
    by_person = {cells["person"]: cells["accuracy"]["value"] for cells in rows(report, "by_person")}
    assert by_person == {"Person 1": 0.5, "Person 2": pytest.approx(5 / 6)}
    by_topic = {cells["topic"]: cells["accuracy"]["value"] for cells in rows(report, "by_topic")}
    assert by_topic == {"math": 0.75, "code": None, "Mean of topics": 0.75}


def test_the_place_of_a_response_is_looked_at_over_all_pairs(judged: Paired, asked: dict[str, Any]):
    judged.record([(judged.model("once", demo_model=False), 0, "better", "first")], option_order=FRONT)
    report = built(judged, asked)
    assert row(report, "accuracy", judge="once")["right_in_both"]["reason"] == "no pair was asked in both orders"
    assert row(report, "positions", who="once")["consistency_all"]["value"] is None
    tiny = row(report, "positions", who="tiny")
    assert (tiny["front"], tiny["behind"], tiny["pairs"]) == (6, 2, 4)
    assert (tiny["always_front"], tiny["always_behind"]) == (2, 0)
    assert tiny["binomial"]["value"] == pytest.approx(2 * 37 / 256)
    assert tiny["mcnemar"]["value"] == 0.5
    assert tiny["consistency"]["value"] == 0.5
    people = row(report, "positions", who="People")  # one order only
    assert (people["front"], people["behind"], people["pairs"]) == (3, 3, 0)
    assert row(report, "decisions", who="tiny")["first"]["value"] == 0.5


def test_authors_are_ranked_and_a_strength_that_does_not_exist_says_so(judged: Paired, asked: dict[str, Any]):
    report = built(judged, asked, reference=["x", "z", "y"])
    of_people = [cells for cells in rows(report, "ranking") if cells["who"] == "People"]
    means = {cells["author"]: cells["mean"]["value"] for cells in of_people}
    assert means == {"x": 0.75, "z": 0.75, "y": 0}
    strength = of_people[0]["strength"]
    assert strength["value"] is None
    assert "never won" in strength["reason"]
    agreement = row(report, "ranking_agreement", who="People")
    assert agreement["order"]["value"] == pytest.approx(2 / 3)  # x and z are even
    figure = next(figure for s in report.sections for figure in s["figures"] if figure["code"] == "wins_people")
    cells = {(cell["down"], cell["across"]): cell["value"] for cell in figure["spec"]["data"]["values"]}
    assert (cells["x", "y"], cells["x", "z"], cells["x", "x"], cells["x", "Mean"]) == (1, 0.5, None, 0.75)


def test_preferences_of_a_named_person_vote_and_are_held_against_that_person(judged: Paired, asked: dict[str, Any]):
    """On the third pair two of three preferences of person 7 choose first, which person 7 did and person 8 did not."""
    judge = judged.model("voter", demo_model=False)
    for order, (preference, value) in product(
        (FRONT, BACK), (("brief", "first"), ("kind", "first"), ("formal", "second"))
    ):
        factors = {"preference": preference, "judged_for": "7", "option_order": order}
        judged.record([(judge, 2, "better", value)], **factors)
    report = built(judged, asked, preferences="cond_preference", person="cond_judged_for")
    voter = row(report, "accuracy", judge="voter")
    assert (voter["items"], voter["accuracy"]["n"], voter["accuracy"]["value"]) == (1, 2, 1.0)
    assert [cells["asked"] for cells in rows(report, "by_person") if cells["judge"] == "voter"] == ["Person 1"]
    assert row(report, "positions", who="voter")["consistency"]["value"] == 1
    without = built(judged, asked, person="cond_judged_for")  # each preference for itself
    assert row(without, "accuracy", judge="voter")["accuracy"]["value"] == pytest.approx(2 / 3)


def test_a_reply_that_cannot_be_read_is_wrong(judged: Paired, asked: dict[str, Any]):
    project, judge = judged.project, judged.model("tiny", demo_model=True)
    endpoint = Endpoint.objects.create(project=project, name="local", base_url="http://127.0.0.1:9/v1", model="tiny")
    job = Job.objects.create(
        project=project, name="j", kind="judge", endpoint=endpoint, personas=[{}], dataset=judged.dataset,
        instrument=judged.instrument,
    )  # fmt: skip
    factors = {"option_order": FRONT, "prompt": "judge v1", "temperature": 0}
    condition = get_condition(project=project, factors=factors)
    for sample, status in ((1, "unparsed"), (2, "error")):
        Call.objects.create(
            job=job, item=judged.dataset.items.first(), respondent=judge, condition=condition, sample=sample,
            status=status,
        )  # fmt: skip
    report = built(judged, asked)
    tiny = row(report, "accuracy", judge="tiny")
    assert (tiny["accuracy"]["n"], tiny["accuracy"]["value"]) == (5, 0.6)
    assert row(report, "judges", judge="tiny")["unread"] == 1
    assert row(report, "positions", who="tiny")["front"] == 6


def test_judgments_are_counted_as_pandas_counts_them(pairs: Paired, asked: dict[str, Any]):
    rng = np.random.default_rng(3)
    pairs.record([(annotator_of(pairs, 7), 0, "better", "first")])
    expected: Counter[tuple[Any, ...]] = Counter()
    for model, order, preference in product(("a", "b"), (FRONT, BACK), ("p", "q", "r")):
        values = rng.choice(["first", "second", "tie"], size=4)
        who = pairs.model(model, demo_model=False)
        factors = {"preference": preference, "option_order": order}
        pairs.record([(who, i, "better", str(value)) for i, value in enumerate(values)], **factors)
        for i, value in enumerate(values):
            expected[f"pairs-{i}", model, order.split("|")[0], str(value)] += 1
    parameters = JudgingParameters.parse(asked | {"preferences": "cond_preference"})
    judgments = read_frames(pairs.project, parameters)["judgments"]
    assert len(judgments) == 16
    counted = judgments.melt(["item", "model", "shown"], ["n_first", "n_second", "n_tie"], "value", "n")
    found = {
        (item, model, shown, value.removeprefix("n_")): n
        for item, model, shown, value, n in counted.itertuples(index=False)
        if n
    }
    assert found == expected


def test_what_cannot_be_asked_gets_a_sentence(judged: Paired, asked: dict[str, Any], answered: Paired):
    with pytest.raises(ReportError, match="does not compare two responses"):
        built(judged, asked | {"dataset": "scenarios", "instrument": "paired", "question": "norm"})
    with pytest.raises(ReportError, match="both authors"):
        built(judged, asked | {"second_author": None})
    with pytest.raises(ValidationError):
        JudgingParameters.model_validate(asked | {"person": "topic"})
    with pytest.raises(ReportError, match="name as many datasets of the one as of the other"):
        built(judged, asked | {"test": ["pairs"]})
    with pytest.raises(ReportError, match="Items of Pairs have no pair, preference_id, annotator, human; choose"):
        built(judged, asked | {"dev": ["pairs"], "test": ["pairs"]})


@pytest.fixture
def told(judged: Paired, make_dataset: Callable[..., Dataset]) -> dict[str, Any]:
    """Two preferences of person 7: told of the first, tiny is right in both orders; of the second, it takes what stands
    in front on the dev pair and is wrong on the test pair."""
    verdicts = {
        "dev": ("pairs-0", "first", ["first first", "first second"]),
        "test": ("pairs-1", "second", ["second second", "first first"]),
    }
    for slug, (pair, human, said) in verdicts.items():
        about = {"pair": pair, "annotator": "annotator:7", "human": human, "topic": "math", "preference_by": "large"}
        dataset = make_dataset(
            judged.project,
            n=2,
            slug=slug,
            content=lambda i, about=about: about | {"preference_id": f"annotator:7/math/{i}"},
        )
        under = Paired(judged.project, dataset, judged.instrument)
        for place, order in enumerate((FRONT, BACK)):
            rows = [(judged.model("tiny", demo_model=True), i, "better", said[i].split()[place]) for i in range(2)]
            under.record(rows, option_order=order, prompt="told v1", temperature=0)
    return {"dev": ["dev"], "test": ["test"]}


def test_preferences_are_selected_on_dev_pairs_and_tried_on_test_pairs(
    judged: Paired, asked: dict[str, Any], told: dict[str, Any]
):
    report = built(judged, asked | told)
    selected = row(report, "selection", author="large")
    assert (selected["searched"], selected["dev_rows"], selected["dev_right"], selected["best"]) == (3, 2, 2, 1)
    mine = row(report, "personal_people", person=selected["person"])
    assert [mine[of]["value"] for of in ("accuracy", "baseline", "gain")] == [1, 0.5, 0.5]
    with_ = row(report, "positions", who="tiny (told v1) (with preferences by large)")
    assert (with_["front"], with_["behind"], with_["consistency"]["value"]) == (1, 1, 1)
    assert "annotator:7" not in str(report.sections)


def test_the_page_is_asked_for_by_form_and_shows_the_figures(
    judged: Paired,
    asked: dict[str, Any],
    told: dict[str, Any],
    client_as: Callable[[User | None], Client],
    researcher: User,
):
    client = client_as(researcher)
    address = f"/p/{judged.project.slug}/reports/new/?kind=judging"
    form = client.get(address).content.decode()
    assert "cond_option_order" in form
    assert "item_topic" in form
    given = (
        asked | told | {"title": "By form", "kinds": ["annotator"], "sessions": "all", "reference": "x, y", "seed": 1}
    )
    assert client.post(address, given | {"min_n": 5, "person": ""}).status_code == 302
    report = build_report(Report.objects.get().pk)
    assert report.parameters["reference"] == ["x", "y"]
    page = client.get(f"/p/{judged.project.slug}/reports/{report.pk}/").content.decode()
    for words in (
        "is a demo model",
        "How often judges are right",
        "How often the response in front is chosen",
        "a gain of",
    ):
        assert words in page
    assert client.get(f"/p/{judged.project.slug}/reports/{report.pk}/figures/wins_people.svg").status_code == 200
