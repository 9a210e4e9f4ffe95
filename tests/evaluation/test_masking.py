"""What strangers do not find in a shared report, also not by subtraction."""

import json
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evaluation.building import build_report
from evaluation.masking import masked
from evaluation.services import create_report
from tests.evaluation.conftest import Paired

MIN_N = 5
Names = tuple[str, ...]


def estimate(value: float | None, n: int, reason: str = "") -> dict[str, Any]:
    return {"value": value, "n": n, "low": value, "high": value, "reason": reason}


def table(rows: Sequence[dict[str, Any]], **kinds: str) -> dict[str, Any]:
    columns = [{"key": key, "label": key, "kind": kind, "unit": "", "shown": True} for key, kind in kinds.items()]
    return {"code": "t", "title": "T", "caption": "c.", "columns": columns, "rows": rows}


def row(mark: str = "human", n_people: int | None = None, **cells: Any) -> dict[str, Any]:
    return {"cells": cells, "marks": [mark], "answers": {"q": "1"}, "n_answers": 9, "n_people": n_people}


def shared(found: dict[str, Any]) -> dict[str, Any]:
    (section,) = masked([{"tables": [found], "figures": []}], MIN_N)
    return dict(section["tables"][0])


def shared_figure(*values: dict[str, Any], **encoding: Any) -> dict[str, Any] | None:
    figure = {"caption": "c.", "spec": {"data": {"values": list(values)}, "layer": [{"encoding": encoding}]}}
    (section,) = masked([{"tables": [], "figures": [figure]}], MIN_N)
    return section["figures"][0] if section["figures"] else None


def subtracted(truth: dict[Names, int], shown: dict[Names, int]) -> Iterator[tuple[Names, int]]:
    """What an attacker finds who knows the total of all groups, and of all that share any of their names, if it is not
    small itself: what is missing from it, where that is few people."""
    columns = range(len(next(iter(truth))))
    for fixed in (chosen for size in columns for chosen in combinations(columns, size)):
        for names in {tuple(group[column] for column in fixed) for group in truth}:
            total, seen = (
                sum(n for group, n in found.items() if tuple(group[column] for column in fixed) == names)
                for found in (truth, shown)
            )
            if total >= MIN_N and 0 < total - seen < MIN_N:
                yield names, total - seen


def test_nothing_small_is_found_by_subtraction_in_tables_of_any_counts():
    rng = np.random.default_rng(4)
    attacked = 0
    for _ in range(200):
        names = [(kind, country) for kind in ("annotators", "participants") for country in "ABCDEF"]
        truth = {group: int(n) for group, n in zip(names, rng.geometric(0.1, 12), strict=True) if rng.random() < 0.8}
        rows = [row(kind=kind, country=country, people=n) for (kind, country), n in truth.items()]
        found = shared(table(rows, kind="text", country="name", people="count"))["rows"]
        shown = {(kept["cells"]["kind"], kept["cells"]["country"]): kept["cells"]["people"] for kept in found}
        large = {group: n for group, n in truth.items() if n >= MIN_N}
        assert shown.items() <= large.items()
        assert list(subtracted(truth, shown)) == []
        attacked += bool(list(subtracted(truth, large)))
    assert attacked > 100  # the attacker does find people where only small groups are left out


def test_of_a_row_that_stays_what_is_small_is_masked():
    rows = [
        row("human", 50, who="few items", items=4, rate=estimate(0.5, 4)),
        row("human", 50, who="enough", items=5, rate=estimate(0.5, 5)),
        row("human", 50, who="none", items=0, rate=estimate(None, 0, "nothing")),
        row("model", None, who="a model", items=9, rate=estimate(0.5, 4)),
    ]
    found = shared(table(rows, who="name", items="count", rate="estimate"))
    cells = {kept["cells"]["who"]: kept["cells"] for kept in found["rows"]}
    undefined = {"value": None, "n": None, "low": None, "high": None, "reason": "rests on fewer than 5"}
    assert cells["few items"] == {"who": "few items", "items": "< 5", "rate": undefined}
    assert cells["enough"]["rate"]["value"] == 0.5
    assert cells["none"]["rate"]["reason"] == "nothing"
    assert cells["a model"] == {"who": "a model", "items": 9, "rate": undefined}
    assert not any(kept["answers"] or kept["n_answers"] or kept["n_people"] for kept in found["rows"])
    assert found["caption"] == "c."


def test_a_funnel_with_a_small_step_goes_as_a_whole_because_one_step_tells_of_another():
    kinds = {"filter": "wide", "came": "count", "out": "count", "stay": "count", "why": "tally"}
    steps = [row(filter="a", came=90, out=10, stay=80, why="10 x"), row(filter="b", came=80, out=2, stay=78, why="2 y")]
    assert shared(table(steps, **kinds))["rows"] == []
    (kept,) = shared(table(steps[:1], **kinds))["rows"]
    assert kept["cells"] == {"filter": "a", "came": 90, "out": 10, "stay": 80, "why": "not shown"}


def test_marks_of_few_are_left_out_with_what_tells_of_them_and_with_their_names():
    people = {"Brazil": 30, "India": 3, "Japan": 20}
    marks = [{"who": who, "people": n, "n": 9, "label": f"{n}"} for who, n in people.items()]
    model = {"who": "tiny", "people": None, "n": 9}
    few = [{"who": "small", "people": None, "n": 9, "units": 4}, {"who": "rare", "n": 4}]
    figure = shared_figure(*marks, model, *few, y={"field": "who", "sort": [*people, "tiny", "small", "rare"]})
    assert figure is not None
    assert [mark["who"] for mark in figure["spec"]["data"]["values"]] == ["Brazil", "tiny"]
    assert figure["spec"]["layer"][0]["encoding"]["y"]["sort"] == ["Brazil", "tiny"]
    assert figure["caption"].startswith("c. Left out is what rests on fewer than 5")
    assert shared_figure({"n": 1}) is None


@pytest.mark.django_db
def test_a_shared_report_has_no_number_or_name_of_a_country_with_few_people(
    answered: Paired, parameters: dict[str, Any]
):
    """Three people of Brazil, twelve of Chile, nine of Peru; the gap has a total of all, and every country a model."""
    sizes = {"Chile": 12, "Peru": 9}
    people = [answered.person(f"{country}{n}", country=country) for country, of in sizes.items() for n in range(of)]
    people.append(answered.person("d"))
    for number, who in enumerate(people):
        given = "culture" if number % 3 else "preference"
        answered.record([(who, item, code, given) for item in (0, 1) for code in ("personal", "norm")])
    asked = create_report(project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None)
    sections = masked(build_report(asked.pk).sections, MIN_N)
    tables = {found["code"]: found for section in sections for found in section["tables"]}
    shown = {kept["cells"]["country"]: kept["cells"]["people"] for kept in tables["human_gap"]["rows"]}
    assert shown == {"Chile": 12, "All": 25}
    assert [kept["cells"]["country"] for kept in tables["people"]["rows"]] == ["Chile"]
    truth = {(country,): n for country, n in {"Brazil": 3, "India": 1, **sizes}.items()}
    assert list(subtracted(truth, {("Chile",): 12})) == []
    of_people = [found["spec"] for section in sections for found in section["figures"] if "gap" in found["code"]]
    assert of_people
    assert not any(name in json.dumps(of_people) for name in ("Brazil", "India", "Peru"))
