"""Named reads of answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, Count, FloatField, OuterRef, QuerySet, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce

from materials.models import Instrument, Item
from responses.models import Outcome, Response, SourceKind

COUNT_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """Rows from the newest to the oldest, with the ids from which the neighbouring pages go on."""

    rows: list[Response]
    before: int | None  # of the next, older page
    after: int | None  # of the previous, newer page


def text_of(path: str, name: str) -> Coalesce:
    """A key of a JSON object as text, whatever its type; the empty string without it."""
    return Coalesce(KeyTextTransform(name, path), Value(""), output_field=TextField())


def of_completed_sessions(answers: QuerySet[Response]) -> QuerySet[Response]:
    """Without answers of people who did not finish their session or failed its attention check."""
    outcome = text_of("respondent__attributes", "outcome")
    return answers.alias(outcome=outcome).filter(outcome__in=("", Outcome.COMPLETED))


def same_occasion(question: str) -> QuerySet[Response]:
    """For subqueries on answers: the standing answer to `question` by the same respondent about the same item."""
    same = ("respondent_id", "item_id", "instrument_id", "condition_id", "sample")
    return Response.objects.filter(question=question, superseded_by=None, **{name: OuterRef(name) for name in same})


def keyset_page(answers: QuerySet[Response], *, before: int | None, after: int | None, size: int) -> KeysetPage:
    """A page that costs the same at the start and after a million rows, because it starts at an id."""
    related = answers.select_related("respondent", "item__dataset", "condition")
    if after is not None:
        rows = list(related.filter(pk__gt=after).order_by("pk")[: size + 1])
        newer, older = len(rows) > size, True
        rows = rows[:size][::-1]
    else:
        limited = related if before is None else related.filter(pk__lt=before)
        rows = list(limited.order_by("-pk")[: size + 1])
        newer, older = before is not None, len(rows) > size
        rows = rows[:size]
    return KeysetPage(
        rows,
        before=rows[-1].pk if rows and older else None,
        after=rows[0].pk if rows and newer else None,
    )


def count_up_to(answers: QuerySet[Response], limit: int = COUNT_AT_MOST) -> int:
    """How many there are, or limit + 1 when there are more: counting a million rows would take longer than the page."""
    return answers.order_by()[: limit + 1].count()


def instruments_of(responses: Iterable[Response]) -> dict[int, Instrument]:
    return Instrument.objects.in_bulk({response.instrument_id for response in responses})


class MedianSeconds(Aggregate):
    """The median of a duration, in seconds; None without rows."""

    template = "percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM %(expressions)s)::float8)"
    output_field = FloatField()


def standing_values(source_kind: SourceKind, source_id: int) -> dict[str, Any]:
    """What one assignment, session or call says now, by question code."""
    standing = Response.objects.filter(source_kind=source_kind, source_id=source_id, superseded_by=None)
    return dict(standing.values_list("question", "value"))


def value_counts(item: Item) -> list[dict[str, Any]]:
    """Standing answers about the item, counted by instrument, question, value and who answered."""
    groups = ("respondent__kind", "respondent__simulated", "respondent__demo_model")
    return list(
        Response.objects.filter(item=item, superseded_by=None)
        .values("instrument_id", "question", "value", *groups)
        .annotate(n=Count("pk"))
        .order_by("instrument_id", "question", *groups)
    )
