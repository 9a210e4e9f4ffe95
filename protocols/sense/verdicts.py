"""Verdicts of other judges on pairs of responses, which stand beside SenseJudge as baselines.

Every reader gives one frame: a row for each judge, pair and order, with `judge`, `item`, `right_first` and `choice`, as
`evaluation.metrics.preference` takes them, so that verdicts read here and judgements made here are counted alike.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from protocols.json_files import read_json_list
from protocols.pact.reading import FileFaultError, check_filled, check_values, read_table

ORDERS = {"12": "winner_order_12", "21": "winner_order_21"}
LLMBAR_CELL = ("subset", "judge", "strategy")
ANNOTATORS = ("annotator1", "annotator2", "annotator3")
# What PandaLM's files call the verdicts; whatever else stands there could not be read.
PANDALM_WINNERS = {"1": "1", "2": "2", "0": "tie", "Tie": "tie"}


def read_llmbar(path: Path) -> pd.DataFrame:
    """Verdicts in both orders, with `subset`, `judge` and `strategy`. Raises FileFaultError.

    A winner is numbered as the responses are in the pair, whatever the order, and is empty where none was read.
    """
    table = read_table(path, columns=[*LLMBAR_CELL, "idx", "gold", *ORDERS.values()])
    check_filled(path, table, [*LLMBAR_CELL, "idx"])
    check_values(path, table, "gold", ("1", "2"))
    for column in ORDERS.values():
        check_values(path, table, column, ("1", "2", ""))
    shared = table[list(LLMBAR_CELL)].assign(item=table["idx"])
    return pd.concat(
        [shared.join(_choices(table[column], table["gold"], order)) for order, column in ORDERS.items()],
        ignore_index=True,
    )


def read_pandalm_labels(path: Path) -> pd.DataFrame:
    """A row for each pair and annotator: `item`, `annotator`, `chosen` ("1", "2" or "tie"). Raises FileFaultError."""
    return pd.DataFrame(
        {"item": str(_value(path, row, number, "idx")), "annotator": name, "chosen": _label(path, row, number, name)}
        for number, row in _rows(path)
        for name in ANNOTATORS
    )


def read_pandalm_verdicts(path: Path) -> pd.DataFrame:
    """`judge`, `item` and `winner` ("1", "2", "tie" or missing), of the one order that was asked. FileFaultError."""
    rows = list(_rows(path))
    column = next((name for name in rows[0][1] if name.endswith("_result")), None)
    if column is None:
        raise FileFaultError(path, "no column ends in _result; give a file with a judge's verdicts.", row=1)
    return pd.DataFrame(
        {
            "judge": column.removesuffix("_result"),
            "item": str(_value(path, row, number, "idx")),
            "winner": PANDALM_WINNERS.get(str(_value(path, row, number, column))),
        }
        for number, row in rows
    )


def choices_for(labels: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts asked in the first order as choices, for each annotator who did not call the pair a tie.

    A verdict of a tie is no choice, and so wrong, as where a judge must choose.
    """
    asked = labels[labels["chosen"] != "tie"].merge(verdicts, on="item")
    return asked[["annotator", "judge", "item"]].join(_choices(asked["winner"], asked["chosen"], "12"))


def _choices(winner: pd.Series, right: pd.Series, order: str) -> pd.DataFrame:
    choice = winner.map({order[0]: "A", order[1]: "B"})
    return pd.DataFrame({"right_first": (right == order[0]).astype(int), "choice": choice})


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, row in enumerate(read_json_list(path), start=1):
        if not isinstance(row, dict):
            raise FileFaultError(path, "it must be an object.", row=number)
        yield number, row


def _value(path: Path, row: Mapping[str, Any], number: int, column: str) -> Any:
    if column not in row:
        raise FileFaultError(path, "the row lacks it.", row=number, column=column)
    return row[column]


def _label(path: Path, row: Mapping[str, Any], number: int, column: str) -> str:
    given = _value(path, row, number, column)
    if str(given) not in PANDALM_WINNERS:
        raise FileFaultError(path, f"{given!r} is none of 0, 1, 2.", row=number, column=column)
    return PANDALM_WINNERS[str(given)]
