"""Rows grouped and counted by the database, as frames."""

from collections.abc import Mapping

import pandas as pd
from django.db.models import Count, Expression, F, QuerySet, Value

from evaluation.parameters import ModelParameters
from evaluation.selection import Selection
from llm.models import Call, Job
from llm.querysets import unwritten_calls
from responses.models import Response
from responses.querysets import text_of

# Of an answer. A missing attribute or factor is the empty string.
COLUMNS: Mapping[str, Expression | F] = {
    "question": F("question"),
    "item": F("item__external_id"),
    "version": F("instrument__version"),
    "respondent": F("respondent_id"),
    "kind": F("respondent__kind"),
    "simulated": F("respondent__simulated"),
    "demo_model": F("respondent__demo_model"),
    **{
        name: text_of("respondent__attributes", name)
        for name in ("model", "endpoint", "persona", "outcome", "country", "age_group", "gender")
    },
    **{name: text_of("condition__factors", name) for name in ("prompt", "temperature")},
}


def group(rows: QuerySet, columns: Mapping[str, Expression | F], **aggregates: Expression) -> pd.DataFrame:
    """One row per distinct combination of the columns, in their order, with the aggregates."""
    # The names of a model's fields cannot be given to other expressions, hence the numbers.
    keys = {f"column_{place}": column for place, column in enumerate(columns.values())}
    counted = rows.annotate(**keys).values_list(*keys).annotate(**aggregates).order_by(*keys)
    return pd.DataFrame.from_records(list(counted), columns=[*columns, *aggregates])


def text_column(name: str | None, *, item: str = "item__") -> Expression:
    """What a column of an export holds, as text: `cond_` a factor, `attr_` an attribute of who answered, `item_` a
    field.

    The empty string where there is none, and everywhere for None. `item` is the way to the items.
    """
    if name is None:
        return Value("")
    kind, _, of = name.partition("_")
    places = {"cond": "condition__factors", "attr": "respondent__attributes", "item": f"{item}content"}
    return text_of(places[kind], of)


def columns_named(*names: str) -> dict[str, Expression | F]:
    """Some of COLUMNS."""
    return {name: COLUMNS[name] for name in names}


def calls_without_answer(calls: QuerySet[Call], jobs: QuerySet[Job]) -> pd.DataFrame:
    """Those of the calls that ended without one or have not ended, and what the jobs have yet to write into the ledger.

    Columns `model`, `status` (of `Call.Status`) and `n`.
    """
    without = [status for status in Call.Status.values if status != Call.Status.OK]
    columns: dict[str, Expression | F] = {"model": F("job__endpoint__model"), "status": F("status")}
    found = group(calls.filter(status__in=without), columns, n=Count("pk"))
    unwritten = [(model, Call.Status.PENDING.value, n) for model, n in unwritten_calls(jobs).items()]
    both = pd.concat([found, pd.DataFrame.from_records(unwritten, columns=[*columns, "n"])])
    return both.groupby(["model", "status"], as_index=False).agg({"n": "sum"})


def persons(people: QuerySet[Response], *by: str) -> pd.DataFrame:
    """How many people (`persons`) gave how many answers (`n`), by these of COLUMNS."""
    return group(people, columns_named(*by), persons=Count("respondent", distinct=True), n=Count("pk"))


def asked(selection: Selection[ModelParameters]) -> pd.DataFrame:
    """Each `question` and its `text`, with the names of `instrument` and `dataset`."""
    texts = [(code, selection.question(code).text) for code in selection.questions]
    frame = pd.DataFrame.from_records(texts, columns=["question", "text"])
    return frame.assign(instrument=selection.instruments[0].title, dataset=selection.dataset.name)
