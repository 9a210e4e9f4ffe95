"""Preferences selected from files in the layout of SenseJudge's authors."""

import json
from pathlib import Path

import pytest

from protocols.sense.select import main

SHARED = Path(__file__).parents[3] / "shared" / "e2e" / "sensejudge"
DEV, TEST = "dev_reverse_False.json", "test_reverse_False.json"


@pytest.fixture
def files(tmp_path):
    """Preference 1 is always right, preference 0 where the chosen response comes first; a third writes nonsense."""
    for name in ("dev", "test"):
        for reverse, letters in (("False", "AA"), ("True", "AB")):
            texts = [*(f"The final decision is Response {letter}." for letter in letters), "Both are fine."]
            row = {"dataset": "sense_bmk:Math", "outputs": [{"output": text} for text in texts]}
            (tmp_path / f"{name}_reverse_{reverse}.json").write_text(json.dumps([row, row | {"outputs": None}]))
    return tmp_path


def run(folder, capsys, *more, topic="Math", dev=DEV):
    code = main(["--topic", topic, "--dev", str(folder / dev), "--test", str(folder / TEST), *more])
    return code, capsys.readouterr()


def test_the_best_preferences_and_what_was_left_out(files, capsys):
    code, printed = run(files, capsys)
    found = json.loads(printed.out)
    assert (code, found["strategy"], found["selected"]) == (0, "forward_best", [[1]])
    assert (found["forward_best"], found["dev_denominator"]) == (2, 2)
    assert (found["test_accuracy_pct"], found["test_denominator"]) == (100, 2)
    assert found["test"] == {
        "n_rows": 4,
        "n_missing_outputs": 6,
        "n_unparsed_outputs": 2,
        "n_rows_of_other_topics": 0,
    }


@pytest.mark.parametrize("penalty", [False, True])
@pytest.mark.parametrize("topic", ["Math", "Code", "QA", "Role", "Logic"])
def test_the_released_rule_gives_what_the_authors_script_gives(topic, penalty, capsys):
    if not SHARED.is_dir():
        pytest.skip(f"no judge outputs at {SHARED}")
    expected = json.loads((SHARED / "reference_selection_and_position.json").read_text())
    lines = (SHARED / "results" / "judge_count.txt").read_text().split(f"# topic={topic} chazhi={int(penalty)}\n")
    _, denominator, score = lines[1].splitlines()[1].rsplit(":", 2)
    files = [
        SHARED / "judge_outputs" / f"synthetic-{part}" / f"{topic}_output_reverse_False.json"
        for part in ("dev", "test")
    ]
    arguments = ["--topic", topic, "--dev", str(files[0]), "--test", str(files[1]), "--rule", "released"]
    assert main([*arguments, *["--difference-penalty"][: int(penalty)]]) == 0
    found = json.loads(capsys.readouterr().out)
    reference = expected[topic]["penalty" if penalty else "plain"]
    assert {name: found[name] for name in reference} == reference
    assert found["test_denominator"] == pytest.approx(float(denominator.split(",")[0]), abs=1e-9)
    assert found["test_accuracy_pct"] == pytest.approx(float(score), abs=1e-9)


def rows(folder, change, name=DEV):
    path = folder / name
    given = json.loads(path.read_text())
    change(given)
    path.write_text(json.dumps(given))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / DEV).unlink(), f"{DEV}: it cannot be read"),
        (lambda folder: (folder / "dev_reverse_True.json").unlink(), "dev_reverse_True.json: it cannot be read"),
        (lambda folder: (folder / DEV).write_text("[]"), "at least one row"),
        (lambda folder: (folder / DEV).write_text('[\n{"dataset"'), "row 2: this is not valid JSON"),
        (lambda folder: (folder / DEV).write_bytes(b'[\n\n"\xe9"]'), "row 3: it is not UTF-8"),
        (lambda folder: rows(folder, lambda given: given[1].pop("outputs")), "row 2, column outputs: the row lacks it"),
        (lambda folder: rows(folder, lambda given: given[0].update(dataset=3)), "row 1, column dataset"),
        (lambda folder: rows(folder, lambda given: given[0].update(outputs="A")), "row 1, column outputs: it must be"),
        (lambda folder: rows(folder, lambda given: given[0].update(outputs=[3])), r"row 1, column outputs[0]"),
        (lambda folder: rows(folder, lambda given: given[1].update(outputs=[None])), "row 2, column outputs: here"),
        (lambda folder: rows(folder, lambda given: given[0].update(outputs=[])), "no row of the topic has an output"),
        (lambda folder: rows(folder, lambda given: given[0]["outputs"].pop()), "it has 2 outputs a row, its reverse 3"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_costs_one_sentence(files, spoil, words, capsys):
    spoil(files)
    code, printed = run(files, capsys)
    assert (code, printed.out) == (2, "")
    assert words in printed.err
    assert printed.err.count("\n") == 1


def test_other_names_and_topics_are_refused(files, capsys):
    assert "must contain reverse_False" in run(files, capsys, dev="dev_reverse_True.json")[1].err
    assert "no row is of the topic Cod; there are Math." in run(files, capsys, topic="Cod")[1].err
