"""Judgments counted in SQL: what arrives grows with pairs, conditions and samples.

Preferences that vote are counted together.
"""

import pandas as pd
from django.db.models import Count, Expression, F, Func, JSONField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from evaluation.answers import of_models
from evaluation.counting import columns_named, group, text_column
from evaluation.judging_report.judgments import COUNTS, FIRST, NOBODY, SECOND, STRANGER, TIE
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.selection import Selection
from llm.models import Call
from responses.querysets import text_of

_UNREAD = (Call.Status.UNPARSED, Call.Status.TRUNCATED, Call.Status.REFUSED)
_UNIT = ["version", "respondent", "factors"]
ORDER = text_of("condition__factors", "option_order")


def count_judgments(selection: Selection[JudgingParameters], names: dict[str, str]) -> pd.DataFrame:
    """A row for each pair, judge, person named, unit, sample and response in front, with what was chosen how often.

    `names` are people by the keys of their respondents.
    """
    parameters = selection.parameters
    voting = [column.removeprefix("cond_") for column in (parameters.preferences,) if column]
    columns = columns_named("item", "model", "endpoint", "demo_model", "prompt", "temperature") | {
        "order": ORDER,
        "named": text_column(parameters.person),
        "respondent": Cast("respondent__attributes", TextField()),
        "factors": _without("condition__factors", "option_order", *voting),
        "sample": F("sample"),
    }
    chose = {f"n_{value}": Count("pk", filter=Q(value=value)) for value in (FIRST, SECOND, TIE)}
    version = {"version": F("instrument__version")}
    answered = group(of_models(selection), columns | version, **chose)
    unread = group(_unread(selection), columns | {"version": F("job__instrument__version")}, n_unread=Count("pk"))
    rows = pd.concat([answered, unread], ignore_index=True)
    rows[COUNTS] = rows.reindex(columns=COUNTS).fillna(0).astype("int64")
    named = rows.pop("named")
    people = by_name(names)
    rows = rows.assign(
        shown=shown(rows.pop("order"), parameters.question),
        person=[people.get(name, STRANGER) if name else NOBODY for name in named],
        unit=rows.groupby(_UNIT).ngroup(),
    ).drop(columns=_UNIT)
    keys = [name for name in rows.columns if name not in COUNTS]
    return rows.groupby(keys)[COUNTS].sum().reset_index()


def _unread(selection: Selection[JudgingParameters]) -> QuerySet[Call]:
    """Calls that asked the question and whose reply names no answer."""
    code, parameters = selection.parameters.question, selection.parameters
    calls = Call.objects.filter(
        Q(job__question_codes=[]) | Q(job__question_codes__contains=code),
        job__project=selection.project,
        job__dataset=selection.dataset,
        job__instrument__in=selection.instruments,
        status__in=_UNREAD,
    )
    return calls.filter(respondent__attributes__model__in=parameters.models) if parameters.models else calls


def by_name(names: dict[str, str]) -> dict[str, str]:
    """People by what names them: the key of the respondent, or what stands behind the colon in it."""
    return {key.partition(":")[2]: name for key, name in names.items()} | names


def shown(orders: pd.Series, question: str) -> pd.Series:
    return orders.map(lambda order: shown_first(order, question))


def shown_first(order: str, question: str) -> str:
    """Which response stood in front, by the order of options as `materials.questions.order_factor` writes it.

    Without an order the first one did, as the question has it.

    >>> shown_first("second|first", "better"), shown_first("better: first|second; norm: b|a", "better")
    ('second', 'first')
    """
    orders = dict(part.split(": ", 1) for part in order.split("; ")) if ": " in order else {question: order}
    return orders.get(question, "").split("|")[0] or FIRST


def _without(path: str, *names: str) -> Expression:
    """A JSON object without some of its keys, as text."""
    found: Expression | F = F(path)
    for name in names:
        key = Cast(Value(name), TextField())
        found = Func(found, key, template="(%(expressions)s)", arg_joiner=" - ", output_field=JSONField())
    return Cast(found, TextField())
