"""A behaviour report on counts done by hand, and its counts in SQL against pandas on the same answers."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.behaviour_report.cells import Cells, Column
from evaluation.behaviour_report.counts import count_frames
from evaluation.behaviour_report.frames import read_frames
from evaluation.behaviour_report.parameters import BehaviourParameters
from evaluation.behaviour_report.sections import behaviour_sections
from evaluation.behaviour_report.selecting import check_behaviour
from evaluation.building import build_report
from evaluation.bundle import bundle
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.recomputing import compare_again
from materials.models import Item
from responses.models import Response
from tests.evaluation.conftest import Paired
from tests.evaluation.test_behaviour_cells import CELLS

C, P = "culture", "preference"


@pytest.fixture
def behaving(paired: Paired) -> Paired:
    """Two demo models on four items under two configurations, with the options in either order.

    On the question norm the base model follows culture under C1 (items 0 to 2 of 3) and on item 0 under C2; the
    instruct model never does. Culture is shown first under C1 and second under C2.
    """
    for number, item in enumerate(Item.objects.filter(dataset=paired.dataset).order_by("pk")):
        regions = {
            "region": ("north", "south")[number % 2],
            "other_region": "north",
            "age": ("young", "old")[number // 2],
        }
        item.content |= {**regions, "scenario": f"s{number // 2}", "wish": ("a mask", "a hat")[number % 2]}
        item.save()
    base, instruct = paired.model("tiny-base"), paired.model("tiny-instruct", demo_model=False)
    given = {(base, "C1"): [C, C, C], (base, "C2"): [C, P, P], (instruct, "C1"): [P, P, P], (instruct, "C2"): [P, P, P]}
    orders = {"C1": "culture|preference", "C2": "preference|culture"}
    for (model, config), values in given.items():
        rows = [(model, item, "norm", value) for item, value in enumerate(values)]
        paired.record(rows, prompt="case v1", config=config, option_order=orders[config])
    return paired


@pytest.fixture
def parameters() -> BehaviourParameters:
    return BehaviourParameters(
        dataset="scenarios",
        instrument="paired",
        questions=("norm",),
        factors=({"name": "cond_config"},),
        base_instruct=(("tiny-base", "tiny-instruct"),),
        maps=(("item_region",), ("item_region", "item_other_region")),
        contrasts=({"name": "item_age", "plus": "young", "minus": "old"},),
        preferences="item_wish",
        rules=({"name": "health", "keywords": ("mask",)}, {"name": "style", "keywords": ("hat",)}),
        deviance=("attr_model", "cond_config"),
        unit="item_scenario",
        resamples=200,
    )


def sections_of(paired: Paired, parameters: BehaviourParameters) -> dict[str, Any]:
    computed = [compute() for compute in behaviour_sections(read_frames(paired.project, parameters), parameters)]
    return {section.code: section for section in computed if section is not None}


def cells_in(section: Any, table: int = 0) -> list[Any]:
    return [row.cells for row in section.tables[table].rows]


@pytest.mark.django_db
def test_sections_give_what_counting_by_hand_gives(behaving: Paired, parameters: BehaviourParameters):
    found = sections_of(behaving, parameters)
    base, instruct = cells_in(found["rates"])
    assert (base["decisions"], base["culture_rate"]["value"], base["allow_rate"]["value"]) == (
        6,
        4 / 6,
        pytest.approx(1 / 3),
    )
    assert instruct["culture_rate"]["value"] == 0
    assert base["units"] == 2  # three items of two scenarios
    assert [mark["units"] for mark in found["rates"].figures[0].spec["data"]["values"]] == [2, 2]  # masked with them
    turned, same = cells_in(found["factors"])
    assert turned["level"] == "C2"
    assert turned["delta"]["value"] == pytest.approx(100 * 2 / 3)
    assert (turned["pairs"], turned["to_preference"]["value"], turned["mcnemar"]["value"]) == (
        3,
        pytest.approx(2 / 3),
        0.5,
    )
    assert same["same"]["value"] == 1
    (pair,) = cells_in(found["base_instruct"])
    assert (pair["pairs"], pair["delta"]["value"]) == (6, pytest.approx(100 * 2 / 3))
    assert pair["to_preference"]["value"] == pytest.approx(4 / 6)
    (contrast, _) = cells_in(found["contrasts"])
    assert (contrast["n_plus"], contrast["n_minus"]) == (4, 2)
    assert contrast["delta"]["value"] == pytest.approx(100 * (1 / 4 - 1 / 2))
    kinds = {(row["model"], row["kind"]): row["culture_rate"]["value"] for row in cells_in(found["preferences"])}
    assert kinds["tiny-base", "health"] == 3 / 4
    assert kinds["tiny-base", "style"] == 1 / 2
    position, _ = cells_in(found["positions"])
    assert (position["first"]["value"], position["second"]["value"]) == (1, pytest.approx(1 / 3))
    regions = {row["level"]: row["decisions"] for row in cells_in(found["maps"]) if row["model"] == "tiny-base"}
    assert regions == {"north": 4, "south": 2}
    terms = {row["term"]: row["df"] for row in cells_in(found["deviance"])}
    assert terms == {"model": "1", "config": "1"}
    assert "separated" in found["deviance"].paragraphs[-1]


@pytest.mark.django_db
def test_every_rate_and_difference_has_an_interval_or_says_why_not(behaving: Paired, parameters: BehaviourParameters):
    """Chi-square, V and deviance are no estimates of the kind, p-values neither."""
    found = sections_of(behaving, parameters)
    differences = [row["delta"] for name in ("factors", "base_instruct", "contrasts") for row in cells_in(found[name])]
    assert any(cell["low"] is not None for cell in differences)
    sections = ("sample", "rates", "factors", "base_instruct", "maps", "contrasts", "preferences", "positions")
    for table in (table for name in sections for table in found[name].tables):
        for column in table.columns:
            if column.unit in ("0 to 1", "pp") and column.key != "v":
                for row in table.rows:
                    cell = row.cells[column.key]
                    assert cell["low"] is not None or cell["reason"], (table.code, column.key)


@pytest.mark.django_db
def test_answers_without_a_factor_have_the_level_none_and_are_found(behaving: Paired, parameters: BehaviourParameters):
    behaving.record([(behaving.model("tiny-base"), 3, "norm", C)], prompt="case v1")
    (row,) = [r for r in sections_of(behaving, parameters)["rates"].tables[1].rows if r.cells["cond_config"] == "none"]
    assert (row.cells["answers"], row.answers["cond_config"]) == (1, "")


@pytest.mark.django_db
def test_demo_models_are_marked_on_rows_and_in_figures(behaving: Paired, parameters: BehaviourParameters):
    found = sections_of(behaving, parameters)
    assert "tiny-base is a demo model" in found["sample"].warnings[0]
    assert [row.marks for row in found["rates"].tables[0].rows] == [("demo-model",), ("model",)]
    for figure in (figure for section in found.values() for figure in section.figures):
        assert figure.spec["title"]["text"] == "Demo model"
        assert {row["demo_model"] for row in figure.spec["data"]["values"]} <= {True, False}


@pytest.mark.django_db
def test_counts_in_sql_are_those_of_pandas(behaving: Paired, parameters: BehaviourParameters):
    behaving.record([(behaving.model("tiny-base"), 3, "norm", C)], prompt="case v1", config="C1", option_order="none")
    behaving.record([(behaving.model("tiny-base"), 3, "norm", P)], prompt="case v1", config="C1", option_order="none")
    behaving.record([(behaving.person("a"), 0, "norm", C), (behaving.model("tiny-base"), 0, "personal", C)])
    columns = {
        "value": "value",
        "attr_model": "respondent__attributes__model",
        "cond_config": "condition__factors__config",
        "item_region": "item__content__region",
    }
    standing = Response.objects.filter(superseded_by=None, respondent__kind="model", question="norm")
    answers = pd.DataFrame(list(standing.values_list(*columns.values())), columns=list(columns))
    answers = answers.assign(n_culture=answers.pop("value") == C, n_rows=1)
    frames = read_frames(behaving.project, parameters)
    assert set(frames["flips"]["baseline"]) == {"C1"}  # other conditions have no such factor
    for frame, level in (("by_configuration", "cond_config"), ("map_0", "item_region")):
        ours = frames[frame].assign(
            **{name: frames[frame][name] * frames[frame]["units"] for name in ("n_rows", "n_culture")}
        )
        by = ["attr_model", level]
        expected = answers.groupby(by)[["n_rows", "n_culture"]].sum()
        assert ours.groupby(by)[["n_rows", "n_culture"]].sum().to_dict() == expected.to_dict()


def refuse(paired: Paired, asked: BehaviourParameters) -> None:
    check_behaviour(paired.project, asked)
    read_frames(paired.project, asked)


@pytest.mark.django_db
def test_what_is_not_there_is_named(behaving: Paired, parameters: BehaviourParameters):
    cases = [
        ({"maps": (("item_nowhere",),)}, "no column item_nowhere"),
        ({"factors": ({"name": "cond_config", "baseline": "C9"},)}, "cond_config is nowhere C9"),
        ({"culture": "maybe"}, "the option maybe"),
        ({"base_instruct": (("tiny-base", "gone"),)}, "No model named gone"),
        ({"questions": ("personal",)}, "No model has answered personal"),
    ]
    for changes, sentence in cases:
        asked = BehaviourParameters.parse(parameters.model_dump() | changes)
        with pytest.raises(ReportError, match=sentence):
            refuse(behaving, asked)


def test_the_frames_grow_with_levels_and_not_with_items(parameters: BehaviourParameters):
    def rows(n_items: int) -> int:
        item = np.tile(np.arange(n_items, dtype=np.int32), 4)
        model, level = (np.repeat(np.array(places, dtype=np.int32), n_items) for places in ([0, 0, 1, 1], [0, 1, 0, 1]))
        one = np.ones_like(item)
        names = ("item_region", "item_other_region", "item_age", "item_wish", "item_scenario")
        columns = CELLS.columns | {
            "item": Column("item", np.arange(n_items, dtype=np.int32), range(n_items)),
            "culture_first": Column("cell", item % 2, ["false", "true"]),
            **{name: Column("item", np.arange(n_items, dtype=np.int32) % 2, ["old", "young"]) for name in names},
        }
        owners = {"question": 0 * item, "respondent": model, "condition": level, "item": item}
        cells = Cells(owners, {"n_rows": one, "n": one, "n_culture": item % 2}, columns)
        return sum(map(len, count_frames(cells, parameters).values()))

    assert rows(400) == rows(40)


@pytest.mark.django_db
def test_a_behaviour_report_is_asked_for_and_shown(
    behaving: Paired, parameters: BehaviourParameters, client: Client, researcher: Any, tmp_path: Path
):
    client.force_login(researcher)
    address = reverse("report_new", args=[behaving.project.slug]) + "?kind=behaviour"
    assert "cond_config" in client.get(address).content.decode()
    asked = {
        **{name: value for name, value in parameters.model_dump().items() if isinstance(value, str | int)},
        "title": "Turns",
        "questions": ["norm"],
        "factors": "cond_config: C1",
        "base_instruct": "tiny-base | tiny-instruct",
        "maps": "item_region | item_other_region",
        "contrasts": "item_age: young",
        "rules": "protection: mask\nhealth: mask",
        "deviance": "attr_model",
    }
    refused = client.post(address, asked)
    assert "one level | the other" in refused.content.decode()
    client.post(address, asked | {"contrasts": "item_age: young | old"})
    report = build_report(Report.objects.get().pk)
    assert (report.status, report.problem) == (Report.Status.READY, "")
    page = client.get(reverse("report", args=[behaving.project.slug, report.pk])).content.decode()
    assert "Base against instruct" in page
    said = json.dumps(report.sections)
    assert "protection" in said  # of two kinds with as many keywords in a text the first counts
    assert "health" not in said
    with zipfile.ZipFile(io.BytesIO(bundle(report))) as file:
        file.extractall(tmp_path)
    assert compare_again(tmp_path) == 0
    assert "Demo model" in page
