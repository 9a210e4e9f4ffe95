"""Verdicts of other judges, counted as the authors of the files count them."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from protocols.sense.baselines import main

SHARED = Path(__file__).parents[3] / "shared" / "data"
# Right in both orders; always the one shown first; read in neither order.
LLMBAR = """\
subset,idx,gold,judge,strategy,winner_order_12,winner_order_21
own,1,1,J,plain,1,1
own,2,1,J,plain,1,2
own,3,2,J,plain,,
"""
PUBLISHED = {
    "correct_False": "2 / 3 = 66.7%",
    "correct_True": "1 / 3 = 33.3%",
    "correct_both": "1 / 3",
    "equal": "2 / 3",
}
LABELS = [
    {"idx": 0, "annotator1": 1, "annotator2": 1, "annotator3": 1},
    {"idx": 1, "annotator1": 2, "annotator2": 1, "annotator3": 0},
]
VERDICTS = [{"idx": 0, "own_result": "1"}, {"idx": 1, "own_result": "Tie"}]


@pytest.fixture
def write(tmp_path):
    def file(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    return file


def table(printed):
    return list(csv.DictReader(StringIO(printed.out)))


def test_both_orders_are_counted_and_compared(write, capsys):
    verdicts = ["llmbar", "--verdicts", write("verdicts.csv", LLMBAR)]
    assert main([*verdicts, "--published", write("same.json", {"own/J/plain": PUBLISHED})]) == 0
    (row,) = table(capsys.readouterr())
    counts = {"n": "3", "right_12": "2", "right_21": "1", "right_both": "1", "equal": "2", "n_unread": "2"}
    assert counts.items() <= row.items()
    assert (row["accuracy"], row["consistency"], row["first_position_rate"]) == ("0.5", "0.5", "0.75")
    other = {"own/J/plain": PUBLISHED | {"equal": "3 / 3 = 100%"}, "own/K/plain": PUBLISHED}
    assert main([*verdicts, "--published", write("other.json", other)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "1 cells; 2 numbers differ from the published ones.",
        "own/K/plain is only in the published statistics.",
        "own/J/plain, equal: 2 / 3, published 3 / 3.",
    ]


def test_one_order_is_compared_with_each_annotator(write, capsys):
    assert main(["pandalm", "--labels", write("l.json", LABELS), "--verdicts", write("v.json", VERDICTS)]) == 0
    printed = capsys.readouterr()
    found = [(row["annotator"], row["n"], row["n_unread"], row["accuracy"]) for row in table(printed)]
    assert found == [("annotator1", "2", "1", "0.5"), ("annotator2", "2", "1", "0.5"), ("annotator3", "1", "0", "1.0")]
    assert "agree on 50.0% of 2 pairs" in printed.err


@pytest.mark.parametrize(
    ("labels", "verdicts", "fault"),
    [
        ([{"idx": 0, "annotator1": 3}], VERDICTS, "row 1, column annotator1: 3 is none of 0, 1, 2."),
        ([{"annotator1": 1}], VERDICTS, "row 1, column idx: the row lacks it."),
        (LABELS, [{"idx": 0}], "row 1: no column ends in _result"),
        (LABELS, [3], "row 1: it must be an object."),
        ("[", VERDICTS, "row 1: this is not valid JSON"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(write, capsys, labels, verdicts, fault):
    assert main(["pandalm", "--labels", write("l.json", labels), "--verdicts", write("v.json", verdicts)]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert fault in sentence


def test_every_published_cell_of_llmbar_comes_out(capsys):
    if not SHARED.is_dir():
        pytest.skip(f"no files at {SHARED}")
    files = [str(SHARED / f"llmbar_judge_{name}") for name in ("verdicts.csv", "statistics.json")]
    assert main(["llmbar", "--verdicts", files[0], "--published", files[1]]) == 0
    printed = capsys.readouterr()
    assert (len(table(printed)), printed.err) == (102, "102 cells; 0 numbers differ from the published ones.\n")
