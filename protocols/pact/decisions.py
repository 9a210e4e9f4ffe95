"""What models decided, from the authors' files of prompt cases or from exports of Concord.

An export must hold, among its item fields, what describes the case: at least the two people's countries, age groups and
genders and their relation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from protocols.pact.answers import notes_on_bots
from protocols.pact.reading import FileFaultError, check_columns, check_filled, read_table

DECISIONS = {"culture": "FOLLOW_CULTURE", "preference": "ALLOW_PREFERENCE"}
UNKNOWN = "UNKNOWN"
RUN = ("path", "dataset", "prompt_condition", "model_stage", "model_family", "eval_model", "eval_backend", "file")
CASE = (
    "source_row",
    "base_country",
    "scenario_type",
    "actor_country",
    "receiver_country",
    "actor_gender",
    "actor_age",
    "receiver_gender",
    "receiver_age",
    "eval_demo_config",
    "eval_pref_config",
    "variant",
)
TEXTS = ("situation", "cultural_expectation", "personal_preference")

_EXPORTED = {
    "source_row": "item",
    "base_country": "item_receiver_country",
    "scenario_type": "item_relation",
}
# What an export tells apart that the study's files do not have: personas, temperatures and repetitions.
_VARIANT = ("attr_country", "attr_age_group", "attr_gender", "cond_temperature", "sample")
_CODES = {
    **dict.fromkeys(["A", "FOLLOW_CULTURE", "CULTURE"], DECISIONS["culture"]),
    **dict.fromkeys(["B", "ALLOW_PREFERENCE", "PREFERENCE"], DECISIONS["preference"]),
}
_NOT_GIVEN = ("eval_demo_config", "eval_pref_config", *TEXTS)
_DATASETS = ("cultureatlas", "normad")
FAMILIES = {
    "llama": "Llama", "qwen": "Qwen", "olmo": "OLMo", "mistral": "Mistral", "deepseek": "DeepSeek", "gpt": "GPT"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Decisions:
    """One row for each case that a model was asked about, with the columns of `RUN`, `CASE`, `TEXTS`, `eval_decision`
    and `main`: whether the file is one of the study's main runs, whose names end in the system prompt.

    `notes` says in a sentence each, with file, row and column, what is not taken into account.
    """

    table: pd.DataFrame
    notes: list[str]


def read_decisions(paths: Sequence[Path], *, question: str | None = None) -> Decisions:
    """All files, sorted by the last two parts of their paths. `question` names the one to take from exports.

    Raises FileFaultError for a file that cannot be used, that is given twice, or that answers a case twice.
    """
    named: dict[str, Path] = {}
    for path in paths:
        if (name := _short(path)) in named:
            raise FileFaultError(path, f"another file is called {name} too; rename one of them or its folder.")
        named[name] = path
    read = [_read(named[name], name, question) for name in sorted(named)]
    table = pd.concat([found.table for found in read], ignore_index=True)
    return Decisions(table, [note for found in read for note in found.notes])


def _read(path: Path, name: str, question: str | None) -> Decisions:
    table, notes = read_table(path), []
    if "respondent_kind" in table:
        table = _exported(path, table, question)
        notes = notes_on_bots(path, table)
    else:
        check_columns(path, list(table.columns), [*CASE[:-1], *TEXTS, "eval_decision", "eval_model", "eval_backend"])
        check_filled(path, table, CASE[:-1])
        stem = path.stem.lower()
        table = table.assign(variant="", main=stem.endswith("normalsys"), **_described(stem, table))
    check_filled(path, table, [*CASE[:-3], "eval_model"])
    table = table.assign(path=name, file=path.name)[[*RUN, *CASE, *TEXTS, "eval_decision", "main"]]
    _check_cases(path, table)
    coded = table["eval_decision"].str.upper().map(_CODES)
    notes += _notes_on_invalid(path, table["eval_decision"], coded)
    return Decisions(table.assign(eval_decision=coded.fillna(UNKNOWN)), notes)


def _short(path: Path) -> str:
    """The folder and the name, by which the study's tables call a file wherever it lies."""
    return "/".join(path.parts[-2:])


def _exported(path: Path, table: pd.DataFrame, question: str | None) -> pd.DataFrame:
    check_columns(path, list(table.columns), ["item", "dataset", "attr_model"])
    standing = table["superseded"] != "true" if "superseded" in table else True
    rows = _to_one_question(path, table[(table["respondent_kind"] == "model") & standing], question)
    found = {own: _field(path, rows, own) for own in (*CASE[:-1], *TEXTS)}
    return rows.assign(
        **found,
        variant=rows[[name for name in _VARIANT if name in rows.columns]].agg(" ".join, axis=1),
        prompt_condition=rows["cond_prompt"].map(_prompt) if "cond_prompt" in rows else "",
        model_stage="",
        model_family=rows["attr_model"],
        eval_model=rows["attr_model"],
        eval_backend="",
        main=True,
    )


def _to_one_question(path: Path, rows: pd.DataFrame, question: str | None) -> pd.DataFrame:
    """The rows that answer the question, the answer as `eval_decision`; exports have a row an answer or an occasion."""
    by_answer = "question" in rows.columns
    own = [name.removeprefix("q_") for name in rows.columns if name.startswith("q_")]
    codes = list(dict.fromkeys(rows["question"])) if by_answer else own
    if not codes:
        raise FileFaultError(path, "it has no answers of models.", column="respondent_kind")
    if question is None and len(codes) > 1:
        raise FileFaultError(path, f"it has answers to {', '.join(codes)}; say which with --question.")
    chosen = question or codes[0]
    if chosen not in codes:
        raise FileFaultError(path, f"no model was asked {chosen}; the questions are {', '.join(codes)}.")
    if by_answer:
        check_columns(path, list(rows.columns), ["value"])
        return rows[rows["question"] == chosen].assign(eval_decision=lambda asked: asked["value"])
    return rows[rows[f"q_{chosen}"] != ""].assign(eval_decision=lambda asked: asked[f"q_{chosen}"])


def _field(path: Path, rows: pd.DataFrame, own: str) -> pd.Series | str:
    """What an export has for a column of the study; an item may have it under the same name or under ours."""
    names = [f"item_{own}", *([_EXPORTED[own]] if own in _EXPORTED else [])]
    for name in names:
        if name in rows.columns:
            return rows[name]
    if own in _NOT_GIVEN:
        return ""
    what = f"there is no such column; export the answers again with the item field {names[-1].removeprefix('item_')}."
    raise FileFaultError(path, what, row=1, column=names[-1])


def _described(stem: str, table: pd.DataFrame) -> dict[str, Any]:
    """What the study's file names say: data set, prompt, base or instruct, and the family of the model."""
    parts = re.split(r"[^a-z0-9]+", stem)
    families = [family for family in FAMILIES if any(part.startswith(family) for part in parts)]
    return {
        "dataset": next((name for name in _DATASETS if name in parts), parts[0]),
        "prompt_condition": _prompt(stem) if "balance" in stem else "nobalance",
        "model_stage": "base" if "base" in parts else "instruct",
        "model_family": families[0] if families else table["eval_model"],
    }


def _prompt(name: str) -> str:
    """Whether a prompt asks for balance, by its name; other prompts keep theirs."""
    plain = re.sub(r"[^a-z]", "", name.lower())
    return "nobalance" if "nobalance" in plain else "balance" if "balance" in plain else name


def _check_cases(path: Path, table: pd.DataFrame) -> None:
    key = ["eval_model", "prompt_condition", *CASE]
    again = table[table.duplicated(key)]
    if len(again):
        row = again.index[0]
        first = table.index[(table[key] == table.loc[row, key]).all(axis=1)][0]
        what = f"the same case stands in row {first} already; keep one of them."
        raise FileFaultError(path, what, row=row, column="source_row")


def _notes_on_invalid(path: Path, written: pd.Series, coded: pd.Series) -> list[str]:
    """Raises FileFaultError for a file without any valid decision."""
    if coded.isna().all():
        what = f"no decision is one of {', '.join(_CODES)}."
        raise FileFaultError(path, what, row=written.index[0], column="eval_decision")
    strange = written[coded.isna() & (written.str.upper() != UNKNOWN)]
    if strange.empty:
        return []
    said = f"{strange.iloc[0]!r} is no decision" if strange.iloc[0] else "there is no decision"
    place = f"{path}, row {strange.index[0]}, column eval_decision"
    return [f"{place}: {said}; {len(strange)} of {len(written)} rows count as unknown so."]
