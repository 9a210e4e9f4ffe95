"""The golden runner: what it compares, what it prints, and the shared golden values where they are."""

import json
from pathlib import Path

import pytest

from tests.golden.compare import differences
from tests.golden.runner import common_tag, main

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"


@pytest.fixture
def case():
    rows = [["r", "x", 1], ["s", "x", 1], ["r", "y", 1], ["s", "y", 0]]
    return {
        "name": "iaa_tiny_1",
        "metric": "inter_annotator_agreement",
        "input": {
            "ratings": {"columns": ["rater", "item", "value"], "rows": rows},
            "params": {"categories": [0, 1]},
        },
        "expected": {"percent_agreement": 0.5, "specific_agreement": {"0": 0.0}},
        "tolerance": {"abs": 1e-9},
    }


def write(folder, case):
    (folder / f"{case['name']}.json").write_text(json.dumps(case))


def test_shared_golden_values(capsys):
    if not GOLDEN.is_dir():
        pytest.skip(f"no golden files at {GOLDEN}")
    code = main([str(GOLDEN)])
    assert (code, capsys.readouterr().out.splitlines()[-1].split(", ")[1]) == (0, "0 failed")


def test_counts_what_passes(tmp_path, case, capsys):
    write(tmp_path, case)
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"


def test_a_wrong_value_is_printed_with_its_path_and_fails(tmp_path, case, capsys):
    case["expected"]["specific_agreement"]["0"] = 0.25
    write(tmp_path, case)
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "iaa_tiny_1 /specific_agreement/0: expected 0.25, got 0.0",
        "0 passed, 1 failed",
    ]


def test_a_metric_that_raises_fails_alone(tmp_path, case, capsys):
    write(tmp_path, case)
    case["name"] = "iaa_undeclared_2"
    case["input"]["params"]["categories"] = [0]
    write(tmp_path, case)
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"


def test_unknown_metrics_are_named_and_do_not_pass(tmp_path, case, capsys):
    for number, variant in enumerate(["normal", "no_overlap"]):
        write(tmp_path, case | {"name": f"coin_flips_{variant}_{number}", "metric": "coin flips"})
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == ["not known: coin_flips (2 files)", "0 passed, 0 failed"]


def test_a_bad_call_says_what_is_wrong(tmp_path, capsys):
    assert main([]) == main([str(tmp_path / "nowhere")]) == 2
    assert "No such folder" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expected", "got", "paths"),
    [
        ({"a": None}, {"a": float("nan")}, []),
        ({"a": None}, {}, ["/a"]),
        ({"a": None}, {"a": 0.0}, ["/a"]),
        ({"a": 0.0}, {"a": float("nan")}, ["/a"]),
        ({"a": {"b": [1.0, 2.0]}}, {"a": {"b": [1.0, 2.1]}, "more": 1}, ["/a/b/1"]),
        ({"a": [1, 2]}, {"a": [1]}, ["/a"]),
        ({"a": {"b": 1}}, {"a": None}, ["/a"]),
        ({"a": True}, {"a": 1}, ["/a"]),
        ({"a": "x"}, {"a": "x"}, []),
        ({"a": 1}, {"a": 1.0 + 1e-12}, []),
    ],
)
def test_comparison(expected, got, paths):
    assert [found.path for found in differences(expected, got, tolerance=1e-9)] == paths


def test_tags_are_what_the_names_share():
    assert common_tag(["pact_flips_no_overlap_31", "pact_flips_normal_30"]) == "pact_flips"
    assert common_tag(["care_salience_70"]) == "care_salience"
