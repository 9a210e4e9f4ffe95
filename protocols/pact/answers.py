"""Answers of people and models to the two questions, from the authors' files or from exports of Concord.

An export has one row an answer or one row an item and respondent; the country, age group and gender of the item's
receiver must be among its item fields. Of models, a job's exported calls are read too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from protocols.json_files import read_json_lines
from protocols.pact.countries import UnknownCountryError
from protocols.pact.reading import FileFaultError, check_columns, check_filled, check_values, read_table
from protocols.pact.relations import Rule, country_relation

QUESTIONS = ("personal", "norm")
CALLS = ".jsonl"  # how the name of a job's exported calls ends
LABELS = {"culture": "A", "preference": "B"}
_CODES = {
    **dict.fromkeys(["A", "FOLLOW_CULTURE", "CULTURE"], "A"),
    **dict.fromkeys(["B", "ALLOW_PREFERENCE", "PREFERENCE"], "B"),
}
_SETTINGS = {"persona": True, "true": True, "no_persona": False, "false": False}

# Our name of each column, then that of the authors and that of an export.
_PEOPLE = {
    "respondent": ("respondent_id", "respondent"),
    "country": ("respondent_country", "attr_country"),
    "age": ("respondent_age_bucket", "attr_age_group"),
    "gender": ("respondent_gender", "attr_gender"),
    "item": ("scenario_item_id", "item"),
    "scenario_country": ("scenario_country", "item_receiver_country"),
    "receiver_age": ("receiver_age", "item_receiver_age"),
    "receiver_gender": ("receiver_gender", "item_receiver_gender"),
    "personal": ("human_personal", "q_personal"),
    "norm": ("human_norm", "q_norm"),
}
_MODELS = {
    "model": ("model_tag", "attr_model"),
    "persona": ("persona_setting", "attr_persona"),
    "item": ("scenario_item_id", "item"),
    "personal": ("llm_personal", "q_personal"),
    "norm": ("llm_norm", "q_norm"),
}
_PERSONA = ("persona_country", "persona_demo")
_EXPORTED_PERSONA = ("attr_country", "attr_age_group", "attr_gender")


@dataclass(frozen=True, slots=True)
class Answers:
    """One row for each time somebody answered about an item; `personal` and `norm` are "A" (culture), "B" or missing.

    `notes` says in a sentence each, with file, row and column, what is not taken into account.
    """

    table: pd.DataFrame
    notes: list[str]


def read_people(path: Path, *, relations: Rule) -> Answers:
    """Columns: those of the respondent and the item, `demo` (age_gender) and `relation`. Raises FileFaultError."""
    found = _read(path, _PEOPLE, of_models=False)
    people = found.table.assign(demo=found.table["age"] + "_" + found.table["gender"])
    return Answers(people.assign(relation=list(_relations(path, people, relations))), found.notes)


def read_models(paths: Sequence[Path]) -> Answers:
    """Columns `model`, `item`, `persona` (whether it answers as somebody), `country`, `demo`. Raises FileFaultError."""
    read = [_read(path, _MODELS, of_models=True) for path in paths]
    table = pd.concat([found.table for found in read], ignore_index=True)
    return Answers(
        table.assign(persona=table["persona"].map(_SETTINGS)), [note for found in read for note in found.notes]
    )


def _read(path: Path, columns: Mapping[str, tuple[str, str]], *, of_models: bool) -> Answers:
    table = _calls(path) if path.suffix == CALLS else read_table(path)
    exported = "respondent_kind" in table
    if exported:
        table = table[(table["respondent_kind"] == "model") == of_models]
        if table.empty:
            raise FileFaultError(path, f"it has no answers of {'models' if of_models else 'people'}.")
    tidy = exported and {"question", "value"} <= set(table)
    if exported and not tidy:  # rows of other instruments have neither answer
        check_columns(path, table.columns.tolist(), ["q_personal", "q_norm"])
        table = table[(table["q_personal"] != "") | (table["q_norm"] != "")]
    notes = notes_on_bots(path, table)
    if tidy:
        by_question = {question: table.loc[table["question"] == question, "value"] for question in QUESTIONS}
        table = _one_row_an_occasion(path, table)
    names = {own: pair[exported] for own, pair in columns.items()}
    _check_columns(path, table, names.values())
    if not tidy:
        by_question = {question: table[names[question]] for question in QUESTIONS}
    notes += _notes_on_invalid(path, by_question)
    check_filled(path, table, [name for own, name in names.items() if own not in QUESTIONS])
    found = pd.DataFrame({own: table[name] for own, name in names.items()})
    if of_models:
        check_values(path, table, names["persona"], _SETTINGS)
        found = found.join(_personas(path, table, exported))
    return Answers(found.assign(**{question: _coded(found[question]) for question in QUESTIONS}), notes)


def _calls(path: Path) -> pd.DataFrame:
    """A job's exported calls with the columns of an export that has one row an item and respondent."""
    rows = {number: _call_row(path, number, call) for number, call in read_json_lines(path)}
    if not rows:
        raise FileFaultError(path, "it is empty; export the job's calls again.")
    return pd.DataFrame.from_dict(rows, orient="index").astype(str)


def _call_row(path: Path, number: int, call: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("model", "demo_model", "item", "persona", "values"):
        if name not in call:
            raise FileFaultError(path, "the call lacks it; export the job's calls again.", row=number, column=name)
    persona, values = call["persona"], call["values"] or {}
    return {
        "respondent_kind": "model",
        "demo_model": str(call["demo_model"]).lower(),
        "item": call["item"],
        "attr_model": call["model"],
        "attr_persona": str(bool(persona)).lower(),
        **{name: persona.get(name.removeprefix("attr_"), "") for name in _EXPORTED_PERSONA},
        **{f"q_{question}": values.get(question, "") for question in QUESTIONS},
    }


def _one_row_an_occasion(path: Path, answers: pd.DataFrame) -> pd.DataFrame:
    """The n-th answers of a respondent to both questions about an item go together."""
    check_columns(path, answers.columns.tolist(), ["respondent", "item"])
    standing = answers["superseded"] != "true" if "superseded" in answers else True
    asked = answers[answers["question"].isin(QUESTIONS) & standing]
    key = ["respondent", "item", "time"]
    asked = asked.assign(time=asked.groupby(["respondent", "item", "question"]).cumcount())
    values = asked.set_index([*key, "question"])["value"].unstack("question", fill_value="")
    values = values.reindex(columns=list(QUESTIONS), fill_value="").add_prefix("q_")
    return asked.drop_duplicates(key).join(values, on=key)


def _check_columns(path: Path, table: pd.DataFrame, needed: Collection[str]) -> None:
    for name in needed:
        if name.startswith("item_") and name not in table:
            field = name.removeprefix("item_")
            what = f"there is no such column; export the answers again with the item field {field}."
            raise FileFaultError(path, what, row=1, column=name)
    check_columns(path, table.columns.tolist(), needed)


def _personas(path: Path, table: pd.DataFrame, exported: bool) -> pd.DataFrame:
    """Country and demographic group of each persona; empty without one, and where an export's persona has none."""
    if exported:
        country, age, gender = (
            table[name] if name in table else pd.Series("", index=table.index) for name in _EXPORTED_PERSONA
        )
        return pd.DataFrame({"country": country, "demo": (age + "_" + gender).str.strip("_")})
    check_columns(path, table.columns.tolist(), _PERSONA)
    check_filled(path, table[table["persona_setting"] == "persona"], _PERSONA)
    return table[list(_PERSONA)].rename(columns=dict(zip(_PERSONA, ("country", "demo"), strict=True)))


def _relations(path: Path, people: pd.DataFrame, rule: Rule) -> Iterable[str]:
    for row, own, other in people[["country", "scenario_country"]].itertuples():
        try:
            yield country_relation(own, other, rule=rule)
        except UnknownCountryError as error:
            raise FileFaultError(path, str(error), row=row, column="the countries") from error


def _coded(answers: pd.Series) -> pd.Series:
    return answers.str.upper().map(_CODES)


def _notes_on_invalid(path: Path, columns: Mapping[str, pd.Series]) -> list[str]:
    """Raises FileFaultError for a question without any valid answer."""
    notes = []
    for question, answers in columns.items():
        left_out = answers[_coded(answers).isna()]
        if len(left_out) == len(answers):
            what = f"no answer to the {question} question is one of {', '.join(_CODES)}."
            raise FileFaultError(path, what, column=str(answers.name))
        if len(left_out):
            place = f"{path}, row {left_out.index[0]}, column {answers.name}"
            said = f"{left_out.iloc[0]!r} is no answer" if left_out.iloc[0] else "there is no answer"
            notes.append(f"{place}: {said}; {len(left_out)} of {len(answers)} {question} answers are left out so.")
    return notes


def notes_on_bots(path: Path, table: pd.DataFrame) -> list[str]:
    """A sentence on how many rows of an export come from bots or the demo's model; none where none do."""
    bots = sum((table[name] == "true").sum() for name in ("simulated", "demo_model") if name in table)
    if not bots:
        return []
    what = "come from bots or the demo's model and say nothing about people or models"
    return [f"{path}: {bots} of {len(table)} rows {what}."]
