"""`python -m protocols.pact.score`: the paper's numbers on people and on models beside them, from files of answers.

Writes human_gap.csv, human_agreement.csv, alignment.csv, deviance.csv and summary.json.
"""

import argparse
import json
import math
import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from protocols.pact.alignment_scores import ALL, MEAN, NO_PERSONA, OVERALL, SUBGROUP, Resampling, alignment_rows
from protocols.pact.answers import QUESTIONS, Answers, read_models, read_people
from protocols.pact.human_scores import MAIN_EFFECTS, agreement_rows, deviance_rows, gap_rows
from protocols.pact.reading import FileFaultError
from protocols.pact.relations import Rule

Tables = Mapping[str, pd.DataFrame]

_OF_ITEMS = {
    "majority_alignment": "majority_alignment",
    "rate_mae_item": "rate_mae",
    "rate_abs_diff_of_means": "rate_abs_diff_of_means",
    "signed_culture_gap": "signed_culture_gap",
    "uncertainty_pearson": "uncertainty_correlation",
    "uncertainty_spearman": "uncertainty_spearman",
    "mae_floor_binary": "rate_mae_floor",
}
_OF_SUBGROUPS = {
    "mean_over_subgroups_majority": "majority_alignment",
    "mean_over_subgroups_mae": "rate_mae",
    "mean_over_subgroups_abs_diff_of_means": "rate_abs_diff_of_means",
}


def score(people: Answers, models: Answers, resampling: Resampling) -> Tables:
    """The four tables by name."""
    draws = {"n_resamples": resampling.n_resamples, "seed": resampling.seed}
    return {
        "human_gap": pd.DataFrame(gap_rows(people.table)),
        "human_agreement": pd.DataFrame(agreement_rows(people.table)),
        "alignment": pd.DataFrame(alignment_rows(people.table, models.table, resampling)),
        "deviance": pd.DataFrame(deviance_rows(people.table, **draws)),
    }


def summary(tables: Tables) -> dict[str, Any]:
    """The numbers that the paper defines; what is undefined is NaN."""
    gaps, agreement = tables["human_gap"], tables["human_agreement"]
    alignment, deviance = tables["alignment"], tables["deviance"]
    compared = alignment[alignment["comparison"].isin([NO_PERSONA, OVERALL, SUBGROUP])]
    return {
        "gap_by_country": {
            row["group"]: {"p_pers": row["p_personal"], "p_norm": row["p_norm"], "gap": row["gap"]}
            for row in _rows(gaps[gaps["by"] == "country"])
        },
        "agreement_by_relation": {
            f"{row['group']}|{row['question']}": {
                name: row[name] for name in ("cell_mean", "cell_mean_min2", "n_cells", "pooled")
            }
            for row in _rows(agreement[agreement["by"] == "relation"])
        },
        "alignment": {
            f"{model}|{comparison}|{question}": _alignment(rows, str(comparison))
            for (model, comparison, question), rows in compared.groupby(["model", "comparison", "question"], sort=False)
            if question in QUESTIONS
        },
        "regression_main_effects_only": {
            question: _regression(rows)
            for question, rows in deviance[deviance["model"] == MAIN_EFFECTS].groupby("question", sort=False)
        },
    }


def left_out(people: Answers, models: Answers) -> dict[str, Any]:
    """Rows read, answers without a valid code by question, and what only one side has."""
    asked, answered = set(people.table["item"]), set(models.table["item"])
    groups = set(zip(people.table["country"], people.table["demo"], strict=True))
    personas = models.table[models.table["persona"]]
    strangers = [pair not in groups for pair in zip(personas["country"], personas["demo"], strict=True)]
    return {
        "human": _invalid(people.table),
        "predictions": _invalid(models.table),
        "items_without_predictions": len(asked - answered),
        "predicted_items_without_people": len(answered - asked),
        "persona_rows_without_people": sum(strangers),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all is written, 2 when a file or an option cannot be used; standard error says what was left out."""
    options = _parser().parse_args(arguments)
    try:
        people = read_people(options.human, relations=options.relations)
        models = read_models(options.predictions)
        tables = score(people, models, Resampling(options.splits, options.resamples, options.seed))
        about = {name: vars(options)[name] for name in ("relations", "splits", "resamples", "seed")}
        about |= {"left_out": left_out(people, models), "notes": people.notes + models.notes}
        _write(options.out, tables, summary(tables) | {"input": about})
    except FileFaultError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: it cannot be written ({error.strerror}).", file=sys.stderr)
        return 2
    for note in people.notes + models.notes:
        print(note, file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m protocols.pact.score", description=__doc__)
    parser.add_argument("--human", type=Path, required=True, metavar="FILE", help="answers of people, or an export")
    parser.add_argument(
        "--predictions", type=Path, required=True, nargs="+", metavar="FILE", help="answers of models, or exports"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the tables go")
    parser.add_argument(
        "--relations",
        choices=get_args(Rule),
        default="published",
        help="which countries are close: the study's own lists (default), or all within 4,200 km",
    )
    parser.add_argument(
        "--splits", type=_positive, default=200, help="splits of people in halves for the human ceiling"
    )
    parser.add_argument("--resamples", type=_positive, default=2000, help="resamples for intervals and clustered p")
    parser.add_argument("--seed", type=_whole, default=1, help="of splits and resamples")
    return parser


def _positive(text: str) -> int:
    return _whole(text, least=1)


def _whole(text: str, *, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of {least} or more")
    return int(text)


def _write(folder: Path, tables: Tables, found: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    text = json.dumps(_without_nan(found), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "summary.json").write_text(f"{text}\n", encoding="utf-8")


def _alignment(rows: pd.DataFrame, comparison: str) -> dict[str, Any]:
    by_metric = rows[rows["group"] == (MEAN if comparison == SUBGROUP else ALL)].set_index("metric")
    if comparison != SUBGROUP:
        values = {name: by_metric["value"][metric] for name, metric in _OF_ITEMS.items()}
        return {"n_items": int(by_metric["n"]["rate_mae"]), **values}
    cells = rows[(rows["group"] != MEAN) & (rows["metric"] == "rate_mae")]
    values = {name: by_metric["value"][metric] for name, metric in _OF_SUBGROUPS.items()}
    return {"n_rows": int(cells["n"].sum()), "n_cells": int(by_metric["n"]["rate_mae"]), **values}


def _regression(rows: pd.DataFrame) -> dict[str, Any]:
    fit, *_ = found = _rows(rows)
    factors = {row["factor"]: {name: row[name] for name in ("drop_deviance", "df", "p", "q")} for row in found}
    return {name: fit[name] for name in ("nobs", "full_deviance", "full_df")} | {"factors": factors}


def _rows(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    return table.to_dict("records")


def _invalid(table: pd.DataFrame) -> dict[str, int]:
    return {"rows": len(table), **{question: int(table[question].isna().sum()) for question in QUESTIONS}}


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    sys.exit(main())
