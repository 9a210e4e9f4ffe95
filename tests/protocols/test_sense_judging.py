"""Judgements of a job's calls: selection, application, the two orders, other topics' preferences, and ranking."""

import json

import pytest

from protocols.sense.judgements import judgement, judgements_frame
from protocols.sense.personal import by_topic, choose, crossed, positions, scores
from protocols.sense.ranking import agreement_rows, battles, drawn_preferences, ranking_rows
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


def test_preferences_are_chosen_on_dev_pairs_and_applied_to_test_pairs():
    preferences = {"p0": "A", "p1": "right", "p2": ""}
    chosen = choose(frame(judged(pairs=["d1", "d2"], preferences=preferences)))
    (key,) = chosen
    assert key == ("ann", "math")
    assert (chosen[key].one, chosen[key].union, chosen[key].dev_right, chosen[key].dev_rows) == (("p1",), ("p1",), 4, 4)
    test = frame(judged(pairs=["t1", "t2"], preferences={"p1": "right"}))
    plain = frame([*judged(pairs=["t1", "t2"], preferences={"": "A"}), *judged(pairs=["x"], preferences={"": "right"})])
    (row,) = scores(test, plain, chosen)
    assert (row["accuracy"], row["accuracy_smallest"], row["baseline"], row["gain"]) == (1, 1, 0.5, 0.5)
    assert (row["pairs"], row["dev_right"], row["dev_rows"], row["unread"], row["missing"]) == (2, 4, 4, 0, 0)
    without, with_ = positions(test, plain[plain["pair"] != "x"], chosen)
    assert (without["first"], without["second"], without["consistency"]) == (4, 0, 0)
    assert (with_["first"], with_["second"], with_["difference"], with_["consistency"]) == (2, 2, 0, 1)


def test_equal_subsets_share_the_accuracy():
    chosen = choose(frame(judged(pairs=["d"], preferences={"p0": "right", "p1": "right"})))
    test = frame(judged(pairs=["t"], preferences={"p0": "right", "p1": ""}))
    (row,) = scores(test, test.iloc[:0], chosen)
    # p0 is right, p1 wrong, and a tie of both right where the right response is first.
    assert (row["best_subsets"], row["accuracy"], row["accuracy_smallest"]) == (3, 0.5, 1)
    assert row["unread"] == 2


def test_topics_weigh_alike():
    rows = [
        {"judge": "J", "topic": topic, "annotator": name, "accuracy": accuracy, "baseline": 0.5, "gain": accuracy - 0.5}
        for topic, name, accuracy in (("math", "ann", 1.0), ("math", "bob", 0.5), ("code", "ann", 0.25))
    ]
    assert {row["topic"]: row["accuracy"] for row in by_topic(rows)} == {"code": 0.25, "math": 0.75, "overall": 0.5}


def test_preferences_of_one_topic_judge_another():
    rows = judged(pairs=["t1"], preferences={"p0": "right"}, topic="reasoning", preference_topic="math")
    assert crossed(frame(rows)) == [{"annotator": "ann", "from": "math", "to": "reasoning", "pairs": 1, "accuracy": 1}]


def test_models_are_ranked_by_the_majority_of_preferences():
    models = {"q/a/b": ("a", "b"), "q/a/c": ("a", "c"), "q/b/c": ("b", "c")}
    rows = [
        row
        for pair, verdicts in (("q/a/b", ("right", "right", "B")), ("q/a/c", ("right",) * 3), ("q/b/c", ("right",) * 3))
        for row in judged(pairs=[pair], preferences=dict(zip("xyz", verdicts, strict=True)), annotator="")
    ]
    table = battles(frame(rows), models)
    assert len(table) == 6
    ranked = {row["model"]: (row["mean_win_rate"], row["against_anchor"]) for row in ranking_rows(table, "b")}
    assert ranked == {"a": (1.0, 1.0), "b": (0.5, pytest.approx(float("nan"), nan_ok=True)), "c": (0.0, 0.0)}
    everyone, one = agreement_rows(table, ["a", "b", "c"], "b")
    assert (everyone["models"], everyone["kendall"], everyone["order_agreement"]) == (3, 1, 1)
    assert (one["models"], one["kendall"]) == (2, 1)


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
