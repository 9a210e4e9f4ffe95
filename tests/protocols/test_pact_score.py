"""The published files in, the published definitions' numbers out; exports of Concord in the same way."""

import csv
import json
from pathlib import Path

import pytest

from protocols.pact.answers import read_models, read_people
from protocols.pact.reading import FileFaultError
from protocols.pact.score import main
from tests.golden.compare import differences

SHARED = Path(__file__).parents[3] / "shared" / "e2e" / "pact"

PEOPLE = """\
respondent_id,respondent_country,respondent_age_bucket,respondent_gender,scenario_item_id,scenario_country,receiver_age,receiver_gender,human_personal,human_norm
p1,Brazil,younger,female,i1,Brazil,older,male,A,A
p2,Brazil,older,male,i1,Brazil,older,male, b ,A
p3,India,younger,female,i1,Brazil,older,male,B,skip
p3,India,younger,female,i2,India,younger,female,,A
p1,Brazil,younger,female,i2,India,younger,female,A,B
"""
MODELS = """\
model_tag,persona_setting,persona_country,persona_demo,scenario_item_id,llm_personal,llm_norm
m,no_persona,,,i1,A,A
m,no_persona,,,i2,A,unclear
m,persona,Brazil,younger_female,i1,A,A
m,persona,Japan,older_male,i2,B,A
"""
# As an export with one row an answer has them.
TIDY = """\
item,item_receiver_country,item_receiver_age,item_receiver_gender,question,respondent,respondent_kind,simulated,attr_country,attr_age_group,attr_gender,attr_model,attr_persona,value
i1,Brazil,older,male,personal,p1,participant,false,Brazil,younger,female,,,culture
i1,Brazil,older,male,importance_preference,p1,participant,false,Brazil,younger,female,,,4
i1,Brazil,older,male,norm,p1,participant,false,Brazil,younger,female,,,culture
i1,Brazil,older,male,personal,p2,participant,true,Brazil,older,male,,,preference
i1,Brazil,older,male,personal,model:1:none,model,false,,,,m,false,preference
i1,Brazil,older,male,norm,model:1:none,model,false,,,,m,false,culture
i1,Brazil,older,male,personal,model:1:none,model,false,,,,m,false,culture
i1,Brazil,older,male,norm,model:1:abc,model,false,India,younger,,m,true,culture
"""


@pytest.fixture
def files(tmp_path):
    """Writes texts to files and gives the arguments of the command."""

    def arguments(people=PEOPLE, models=MODELS):
        human, predictions = tmp_path / "people.csv", tmp_path / "models.csv"
        human.write_text(people, encoding="utf-8")
        predictions.write_text(models, encoding="utf-8")
        out = ["--out", str(tmp_path / "out"), "--splits", "20", "--resamples", "20"]
        return ["--human", str(human), "--predictions", str(predictions), *out]

    return arguments


def rows(folder, name, **wanted):
    with (folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if wanted.items() <= row.items()]


def test_the_shared_files_give_the_expected_numbers(tmp_path):
    if not SHARED.is_dir():
        pytest.skip(f"no files at {SHARED}")
    folder = SHARED / "human_prolific"
    predictions = [str(path) for path in sorted(folder.rglob("llm_predictions.csv"))]
    human = ["--human", str(folder / "tidy_human_responses.csv")]
    draws = ["--splits", "2", "--resamples", "20"]
    assert main([*human, "--predictions", *predictions, "--out", str(tmp_path), *draws]) == 0
    expected = json.loads((SHARED / "expected" / "paper_definitions.json").read_text(encoding="utf-8"))
    # What one version of another library returns for a design of which it warns is no definition.
    kept = {name: value for name, value in expected.items() if not name.startswith("statsmodels")}
    got = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert [str(found) for found in differences(kept, got, tolerance=1e-9)] == []
    assert set(got) == {*kept, "input"}


def test_what_is_left_out_is_counted_in_every_file_and_named_with_its_place(files, tmp_path, capsys):
    assert main(files()) == 0
    said = capsys.readouterr().err
    assert "people.csv, row 5, column human_personal: there is no answer; 1 of 5 personal answers are left out" in said
    assert "people.csv, row 4, column human_norm: 'skip' is no answer; 1 of 5 norm answers are left out" in said
    assert "models.csv, row 3, column llm_norm: 'unclear' is no answer; 1 of 4 norm answers are left out" in said
    (gap,) = rows(tmp_path, "human_gap", by="all")
    assert (gap["n_personal"], gap["n_left_out_personal"], gap["n_left_out_norm"]) == ("4", "1", "1")
    assert [row["n_left_out"] for row in rows(tmp_path, "human_agreement", by="all")] == ["1", "1"]
    assert {row["n_left_out"] for row in rows(tmp_path, "deviance")} == {"1"}
    alone = {"comparison": "no_persona", "question": "norm", "metric": "rate_mae"}
    (row,) = rows(tmp_path, "alignment", **alone)
    assert (row["n"], row["n_answers"], row["n_answers_left_out"]) == ("1", "2", "1")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["input"]["left_out"] == {
        "human": {"rows": 5, "personal": 1, "norm": 1},
        "predictions": {"rows": 4, "personal": 0, "norm": 1},
        "items_without_predictions": 0,
        "predicted_items_without_people": 0,
        "persona_rows_without_people": 1,
    }


def test_a_model_is_ranked_against_every_group_of_people(files, tmp_path):
    assert main(files()) == 0
    ranked = rows(tmp_path, "alignment", comparison="closest_subgroup", question="personal", metric="rate_mae")
    assert [(row["group"], row["value"]) for row in ranked] == [
        ("Brazil|younger_female", "0.0"),
        ("Brazil|older_male", "1.0"),
        ("India|younger_female", "1.0"),
    ]
    (steady,) = rows(tmp_path, "alignment", comparison="no_persona", metric="answer_consistency")
    assert (steady["value"], steady["human_ceiling"], steady["n"]) == ("1.0", repr(1 / 3), "1")


@pytest.mark.parametrize(
    ("people", "models", "fault"),
    [
        (PEOPLE.replace("human_norm", "norm"), MODELS, "people.csv, row 1, column human_norm: there is no such column"),
        (PEOPLE.replace("p2,Brazil", "p2,"), MODELS, "people.csv, row 3, column respondent_country: it is empty"),
        (PEOPLE, MODELS.replace("persona,Japan", "persona,"), "models.csv, row 5, column persona_country: it is empty"),
        (PEOPLE, MODELS.replace("m,persona", "m,someone"), "row 4, column persona_setting: 'someone' is none of"),
        (PEOPLE, "", "models.csv: it is empty"),
        (
            PEOPLE,
            MODELS.replace(",A,", ",yes,").replace(",B,", ",no,"),
            "column llm_personal: no answer to the personal",
        ),
        (TIDY.replace("_receiver_age", "_age"), MODELS, "export the answers again with the item field receiver_age."),
        (PEOPLE, TIDY.replace(",model,", ",participant,"), "models.csv: it has no answers of models."),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(files, tmp_path, capsys, people, models, fault):
    assert main(files(people, models)) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert fault in sentence
    assert not (tmp_path / "out").exists()


def test_an_export_with_one_row_an_answer(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TIDY, encoding="utf-8")
    people, models = read_people(path, relations="published"), read_models([path])
    columns = ["respondent", "demo", "relation", "scenario_country", "personal", "norm"]
    assert people.table[columns].fillna("-").values.tolist() == [
        ["p1", "younger_female", "same", "Brazil", "A", "A"],
        ["p2", "older_male", "same", "Brazil", "B", "-"],
    ]
    assert "1 of 4 rows come from bots" in people.notes[0]
    columns = ["model", "persona", "country", "demo", "personal", "norm"]
    assert models.table[columns].fillna("-").values.tolist() == [
        ["m", False, "", "", "B", "A"],
        ["m", False, "", "", "A", "-"],
        ["m", True, "India", "younger", "-", "A"],
    ]


def test_an_export_with_one_row_an_item_and_respondent(tmp_path):
    path = tmp_path / "answers.csv"
    wide = TIDY.replace("question,", "q_norm,").replace(",value", ",q_personal")
    wide = wide.replace(",personal,", ",culture,").replace(",norm,", ",preference,")
    wide = wide.replace(",importance_preference,", ",,").replace(",4\n", ",\n")
    path.write_text(wide, encoding="utf-8")
    people = read_people(path, relations="distance").table
    assert people[["item", "personal", "norm"]].values.tolist() == [
        ["i1", "A", "A"],
        ["i1", "A", "B"],
        ["i1", "B", "A"],
    ]


def test_exported_calls_of_a_job(tmp_path):
    path = tmp_path / "calls.jsonl"
    common = {"model": "m", "demo_model": True, "item": "i1"}
    calls = [
        common | {"persona": {}, "values": {"personal": "preference", "norm": "culture"}},
        common
        | {"persona": {"country": "India", "age_group": "younger", "gender": "male"}, "values": {"norm": "culture"}},
        common | {"persona": {}, "values": None},
    ]
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    models = read_models([path])
    columns = ["model", "persona", "country", "demo", "personal", "norm"]
    assert models.table[columns].fillna("-").values.tolist() == [
        ["m", False, "", "", "B", "A"],
        ["m", True, "India", "younger_male", "-", "A"],
    ]
    assert "2 of 2 rows come from bots or the demo's model" in models.notes[0]
    path.write_text(json.dumps(common | {"values": {}}), encoding="utf-8")
    with pytest.raises(FileFaultError, match="row 1, column persona: the call lacks it"):
        read_models([path])


def test_measured_relations_need_countries_of_the_table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE.replace("i2,India", "i2,Singapore"), encoding="utf-8")
    published, measured = (read_people(path, relations=rule).table for rule in ("published", "distance"))
    assert published["relation"].tolist() == ["same", "same", "far", "far", "close"]
    assert measured["relation"].tolist() == ["same", "same", "far", "close", "far"]
    path.write_text(PEOPLE.replace("i2,India", "i2,Atlantis"), encoding="utf-8")
    with pytest.raises(FileFaultError, match=r"row 5, .*'Atlantis' is not in the country table"):
        read_people(path, relations="distance")
