"""The published files of model behaviour in, the tables of the published scripts out; exports of Concord likewise."""

import csv
import json
from pathlib import Path

import pytest

from protocols.pact.behaviour import main
from protocols.pact.decisions import read_decisions
from protocols.pact.reading import FileFaultError

SHARED = Path(__file__).parents[3] / "shared" / "e2e" / "pact"
HEADER = (
    "source_row,base_country,scenario_type,actor_country,receiver_country,actor_gender,actor_age,receiver_gender,"
    "receiver_age,situation,cultural_expectation,personal_preference,eval_demo_config,eval_pref_config,eval_decision,"
    "eval_model,eval_backend"
)
EXPORT = """\
dataset,item,item_receiver_country,item_relation,item_actor_country,item_actor_gender,item_actor_age,item_receiver_gender,item_receiver_age,question,respondent_kind,attr_model,cond_prompt,sample,value
pact,s1,Japan,far,Brazil,female,younger,male,older,personal,model,m,balance,0,culture
pact,s1,Japan,far,Brazil,female,younger,male,older,norm,model,m,balance,0,culture
pact,s1,Japan,far,Brazil,female,younger,male,older,personal,model,m,no_balance,0,preference
pact,s1,Japan,far,Brazil,female,younger,male,older,personal,participant,,,,preference
pact,s1,Japan,far,Brazil,female,younger,male,older,personal,model,m,no_balance,1,preference
"""


def case(row=0, decision="FOLLOW_CULTURE", country="Japan", demo="no_demo", gender="female"):
    texts = f"situation {row},expectation,prefers to sit"
    return f"{row},{country},far,Brazil,{country},{gender},younger,male,older,{texts},{demo},swapped,{decision},m,vllm"


@pytest.fixture
def write(tmp_path):
    """Writes a file of cases, or any text, and gives its path."""

    def written(name, *cases, text=None):
        path = tmp_path / name
        path.write_text("\n".join([HEADER, *cases]) + "\n" if text is None else text, encoding="utf-8")
        return path

    return written


def table(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read(cell):
    """A number, or text; the published scripts write the key full_demo as ('full_demo',)."""
    text = cell.removeprefix("('").removesuffix("',)")
    try:
        return float(text)
    except ValueError:
        return text


# Each row stands for the overall one there, since the country is not among the scripts' keys; with keys written as
# tuples their deltas find no baseline.
FAULTS = {"paired_flip_by_base_country", "demo_ablation_model_deltas_vs_no_demo"}


def test_tables_equal_those_of_the_published_scripts(tmp_path):
    if not SHARED.is_dir():
        pytest.skip(f"no shared files at {SHARED}")
    files = [
        str(path)
        for name in ("culture_atlas", "contextualized_outputs_new", "res")
        for path in (SHARED / name).iterdir()
    ]
    assert main([*files, "--out", str(tmp_path)]) == 0
    folders = [SHARED / "expected" / "behaviour" / name for name in ("eval_metrics_current", "appendix_model_behavior")]
    published = [path for folder in folders for path in folder.glob("*.csv") if path.stem not in FAULTS]
    assert len(published) == 28
    for path in published:
        expected, got = table(path.parent, path.stem), table(tmp_path / path.parent.name, path.stem)
        for theirs, ours in zip(expected, got, strict=True):
            numbers = {name: read(cell) for name, cell in theirs.items()}
            assert {name: read(ours[name]) for name in theirs} == pytest.approx(numbers, abs=1e-9), path.stem


def test_flips_by_country_are_those_of_the_country_and_count_what_has_no_pair(write, tmp_path):
    base = write("normad_llama_base_balance.csv", case(0), case(1, country="Iran"), case(2, country="Iran"))
    instruct = write(
        "normad_llama_instruct_balance.csv", case(0, "ALLOW_PREFERENCE"), case(1, "UNKNOWN", country="Iran"), case(3)
    )
    assert main([str(base), str(instruct), "--out", str(tmp_path / "out")]) == 0
    folder = tmp_path / "out" / "eval_metrics_current"
    shown = ("base_country", "n_paired", "flip_pos_culture_to_preference", "n_unknown_pairs", "n_unpaired_cases")
    assert [[row[name] for name in shown] for row in table(folder, "paired_flip_by_base_country")] == [
        ["Iran", "0", "", "1", "1"],
        ["Japan", "1", "1.0", "0", "1"],
    ]
    assert table(folder, "paired_flip_overall")[0]["mcnemar_exact_p"] == "1.0"


def test_deltas_against_no_demographics_are_there_for_each_model(write, tmp_path):
    rows = [case(0), case(1), case(0, demo="full_demo"), case(1, "ALLOW_PREFERENCE", demo="full_demo")]
    assert main([str(write("normad_qwen.csv", *rows)), "--out", str(tmp_path)]) == 0
    deltas = table(tmp_path / "appendix_model_behavior", "demo_ablation_model_deltas_vs_no_demo")
    assert [(row["model"], row["delta_vs_no_demo_pp"]) for row in deltas] == [("Qwen", "50.0"), ("Qwen", "0.0")]
    assert table(tmp_path / "eval_metrics_current", "paired_flip_overall") == []


def test_decisions_that_are_none_are_unknown_and_the_first_is_named(write, tmp_path, capsys):
    path = write("normad_qwen.csv", case(0), case(1, "UNKNOWN"), case(2, "maybe"), case(3, ""))
    assert main([str(path), "--out", str(tmp_path)]) == 0
    said = f"{path}, row 4, column eval_decision: 'maybe' is no decision; 2 of 4 rows count as unknown so."
    assert capsys.readouterr().err == f"{said}\n"
    assert json.loads((tmp_path / "summary.json").read_text())["notes"] == [said]
    (overall,) = table(tmp_path / "eval_metrics_current", "overall_metrics")
    assert (overall["n_valid"], overall["n_unknown_or_other"]) == ("1", "3")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([case(0), case(0, "ALLOW_PREFERENCE")], "row 3, column source_row: the same case stands in row 2 already"),
        ([case(0), case(1, gender="")], "row 3, column actor_gender: it is empty"),
        ([case(0, "yes")], "row 2, column eval_decision: no decision is one of"),
        ([], "it is empty"),
    ],
)
def test_files_that_cannot_be_used_say_where(write, tmp_path, capsys, rows, said):
    assert main([str(write("normad_qwen.csv", *rows)), "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_missing_column_and_a_name_given_twice_are_named(write):
    other = write("other.csv", text=HEADER.replace("scenario_type", "scenario") + "\n" + case(0) + "\n")
    with pytest.raises(FileFaultError, match="row 1, column scenario_type: there is no such column"):
        read_decisions([other])
    path = write("normad_qwen.csv", case(0))
    with pytest.raises(FileFaultError, match="another file is called"):
        read_decisions([path, path])


def test_exports_are_read_unchanged_in_both_shapes(write):
    with pytest.raises(FileFaultError, match="answers to personal, norm; say which with --question"):
        read_decisions([write("export.csv", text=EXPORT)])
    found = read_decisions([write("export.csv", text=EXPORT)], question="personal").table
    shown = ["source_row", "scenario_type", "base_country", "eval_model", "prompt_condition", "eval_decision"]
    assert found[shown].values.tolist() == [
        ["s1", "far", "Japan", "m", "balance", "FOLLOW_CULTURE"],
        ["s1", "far", "Japan", "m", "nobalance", "ALLOW_PREFERENCE"],
        ["s1", "far", "Japan", "m", "nobalance", "ALLOW_PREFERENCE"],
    ]
    lines = [line.split(",") for line in EXPORT.splitlines() if ",norm," not in line]
    wide = "\n".join(",".join([*cells[:9], *cells[10:]]) for cells in lines).replace(",value", ",q_personal")
    same = read_decisions([write("export.csv", text=wide + "\n")]).table
    assert same.equals(found)
    with pytest.raises(FileFaultError, match="export the answers again with the item field relation"):
        read_decisions([write("export.csv", text=EXPORT.replace("item_relation", "item_distance"))], question="norm")
