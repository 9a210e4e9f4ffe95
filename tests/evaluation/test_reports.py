"""Reports from the database to the stored numbers, against counts done by hand and golden values."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import build_again, create_report
from tests.evaluation.conftest import Paired
from tests.workers import Worker

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "pact_alignment_plain_18.json"


def built(paired: Paired, parameters: dict[str, Any], **changes: Any) -> Report:
    report = create_report(
        project=paired.project,
        title="People and tiny",
        kind="alignment",
        parameters=parameters | changes,
        created_by=None,
    )
    return build_report(report.pk)


def section(report: Report, code: str) -> dict[str, Any]:
    return next(section for section in report.sections if section["code"] == code)


def rows(report: Report, table: str) -> list[dict[str, Any]]:
    tables = [table for section in report.sections for table in section["tables"]]
    return [row["cells"] for found in tables if found["code"] == table for row in found["rows"]]


def row(report: Report, table: str, **cells: Any) -> dict[str, Any]:
    return next(found for found in rows(report, table) if cells.items() <= found.items())


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


def test_it_opens_with_what_its_people_and_model_are(answered: Paired, parameters: dict[str, Any]):
    first = built(answered, parameters).sections[0]
    assert first["code"] == "what_was_compared"
    assert "people in this report are simulated" in first["warnings"][0]
    assert "tiny is a demo model" in first["warnings"][1]


def test_a_mixture_of_people_says_how_many_of_each(answered: Paired, parameters: dict[str, Any]):
    answered.record([(answered.person("real", simulated=False), 0, "norm", "culture")])
    first = built(answered, parameters, people="all").sections[0]["warnings"][0]
    assert "pools 1 real with 3 simulated people" in first
    real = built(answered, parameters, people="real")
    assert [sentence for sentence in real.sections[0]["warnings"] if "simulated" in sentence] == []
    assert rows(real, "people") == [{"kind": "Participant", "country": "Brazil", "persons": 1, "answers": 1}]


def test_every_row_with_simulated_or_demo_answers_is_marked(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    for table in (table for section in report.sections for table in section["tables"] if table["code"] != "items"):
        for found in table["rows"]:
            assert {"simulated", "demo-model"} & set(found["marks"]), (table["code"], found["cells"])


def test_every_figure_says_itself_whose_answers_it_shows(answered: Paired, parameters: dict[str, Any]):
    figures = [figure for section in built(answered, parameters).sections for figure in section["figures"]]
    assert {figure["spec"]["title"]["text"] for figure in figures} == {"Simulated people, demo model"}
    dots = next(figure["spec"]["data"]["values"] for figure in figures if figure["code"] == "alignment")
    assert all(dot["simulated"] and dot["demo_model"] for dot in dots if dot["who"] != "Human ceiling")


def test_a_figure_without_simulated_people_and_demo_models_needs_no_caution(paired: Paired, parameters: dict[str, Any]):
    person, model = paired.person("p", simulated=False), paired.model("large", demo_model=False)
    paired.record([(who, item, "norm", "culture") for who in (person, model) for item in range(2)])
    report = built(paired, parameters, people="real", questions=["norm"])
    figures = [figure for section in report.sections for figure in section["figures"]]
    assert figures
    assert not any("title" in figure["spec"] or "Outlined" in figure["caption"] for figure in figures)


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


def test_the_same_data_and_parameters_give_the_same_report(answered: Paired, parameters: dict[str, Any]):
    one, two = built(answered, parameters), built(answered, parameters)
    assert one.sections == two.sections
    assert one.data_fingerprint == two.data_fingerprint
    other = built(answered, parameters, seed=8)
    assert other.data_fingerprint != one.data_fingerprint
    answered.record([(answered.person("new"), 0, "norm", "culture")])
    assert built(answered, parameters).data_fingerprint != one.data_fingerprint


def test_defaults_are_stored_with_the_report(answered: Paired, parameters: dict[str, Any]):
    del parameters["seed"]
    assert built(answered, parameters).parameters["seed"] == 1


def test_a_ready_report_never_changes(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    with pytest.raises(DatabaseError, match="report"), transaction.atomic():
        Report.objects.filter(pk=report.pk).update(title="Better")
    assert not build_again(report=report)
    assert build_report(report.pk).finished_at == report.finished_at


def test_what_cannot_be_computed_is_refused_at_once(answered: Paired, parameters: dict[str, Any]):
    with pytest.raises(ReportError, match="no dataset"):
        built(answered, parameters, dataset="none")
    assert not Report.objects.exists()


def test_what_went_away_fails_with_a_sentence_and_can_be_built_again(answered: Paired, parameters: dict[str, Any]):
    report = create_report(
        project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None
    )
    type(answered.dataset).objects.filter(pk=answered.dataset.pk).update(slug="moved")
    failed = build_report(report.pk)
    assert (failed.status, failed.problem[:28]) == ("failed", "There is no dataset scenario")
    type(answered.dataset).objects.filter(pk=answered.dataset.pk).update(slug="scenarios")
    assert build_report(report.pk).status == "failed"
    assert build_again(report=failed)
    assert build_report(report.pk).status == "ready"


@pytest.mark.worker
@pytest.mark.django_db(transaction=True)
def test_a_worker_builds_what_was_asked_for(
    celery_worker_process: Worker, answered: Paired, parameters: dict[str, Any]
) -> None:
    report = create_report(
        project=answered.project, title="r", kind="alignment", parameters=parameters, created_by=None
    )
    deadline = time.monotonic() + 30
    while report.status == Report.Status.PENDING and time.monotonic() < deadline:
        time.sleep(0.2)
        report.refresh_from_db()
    assert report.status == Report.Status.READY


def test_without_models_the_report_says_what_to_do(paired: Paired, parameters: dict[str, Any]):
    paired.record([(paired.person("a"), 0, "norm", "culture")])
    report = built(paired, parameters)
    assert report.status == "ready"
    assert "run a model job" in section(report, "alignment")["paragraphs"][0]


def test_a_report_over_no_answers_is_refused_before_it_is_computed(answered: Paired, parameters: dict[str, Any]):
    with pytest.raises(ReportError, match=r"No real people \(participants\) have answered personal or norm of paired"):
        built(answered, parameters, people="real")
    assert not Report.objects.exists()


def with_sessions(answered: Paired) -> Paired:
    """Beside three people without an outcome (2 of 3 culture on personal 0): one completed, two left, one failed."""
    given = {"done": ("completed", "preference"), "left": ("unfinished", "culture"), "gone": ("unfinished", "culture")}
    given["failed"] = ("failed_attention", "culture")
    for name, (outcome, option) in given.items():
        answered.record([(answered.person(name, outcome=outcome), 0, "personal", option)])
    answered.record([(answered.person("left", outcome="unfinished"), 1, "personal", "culture")])
    return answered


def test_only_completed_sessions_count_and_the_report_says_who_is_left_out(
    answered: Paired, parameters: dict[str, Any]
):
    report = built(with_sessions(answered), parameters)
    brazil = row(report, "by_country", question="personal", country="Brazil", who="People")
    assert (brazil["answers"], brazil["rate"]["value"]) == (5, 0.6)  # a, b and done: c, p, c, c and p
    assert row(report, "people", country="Brazil") == {
        "kind": "Participant",
        "country": "Brazil",
        "persons": 3,
        "answers": 9,
    }
    assert rows(report, "outcomes") == [
        {"outcome": "Failed the attention check", "persons": 1, "answers": 1, "counted": "no"},
        {"outcome": "Not finished", "persons": 2, "answers": 3, "counted": "no"},
    ]
    assert report.parameters["sessions"] == "completed"


def test_all_sessions_count_when_asked_for(answered: Paired, parameters: dict[str, Any]):
    report = built(with_sessions(answered), parameters, sessions="all")
    brazil = row(report, "by_country", question="personal", country="Brazil", who="People")
    assert (brazil["answers"], brazil["rate"]["value"]) == (9, pytest.approx(7 / 9))
    assert "All sessions are in, also those not completed (a table has how many)" in " ".join(
        report.sections[0]["paragraphs"]
    )
    assert row(report, "outcomes", outcome="Not finished")["counted"] == "yes"


def test_nobody_left_out_is_said_too(answered: Paired, parameters: dict[str, Any]):
    assert "nobody who answered is left out" in " ".join(built(answered, parameters).sections[0]["paragraphs"])


def test_the_ceiling_and_the_allow_rates_have_intervals(answered: Paired, parameters: dict[str, Any]):
    report = built(answered, parameters)
    personal = row(report, "alignment_personal", setting="No persona")
    for name in ("ceiling_majority_alignment", "ceiling_rate_mae"):
        assert personal[name]["low"] <= personal[name]["value"] <= personal[name]["high"], name
    # Brazil's two people allow 1 and 0 of 2 personally: resampled people give 0, 1/4 or 1/2.
    brazil = row(report, "human_gap", country="Brazil")
    assert (brazil["personal"]["value"], brazil["personal"]["low"], brazil["personal"]["high"]) == (0.25, 0.0, 0.5)
    india = row(report, "human_gap", country="India")["personal"]
    assert (india["value"], india["low"], india["reason"]) == (1.0, None, "an interval needs two people")


def test_a_report_is_built_by_a_command(answered: Paired, capsys: pytest.CaptureFixture[str]):
    from django.core.management import call_command

    call_command(
        "build_report",
        project=answered.project.slug,
        title="By hand",
        dataset="scenarios",
        instrument="paired",
        questions="personal,norm",
        people="simulated",
    )
    told = capsys.readouterr().out
    assert "No persona" in told
    assert f"/p/{answered.project.slug}/reports/{Report.objects.get().pk}/" in told


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


_SAME = ("majority_alignment", "signed_culture_gap", "signed_preference_gap")


def _with_items(paired: Paired, names: list[str]) -> Paired:
    paired.dataset.items.all().delete()
    paired.dataset.items.bulk_create(
        paired.dataset.items.model(dataset=paired.dataset, external_id=name, content={}, content_hash=name, position=i)
        for i, name in enumerate(names)
    )
    return paired
