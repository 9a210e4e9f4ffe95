"""`python -m protocols.sense.select`: preferences that judge best together on dev pairs, and their test accuracy."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.judging_report.preference_votes import JudgedPairs, judged_pairs
from evaluation.metrics.decisions import Mode
from evaluation.metrics.result import Estimate
from evaluation.metrics.subsets import Rule, score_subsets, select_subsets
from protocols.pact.reading import FileFaultError
from protocols.sense.judge_outputs import read_judged_pairs
from protocols.sense.judgements import read_judged_calls

MODES: dict[Rule, Mode] = {"paper": "strict", "released": "released"}
CALLS = ".jsonl"  # how the name of a job's exported calls ends


def main(arguments: list[str] | None = None) -> int:
    """Print the selection as one JSON object; 2 with a sentence when a file cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        names, dev, test = _read_calls(options) if options.dev.suffix == CALLS else _read_outputs(options)
        found = selection(dev, test, rule=options.rule, difference_penalty=options.difference_penalty)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps({"topic": options.topic, **names, **found}, ensure_ascii=False))
    return 0


def _read_outputs(options: argparse.Namespace) -> tuple[dict[str, Any], JudgedPairs, JudgedPairs]:
    dev, test = (
        read_judged_pairs(path, topic=options.topic, mode=MODES[options.rule]) for path in (options.dev, options.test)
    )
    if dev.votes.shape[1] != test.votes.shape[1]:
        what = f"it has {test.votes.shape[1]} outputs a row, the dev file {dev.votes.shape[1]}."
        raise FileFaultError(options.test, what, column="outputs")
    return {}, dev, test


def _read_calls(options: argparse.Namespace) -> tuple[dict[str, Any], JudgedPairs, JudgedPairs]:
    """Preferences are numbered as their ids are sorted; one that no test pair was judged under has no votes there."""
    (dev, n_dev), (test, n_test) = (
        read_judged_calls(path, topic=options.topic, annotator=options.annotator, mode=MODES[options.rule])
        for path in (options.dev, options.test)
    )
    ids = sorted(dev["preference"].unique())
    names = {"annotator": dev["annotator"].iloc[0], "preferences": ids}
    return names, judged_pairs(dev, ids, n_other=n_dev), judged_pairs(test, ids, n_other=n_test)


def selection(dev: JudgedPairs, test: JudgedPairs, *, rule: Rule, difference_penalty: bool) -> dict[str, Any]:
    """What is selected on dev pairs, by number of the preference, and how it judges test pairs.

    Accuracies are in per cent of the rows with a vote, both orders together, averaged over the selected subsets; None
    where no row has a vote. `smallest_first` is the one subset to use: fewest preferences, then lexicographic.
    """
    found = select_subsets(dev.votes, dev.right_first, rule=rule, difference_penalty=difference_penalty)
    inverted = found.strategy == "inverted_worst"
    everyone, one = (
        score_subsets(test.votes, test.right_first, subsets, inverted=inverted)
        for subsets in (found.subsets, found.subsets[:1])
    )
    subsets = [np.flatnonzero(members).tolist() for members in found.subsets]
    return {
        "rule": rule,
        "parsing": MODES[rule],
        "difference_penalty": difference_penalty,
        "n_preferences": dev.votes.shape[1],
        "strategy": found.strategy,
        "forward_best": found.best_metric,
        "inverted_worst": found.inverted_worst_metric,
        "dev_denominator": found.max_denominator,
        "n_selected": len(subsets),
        "selected": subsets,
        "test_accuracy_pct": _percent(everyone.accuracy),
        "test_mean_right": everyone.mean_right,
        "test_denominator": everyone.mean_denominator,
        "smallest_first": {
            "subset": subsets[0],
            "test_accuracy_pct": _percent(one.accuracy),
            "test_denominator": one.mean_denominator,
        },
        "dev": _counts(dev),
        "test": _counts(test),
    }


def _percent(accuracy: Estimate) -> float | None:
    return 100 * accuracy.value if accuracy.defined else None


def _counts(pairs: JudgedPairs) -> dict[str, int]:
    return {
        "n_rows": len(pairs.votes),
        "n_missing_outputs": pairs.n_missing,
        "n_unparsed_outputs": pairs.n_unparsed,
        "n_rows_of_other_topics": pairs.n_other_topics,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m protocols.sense.select", description=__doc__)
    parser.add_argument("--topic", required=True, help="rows whose dataset ends in a colon and this, or calls about it")
    for name in ("dev", "test"):
        text = (
            f"judge outputs on {name} pairs, chosen response first (the reversed file is found beside it); "
            f"or a job's exported calls, whose name ends in {CALLS}"
        )
        parser.add_argument(f"--{name}", required=True, type=Path, metavar="FILE", help=text)
    parser.add_argument("--annotator", default="", help="in exported calls: whose preferences, where there are several")
    text = "paper: the best subsets; released: as the published script, which may turn the worst round (default: paper)"
    parser.add_argument("--rule", choices=MODES, default="paper", help=text)
    parser.add_argument("--difference-penalty", action="store_true", help="less the difference between the two orders")
    return parser


if __name__ == "__main__":
    sys.exit(main())
