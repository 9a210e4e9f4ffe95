"""Answers counted in one pass of the database, by integers only, and the names of their levels joined here."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection, transaction

from evaluation.behaviour_report.cells import COUNTS, FIRST, Cells, Codes, Column
from evaluation.behaviour_report.parameters import ORDER, BehaviourParameters, Rule
from evaluation.behaviour_report.selecting import Chosen, respondents
from evaluation.counting import text_column
from evaluation.metrics.preference_types import preference_type
from evaluation.parameters import ReportError
from responses.models import Condition, Respondent

MOST_LEVELS = 200

# One answered decision about an item, and how often it was given.
_ANSWERED = np.dtype([("item_and_decision", ">i4"), ("n", ">i4")])
_COUNT = """
WITH items AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM materials_item WHERE dataset_id = %(dataset)s
), conditions AS MATERIALIZED (
    SELECT id, place - 1 AS place FROM unnest(%(conditions)s::bigint[]) WITH ORDINALITY AS listed (id, place)
), respondents AS MATERIALIZED (
    SELECT id, place - 1 AS place FROM unnest(%(respondents)s::bigint[]) WITH ORDINALITY AS listed (id, place)
)
SELECT asked, string_agg(int4send(answered) || int4send(n), ''::bytea) FROM (
    SELECT asked, answered, count(*)::int AS n FROM (
        SELECT ((array_position(%(questions)s::text[], answer.question::text) - 1) * %(n_respondents)s::bigint
            + respondents.place) * %(n_conditions)s + conditions.place AS asked,
            (items.place * 3 + CASE answer.value
                WHEN %(culture)s::jsonb THEN 2 WHEN %(preference)s::jsonb THEN 1 ELSE 0 END)::int AS answered
        FROM responses_response answer
        JOIN items ON items.id = answer.item_id
        JOIN conditions ON conditions.id = answer.condition_id
        JOIN respondents ON respondents.id = answer.respondent_id
        WHERE answer.project_id = %(project)s AND answer.superseded_by_id IS NULL
            AND answer.instrument_id = ANY(%(instruments)s) AND answer.question = ANY(%(questions)s)
    ) coded GROUP BY asked, answered
) counted GROUP BY asked
"""


def read_cells(selection: Chosen) -> Cells:
    """The answers as cells, with the columns that the parameters name. Raises ReportError for a level there is not."""
    parameters = selection.parameters
    conditions, models = list(selection.project.conditions.order_by("pk")), list(respondents(selection))
    owners, counts = _counted_in_sql(selection, models, conditions)
    factors = [condition.factors for condition in conditions]
    columns = {
        "question": Column("question", np.arange(len(parameters.questions), dtype=np.int32), parameters.questions),
        FIRST: _culture_first(parameters, factors, owners),
        **_item_columns(selection),
    }
    for name in parameters.columns:
        kind, _, key = name.partition("_")
        if kind == "cond":
            columns[name] = _column("condition", (_text(values, key) for values in factors))
        elif kind == "attr":
            columns[name] = _column("respondent", (_text(model.attributes, key) for model in models))
    _check_levels(columns, parameters)
    return Cells(owners, counts, columns)


def _counted_in_sql(
    selection: Chosen, models: Sequence[Respondent], conditions: Sequence[Condition]
) -> tuple[dict[str, Codes], dict[str, Codes]]:
    """For each cell the places of its owners, and its counts."""
    parameters, n_respondents, n_conditions = selection.parameters, len(models), len(conditions)
    asked = {
        "project": selection.project.pk,
        "dataset": selection.dataset.pk,
        "instruments": [instrument.pk for instrument in selection.instruments],
        "respondents": [model.pk for model in models],
        "conditions": [condition.pk for condition in conditions],
        "questions": list(parameters.questions),
        "culture": json.dumps(parameters.culture),
        "preference": json.dumps(parameters.preference),
        "n_respondents": n_respondents,
        "n_conditions": n_conditions,
    }
    blocks = []
    with transaction.atomic(), connection.cursor() as cursor:
        # To sort takes a third of the time of hashing, and the planner cannot know how many combinations there are.
        for setting in ("enable_hashagg = off", "jit = off", "work_mem = '64MB'"):
            cursor.execute(f"SET LOCAL {setting}")
        with cursor.copy(f"COPY ({_COUNT}) TO STDOUT (FORMAT binary)", asked) as copy:
            copy.set_types(["int8", "bytea"])
            for place, answered in copy.rows():
                items, counts = _cells_of(answered)
                respondent, condition = divmod(place, n_conditions)
                question, respondent = divmod(respondent, n_respondents)
                blocks.append(((question, respondent, condition), items, counts))
    lengths = [len(items) for _, items, _ in blocks]
    places = np.array([place for place, _, _ in blocks], dtype=np.int32).reshape(-1, 3)
    owners = {
        owner: np.repeat(places[:, number], lengths)
        for number, owner in enumerate(("question", "respondent", "condition"))
    }
    owners["item"] = _joined([items for _, items, _ in blocks])
    return owners, {name: _joined([counts[name] for _, _, counts in blocks]) for name in COUNTS}


def _cells_of(answered: bytes) -> tuple[Codes, dict[str, Codes]]:
    """The items of one question, respondent and condition, in order, and the counts of each."""
    rows = np.frombuffer(answered, dtype=_ANSWERED)
    items, decision = np.divmod(rows["item_and_decision"].astype(np.int32), np.int32(3))
    order = np.argsort(items, kind="stable")
    items, decision, n = items[order], decision[order], rows["n"].astype(np.int32)[order]
    first = np.flatnonzero(np.diff(items, prepend=-1))
    counts = {name: np.add.reduceat(np.where(decision >= least, n, 0), first) for least, name in enumerate(COUNTS)}
    return items[first], counts


def _joined(parts: Sequence[Codes]) -> Codes:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)


def _item_columns(selection: Chosen) -> dict[str, Column]:
    """The items' fields that are named, and the items themselves, in one pass over the items."""
    parameters = selection.parameters
    names = [name for name in parameters.columns if name.startswith("item_")]
    texts = {f"text_{place}": text_column(name, item="") for place, name in enumerate(names)}
    rows = selection.dataset.items.order_by("pk").annotate(**texts).values_list("pk", *texts)
    coders, n_items = [_Coder() for _ in names], 0
    for _, *values in rows.iterator(chunk_size=10_000):
        n_items += 1
        for coder, text in zip(coders, values, strict=True):
            coder.add(text)
    columns = {name: coder.column("item") for name, coder in zip(names, coders, strict=True)}
    if parameters.preferences and parameters.rules:
        columns[parameters.preferences] = _by_rule(columns[parameters.preferences], parameters.rules)
    return {**columns, "item": Column("item", np.arange(n_items, dtype=np.int32), range(n_items))}


class _Coder:
    """Numbers for texts, one text at a time, so that equal ones are held once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._codes = array("i")

    def add(self, text: str) -> None:
        self._codes.append(self._places.setdefault(text, len(self._places)))

    def column(self, owner: str) -> Column:
        """The texts as codes of their sorted labels."""
        labels = sorted(self._places)
        ranks = np.empty(len(labels), dtype=np.int32)
        ranks[[self._places[label] for label in labels]] = np.arange(len(labels), dtype=np.int32)
        return Column(owner, ranks[np.array(self._codes, dtype=np.int32)], labels)


def _column(owner: str, texts: Iterable[str]) -> Column:
    coder = _Coder()
    for text in texts:
        coder.add(text)
    return coder.column(owner)


def _text(values: Mapping[str, Any], name: str) -> str:
    """What the database makes of a JSON value as text; the empty string without it."""
    value = values.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _by_rule(texts: Column, rules: Iterable[Rule]) -> Column:
    """The kind of preference that each text speaks of."""
    keywords = {rule.name: rule.keywords for rule in rules}
    kinds = _column("item", (preference_type(text, keywords) for text in texts.labels))
    return Column("item", kinds.codes[texts.codes], kinds.labels)


def _culture_first(
    parameters: BehaviourParameters, conditions: Iterable[Mapping[str, Any]], owners: Mapping[str, Codes]
) -> Column:
    """For each cell whether culture was shown before the preference: "true", "false", or "" where nobody knows."""
    orders = [_text(factors, ORDER.removeprefix("cond_")) for factors in conditions]
    shown = [_first_of(order, question, parameters) for question in parameters.questions for order in orders]
    by_place = _column("cell", shown)
    places = owners["question"].astype(np.int64) * len(orders) + owners["condition"]
    return Column("cell", by_place.codes[places], by_place.labels)


def _first_of(order: str, question: str, parameters: BehaviourParameters) -> str:
    """From an order of options as `materials.questions.order_factor` writes it, for all questions or for each."""
    of_questions = dict(part.split(": ", 1) for part in order.split("; ") if ": " in part)
    options = (of_questions.get(question, "") if of_questions else order).split("|")
    if parameters.culture not in options or parameters.preference not in options:
        return ""
    return json.dumps(options.index(parameters.culture) < options.index(parameters.preference))


def _check_levels(columns: Mapping[str, Column], parameters: BehaviourParameters) -> None:
    for name in parameters.explaining:
        if (n := len(columns[name].labels)) > MOST_LEVELS:
            raise ReportError(
                f"{name} has {n:,} different values; compare columns with at most {MOST_LEVELS}, or give rules that "
                "make kinds of texts."
            )
    named = [(factor.name, factor.baseline) for factor in parameters.factors if factor.baseline]
    named += [(contrast.name, level) for contrast in parameters.contrasts for level in (contrast.plus, contrast.minus)]
    for name, level in named:
        if level not in columns[name].labels:
            raise ReportError(f"{name} is nowhere {level}; it is {', '.join(columns[name].labels)}.")
