"""An alignment report from the database to its numbers, against counts done by hand and golden values."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Report
from tests.evaluation.conftest import Paired
from tests.evaluation.reports import built, row, rows

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "pact_alignment_plain_18.json"
_SAME = ("majority_alignment", "signed_culture_gap", "signed_preference_gap")


def test_alignment_without_persona_is_that_of_the_hand(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    assert report.status == Report.Status.READY
    personal = row(report, "alignment_personal", setting="No persona")
    # h = 2/3, 1/3; m = 1, 0; item 2 has no people, item 3 nobody.
    assert personal["items"] == 2
    assert personal["majority_alignment"]["value"] == 1.0
    assert personal["rate_mae"]["value"] == pytest.approx(1 / 3)
    assert personal["signed_culture_gap"]["value"] == pytest.approx(0)
    assert "2 of 4 items left out" in personal["rate_mae"]["reason"]
    norm = row(report, "alignment_norm", setting="No persona")  # h = 1, 2/3; m = 1, 0
    assert norm["majority_alignment"]["value"] == 0.5
    assert norm["signed_culture_gap"]["value"] == pytest.approx(-1 / 3)
    assert norm["signed_preference_gap"]["value"] == pytest.approx(1 / 3)
    assert norm["signed_culture_gap"]["low"] <= -1 / 3 <= norm["signed_culture_gap"]["high"]


def test_what_is_undefined_says_why_and_is_not_zero(answered: Paired, parameters: dict[str, Any]):
    cell = row(built(answered, parameters), "alignment_norm", setting="No persona")["uncertainty_correlation"]
    assert cell["value"] is None
    assert cell["reason"] == "model agreement is the same on every item"


def test_a_persona_is_compared_with_people_of_its_country(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    brazil = row(report, "alignment_personal", setting="As Brazil")  # h = 1, 1/2; m = 1, 1
    assert brazil["against"] == "Brazil"
    assert brazil["signed_culture_gap"]["value"] == pytest.approx(0.25)
    assert brazil["majority_alignment"]["value"] == 1.0  # a tie is culture
    india = row(report, "alignment_personal", setting="As India")  # h = 0, 0; m = 0, 0
    assert india["rate_mae"]["value"] == 0
    pooled = row(report, "alignment_personal", setting="All personas")  # m = 1/2 everywhere
    assert pooled["signed_culture_gap"]["value"] == pytest.approx(0)
    assert pooled["against"] == "The personas' countries"


def test_a_persona_is_compared_with_the_model_itself_against_the_same_people(
    answered: Paired, parameters: dict[str, Any]
):
    report = built(answered, parameters)
    india = row(report, "persona", question="personal", setting="As India")  # h = 0, 0; as itself 1, 0; as India 0, 0
    assert (india["mae_without"]["value"], india["mae_with"]["value"], india["mae_change"]["value"]) == (0.5, 0, -0.5)
    assert row(report, "persona", question="personal", setting="As Brazil")["mae_change"]["value"] == 0
    arrows = next(figure for s in report.sections for figure in s["figures"] if figure["code"] == "persona")
    directions = {(arrow["who"], arrow["question"]): arrow["direction"] for arrow in arrows["spec"]["data"]["values"]}
    assert (directions["As India", "personal"], directions["As Brazil", "personal"]) == ("down", "same")


def test_agreement_by_relation_is_that_of_the_hand(answered: Paired, parameters: dict[str, Any]):
    assert rows(built(answered, parameters), "by_relation") == []
    first, second, alone = (answered.person(name, age_group="younger", gender="female") for name in "xyz")
    answered.record([(first, 2, "norm", "culture"), (second, 2, "norm", "preference")], relation="same")
    answered.record([(first, 3, "norm", "culture"), (second, 3, "norm", "culture")], relation="same")
    answered.record([(alone, 3, "norm", "culture")], relation="far")
    report = built(answered, parameters)
    same, far = (row(report, "by_relation", question="norm", relation=relation) for relation in ("same", "far"))
    assert [same[name]["value"] for name in ("modal_share", "pairwise", "pooled")] == [0.75, 0.5, 0.75]
    assert (far["modal_share"]["value"], far["pairwise"]["value"]) == (1.0, None)
    assert same["pooled"]["low"] is not None
    assert far["pooled"]["reason"] == "an interval needs two independent units"  # one item


def test_pooled_personas_meet_only_people_of_their_countries(answered: Paired, parameters: dict[str, Any]):
    before = built(answered, parameters)
    japan = answered.person("j", country="Japan")
    answered.record([(japan, item, "norm", "preference") for item in range(2)])
    after = built(answered, parameters)
    for setting, same in (("All personas", True), ("No persona", False)):
        cells = [row(report, "alignment_norm", setting=setting)["rate_mae"] for report in (before, after)]
        assert (cells[0] == cells[1]) is same


def test_the_ceiling_rests_on_the_items_the_model_answered(answered: Paired, parameters: dict[str, Any]):
    three = [answered.person(name) for name in "xyz"]
    answered.record([(who, 3, "norm", "culture") for who in three])  # the model did not answer item 3
    ceiling = row(built(answered, parameters), "alignment_norm", setting="No persona")["ceiling_majority_alignment"]
    assert ceiling["n"] == 2
    assert 0 <= ceiling["value"] <= 1


def test_the_gap_of_the_people_is_that_of_the_hand(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    everybody = row(report, "human_gap", country="All")
    assert (everybody["people"], everybody["pairs"]) == (3, 6)
    assert everybody["personal"]["value"] == pytest.approx(3 / 6)
    assert everybody["norm"]["value"] == pytest.approx(1 / 6)
    assert everybody["gap"]["value"] == pytest.approx(2 / 6)
    assert everybody["gap"]["low"] < 1 / 3 < everybody["gap"]["high"]
    assert row(report, "human_gap", country="India")["gap"]["value"] == 1.0


def test_rates_by_country_set_people_beside_their_personas(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    people = row(report, "by_country", question="norm", country="Brazil", who="People")
    assert (people["answers"], people["items"], people["rate"]["value"]) == (4, 2, 0.75)
    model = row(report, "by_country", question="norm", country="Brazil", who="tiny")
    assert (model["answers"], model["rate"]["value"]) == (3, 1.0)


def test_answers_at_another_temperature_are_another_setting(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.model("tiny"), 0, "norm", "preference")], prompt="plain v1", temperature=1)
    report = built(answered, parameters)
    cold = row(report, "alignment_norm", model="tiny at temperature 0", setting="No persona")
    warm = row(report, "alignment_norm", model="tiny at temperature 1", setting="No persona")
    assert (cold["signed_culture_gap"]["value"], cold["items"]) == (pytest.approx(-1 / 3), 2)
    assert (warm["signed_culture_gap"]["value"], warm["items"]) == (-1, 1)


def test_items_and_answers_left_out_are_counted(answered: Paired, parameters: dict[str, Any]):
    counts = row(built(answered, parameters), "items", question="norm")
    assert counts == {"question": "norm", "items": 4, "people": 2, "models": 3, "both": 2}


def test_the_ceiling_and_the_allow_rates_have_intervals(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    personal = row(report, "alignment_personal", setting="No persona")
    for name in ("ceiling_majority_alignment", "ceiling_rate_mae"):
        assert personal[name]["low"] <= personal[name]["value"] <= personal[name]["high"], name
    # Brazil's two people allow 1 and 0 of 2 personally: resampled people give 0, 1/4 or 1/2.
    brazil = row(report, "human_gap", country="Brazil")
    assert (brazil["personal"]["value"], brazil["personal"]["low"], brazil["personal"]["high"]) == (0.25, 0.0, 0.5)
    assert {"ceiling_majority_alignment", "ceiling_uncertainty_correlation"} <= set(personal)
    change = row(report, "persona", question="personal", setting="As India")
    for name in ("mae_change", "majority_change", "mae_ceiling"):
        assert change[name]["low"] is not None or change[name]["reason"], name
    india = row(report, "human_gap", country="India")["personal"]
    assert (india["value"], india["low"], india["reason"]) == (1.0, None, "an interval needs two people")


@pytest.mark.skipif(not GOLDEN.exists(), reason="The golden values are not beside this checkout.")
def test_golden_values_come_out_of_the_database(paired: Paired, parameters: dict[str, Any]):
    golden = json.loads(GOLDEN.read_text())
    given, codes = golden["input"], {"A": "culture", "B": "preference"}
    names = sorted({row[3] for row in given["human"]["rows"]} | {row[4] for row in given["model"]["rows"]})
    paired = _with_items(paired, names)
    answers = [
        (paired.person(name, country=country), names.index(item), code, codes[value])
        for name, country, _, item, *values in given["human"]["rows"]
        for code, value in zip(("personal", "norm"), values, strict=True)
    ]
    answers += [
        (paired.model(name), names.index(item), code, codes[value])
        for name, _, _, _, item, *values in given["model"]["rows"]
        for code, value in zip(("personal", "norm"), values, strict=True)
    ]
    paired.record(answers)
    report = built(paired, parameters)
    for key, expected in golden["expected"].items():
        model, _, question = key.split("|")
        cells = row(report, f"alignment_{question}", model=model, setting="No persona")
        assert cells["items"] == expected["n_items"]
        for name, metric in {"rate_mae": "rate_mae_item"}.items() | {(n, n) for n in _SAME}:
            assert cells[name]["value"] == pytest.approx(expected[metric], abs=1e-9)
        difference = abs(cells["signed_culture_gap"]["value"])
        assert difference == pytest.approx(expected["rate_abs_diff_of_means"], abs=1e-9)


def _with_items(paired: Paired, names: list[str]) -> Paired:
    paired.dataset.items.all().delete()
    paired.dataset.items.bulk_create(
        paired.dataset.items.model(dataset=paired.dataset, external_id=name, content={}, content_hash=name, position=i)
        for i, name in enumerate(names)
    )
    return paired
