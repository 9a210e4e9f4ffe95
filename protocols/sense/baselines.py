"""`python -m protocols.sense.baselines`: how well other judges' verdicts agree with people, from published files.

Prints a table as CSV: with `llmbar` a row for each subset, judge and strategy, with `pandalm` one for each judge and
annotator.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evaluation.metrics.preference import (
    first_position_rate,
    position_bias,
    right_in_both,
    swap_consistency,
    two_order_accuracy,
)
from evaluation.metrics.raters import unanimity
from protocols.json_files import read_json
from protocols.pact.reading import FileFaultError
from protocols.sense.verdicts import (
    LLMBAR_CELL,
    choices_for,
    read_llmbar,
    read_pandalm_labels,
    read_pandalm_verdicts,
)

PUBLISHED = {"correct_False": "right_12", "correct_True": "right_21", "correct_both": "right_both", "equal": "equal"}


def llmbar_rows(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a subset, judge and strategy: right verdicts by order and in both, and what follows from the position.

    `equal` counts pairs with the same outcome in both orders, as LLMBar's statistics do: one that could not be read in
    either order too. `consistency` leaves those out.
    """
    return pd.DataFrame(
        dict(zip(LLMBAR_CELL, cell, strict=True)) | _both_orders(choices)
        for cell, choices in verdicts.groupby(list(LLMBAR_CELL), sort=False)
    )


def _both_orders(choices: pd.DataFrame) -> dict[str, Any]:
    half = len(choices) // 2  # read_llmbar gives the first order of all pairs, then the second
    right = [two_order_accuracy(part) for part in (choices.iloc[:half], choices.iloc[half:])]
    unread = choices["choice"].isna().groupby(choices["item"]).sum()
    consistent, bias = swap_consistency(choices, invalid="left_out"), position_bias(choices)
    return {
        "n": half,
        "right_12": round(right[0].value * half),
        "right_21": round(right[1].value * half),
        "right_both": round(right_in_both(choices).value * half),
        "equal": round(consistent.value * consistent.n) + int((unread == 2).sum()),
        "accuracy": two_order_accuracy(choices).value,
        "consistency": consistent.value,
        "first_position_rate": first_position_rate(choices).value,
        "position_p": bias.mcnemar_p,
        "n_unread": bias.n_invalid,
    }


def differences(table: pd.DataFrame, published: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A sentence for each number that differs from LLMBar's statistics, such as {"natural/GPT-4/CoT": {...}}."""
    cells = {"/".join(row[name] for name in LLMBAR_CELL): row for row in table.to_dict("records")}
    for name in sorted(cells.keys() ^ published.keys()):
        yield f"{name} is only in the {'verdicts' if name in cells else 'published statistics'}."
    for name in sorted(cells.keys() & published.keys()):
        row = cells[name]
        for theirs, ours in PUBLISHED.items():
            found, said = f"{row[ours]} / {row['n']}", published[name].get(theirs, "").partition(" =")[0]
            if found != said:
                yield f"{name}, {theirs}: {found}, published {said or 'without it'}."


def pandalm_rows(labels: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and annotator, on the pairs that the annotator did not call a tie.

    `n_unread` counts verdicts of a tie and those that could not be read, both of which are wrong.
    """
    return pd.DataFrame(
        {
            "judge": judge,
            "annotator": annotator,
            "n": len(choices),
            "n_unread": int(choices["choice"].isna().sum()),
            "accuracy": two_order_accuracy(choices).value,
            "first_position_rate": first_position_rate(choices).value,
        }
        for (judge, annotator), choices in choices_for(labels, verdicts).groupby(["judge", "annotator"], sort=False)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the table is printed, 1 when it differs from published statistics, 2 when a file cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        return _llmbar(options) if options.layout == "llmbar" else _pandalm(options)
    except FileFaultError as error:
        print(error, file=sys.stderr)
        return 2


def _llmbar(options: argparse.Namespace) -> int:
    table = llmbar_rows(read_llmbar(options.verdicts))
    table.to_csv(sys.stdout, index=False)
    if options.published is None:
        return 0
    found = list(differences(table, read_json(options.published)))
    print(
        f"{len(table)} cells; {len(found)} numbers differ from the published ones.", *found, sep="\n", file=sys.stderr
    )
    return int(bool(found))


def _pandalm(options: argparse.Namespace) -> int:
    labels = read_pandalm_labels(options.labels)
    verdicts = pd.concat([read_pandalm_verdicts(path) for path in options.verdicts], ignore_index=True)
    pandalm_rows(labels, verdicts).to_csv(sys.stdout, index=False)
    agreed = unanimity(labels.pivot(index="item", columns="annotator", values="chosen"))
    print(f"The annotators agree on {agreed.value:.1%} of {agreed.n} pairs.", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m protocols.sense.baselines", description=__doc__)
    layouts = parser.add_subparsers(dest="layout", required=True)
    llmbar = layouts.add_parser("llmbar", help="verdicts in both orders beside one right response")
    llmbar.add_argument("--verdicts", type=Path, required=True, metavar="CSV", help="winner_order_12, winner_order_21")
    llmbar.add_argument("--published", type=Path, metavar="JSON", help="statistics to compare with")
    pandalm = layouts.add_parser("pandalm", help="verdicts in one order beside the choices of three annotators")
    pandalm.add_argument("--labels", type=Path, required=True, metavar="JSON", help="the test set")
    pandalm.add_argument("--verdicts", type=Path, required=True, nargs="+", metavar="JSON", help="a judge's verdicts")
    return parser


if __name__ == "__main__":
    sys.exit(main())
