"""Labels and judgments counted in SQL, the only way in which they reach a report on judges.

What arrives grows with pairs, conditions and samples: preferences that vote are counted together.
"""

import pandas as pd
from django.db.models import Count, Expression, F, Func, JSONField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from evaluation.answers import of_models, of_people
from evaluation.counting import asked, columns_named, group, persons, text_column
from evaluation.judging_report.judgments import FIRST, NOBODY, SECOND, STRANGER, TIE
from evaluation.judging_report.parameters import JudgingParameters
from evaluation.judging_report.selecting import select_judging
from evaluation.selection import Selection
from llm.models import Call
from materials.models import Item
from projects.models import Project
from responses.models import Response
from responses.querysets import text_of

_UNREAD = (Call.Status.UNPARSED, Call.Status.TRUNCATED, Call.Status.REFUSED)
_COUNTS = ["n_first", "n_second", "n_tie", "n_unread"]
_UNIT = ["version", "respondent", "factors"]


def read_frames(project: Project, parameters: JudgingParameters) -> dict[str, pd.DataFrame]:
    """The frames of `evaluation.judging_report.judgments.Judging`, by name.

    Six queries, each grouped by the database.
    """
    selection = select_judging(project, parameters)
    people = of_people(selection)
    labels, names = _numbered(_labels(people, parameters.question))
    return {
        "asked": asked(selection),
        "items": _items(selection),
        "labels": labels,
        "persons": persons(people, "kind", "simulated"),
        "judgments": _judgments(selection, names),
    }


def _items(selection: Selection[JudgingParameters]) -> pd.DataFrame:
    parameters = selection.parameters
    fields = {name: getattr(parameters, name) for name in ("topic", "first_author", "second_author")}
    texts = {f"{name}_": text_column(field, item="") for name, field in fields.items()}
    rows = Item.objects.filter(dataset=selection.dataset).annotate(**texts).values_list("external_id", *texts)
    return pd.DataFrame.from_records(list(rows), columns=["item", *fields]).reset_index(names="place")


def _labels(people: QuerySet[Response], question: str) -> pd.DataFrame:
    columns = columns_named("item", "simulated") | {"key": F("respondent__key"), "order": _ORDER, "value": F("value")}
    labels = group(people, columns, n=Count("pk"))
    return labels.assign(shown=_shown(labels.pop("order"), question))


def _numbered(labels: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """The labels with people numbered by their answers in place of keys, and their names by key: the same in any
    database with these answers."""
    given = {key: rows.drop(columns="key").to_numpy().tolist() for key, rows in labels.groupby("key")}
    names = {str(key): f"Person {n}" for n, key in enumerate(sorted(given, key=given.__getitem__), start=1)}
    keys = labels.pop("key")
    numbered = labels.assign(person=keys.map(names)).sort_values(["item", "person", "shown", "value"])
    return numbered.reset_index(drop=True), names


def _judgments(selection: Selection[JudgingParameters], names: dict[str, str]) -> pd.DataFrame:
    """A row for each pair, judge, person named, unit, sample and response in front, with what was chosen how often."""
    parameters = selection.parameters
    voting = [column.removeprefix("cond_") for column in (parameters.preferences,) if column]
    columns = columns_named("item", "model", "endpoint", "demo_model", "prompt", "temperature") | {
        "order": _ORDER,
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
    rows[_COUNTS] = rows.reindex(columns=_COUNTS).fillna(0).astype("int64")
    named = rows.pop("named")
    people = _by_name(names)
    rows = rows.assign(
        shown=_shown(rows.pop("order"), parameters.question),
        person=[people.get(name, STRANGER) if name else NOBODY for name in named],
        unit=rows.groupby(_UNIT).ngroup(),
    ).drop(columns=_UNIT)
    keys = [name for name in rows.columns if name not in _COUNTS]
    return rows.groupby(keys)[_COUNTS].sum().reset_index()


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


def _by_name(names: dict[str, str]) -> dict[str, str]:
    """People by what names them: the key of the respondent, or what stands behind the colon in it."""
    return {key.partition(":")[2]: name for key, name in names.items()} | names


def _shown(orders: pd.Series, question: str) -> pd.Series:
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


_ORDER = text_of("condition__factors", "option_order")
