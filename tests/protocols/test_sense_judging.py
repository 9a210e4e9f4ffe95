"""Judgements of a job's calls: selection, application, the two orders, and which preferences rank."""

import json

import pandas as pd
import pytest

from evaluation.judging_report.personal_scores import choose, mean_accuracy, personal_choices, rated
from evaluation.judging_report.preference_votes import judgements_frame
from protocols.sense.judgements import judgement
from protocols.sense.ranking import drawn_preferences
from protocols.sense.select import main

ORDERS = (["first", "second"], ["second", "first"])


def said(letter):
    return f"The final decision is Response {letter}." if letter else "Both are fine."


def judged(*, pairs, preferences, human="first", annotator="ann", topic="math", **more):
    """Rows of judgements in both orders; a preference says A, B, "" (undecided), None (no text), or right."""
    for pair in pairs:
        for name, verdict in preferences.items():
            for order in ORDERS:
                right = "A" if order[0] == human else "B"
                text = "" if verdict is None else said(right if verdict == "right" else verdict)
                content = {"annotator": annotator, "topic": topic, "pair": pair, "human": human, **more}
                content |= {"preference_id": name} if name else {}
                yield content, {"better": order}, text


def frame(rows):
    return judgements_frame(judgement(*row, mode="strict") for row in rows)


def accuracy(rows, of="accuracy"):
    return mean_accuracy(rows, of, n_resamples=100, seed=1)


def test_preferences_are_chosen_on_dev_pairs_and_applied_to_test_pairs():
    preferences = {"p0": "A", "p1": "right", "p2": ""}
    chosen = choose(frame(judged(pairs=["d1", "d2"], preferences=preferences)))
    (key,) = chosen
    assert key == ("ann", "math")
    assert (chosen[key].one, chosen[key].union, chosen[key].dev_right, chosen[key].dev_rows) == (("p1",), ("p1",), 4, 4)
    test = frame(judged(pairs=["t1", "t2"], preferences={"p0": "B", "p1": "right"}))
    rows = rated(test, chosen).assign(plain=[1, 0, 1, float("nan")])
    assert (rows["pair"].tolist(), rows["right_first"].tolist()) == (["t1", "t1", "t2", "t2"], [False, True] * 2)
    assert [round(accuracy(rows, of).value, 3) for of in ("accuracy", "baseline", "gain")] == [1, 0.667, 0.333]
    assert personal_choices(test, chosen)["choice"].tolist() == ["B", "A"] * 2


def test_equal_subsets_share_the_accuracy():
    chosen = choose(frame(judged(pairs=["d"], preferences={"p0": "right", "p1": "right"})))
    test = frame(judged(pairs=["t"], preferences={"p0": "right", "p1": ""}))
    # p0 is right, p1 wrong, and a tie of both right where the right response is first.
    assert rated(test, chosen)["right"].tolist() == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_topics_weigh_alike_and_people_within_them():
    right = [
        ("math", "ann", "p1", 1.0),
        ("math", "bob", "p1", 0.0),
        ("math", "bob", "p2", 1.0),
        ("code", "ann", "p3", 0.25),
    ]
    rows = pd.DataFrame(right, columns=["topic", "annotator", "pair", "right"]).assign(voted=1.0, plain=0.5)
    found = accuracy(rows)
    assert (found.value, found.n) == (0.5, 4)
    assert found.low < 0.5 < found.high
    assert accuracy(rows, "gain").value == 0
    assert not accuracy(rows.assign(plain=float("nan")), "gain").defined


def test_preferences_are_drawn_for_each_annotator_and_topic():
    ids = {("ann", "math"): ["a1", "a2", "a3"], ("bob", "math"): ["b1"], ("ann", "code"): ["a4"]}
    drawn = drawn_preferences(ids, each=2, seed=1)
    assert (len(drawn["math"]), "b1" in drawn["math"], drawn["code"]) == (3, True, ["a4"])
    assert drawn == drawn_preferences(ids, each=2, seed=1)


@pytest.fixture
def exported(tmp_path):
    """Writes rows of judgements as a job's exported calls."""

    def file(name, rows):
        path = tmp_path / name
        calls = [{"item_content": content, "orders": orders, "text": text} for content, orders, text in rows]
        path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
        return str(path)

    return file


def test_exported_calls_are_selected_from_unchanged(exported, capsys):
    dev = exported("dev.jsonl", judged(pairs=["d"], preferences={"p0": "A", "p1": "right", "p2": None}))
    others = judged(pairs=["t"], preferences={"p1": "A"}, topic="code")
    test = exported("test.jsonl", [*judged(pairs=["t"], preferences={"p1": "right"}), *others])
    assert main(["--topic", "math", "--dev", dev, "--test", test]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["annotator"], found["preferences"], found["selected"][0]) == ("ann", ["p0", "p1", "p2"], [1])
    assert (found["forward_best"], found["test_accuracy_pct"], found["dev"]["n_missing_outputs"]) == (2, 100, 2)
    assert found["test"]["n_rows_of_other_topics"] == 2


@pytest.mark.parametrize(
    ("rows", "more", "fault"),
    [
        ([({}, {}, "x")], [], "row 1: the item has no annotator, topic, pair, human"),
        (list(judged(pairs=["d"], preferences={"p": "A"}, topic="code")), [], "no call is of the topic math"),
        (
            [*judged(pairs=["d"], preferences={"p": "A"}), *judged(pairs=["d"], preferences={"p": "A"}, annotator="b")],
            [],
            "name one of its annotators with --annotator: ann, b.",
        ),
        ([*judged(pairs=["d"], preferences={"p": "A"})] * 2, [], "row 3: a pair stands there twice"),
        (list(judged(pairs=["d"], preferences={"p": "A"})), ["--annotator", "bob"], "name one of its annotators"),
    ],
)
def test_calls_that_cannot_be_used_cost_one_sentence(exported, capsys, rows, more, fault):
    file = exported("dev.jsonl", rows)
    assert main(["--topic", "math", "--dev", file, "--test", file, *more]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert fault in sentence
