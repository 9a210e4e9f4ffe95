"""What the rooms that collect answers know about one besides: registered, because this room does not import them."""

from typing import Any

from django.db.models import Case, CharField, F, FloatField, JSONField, Q, QuerySet, Subquery, When

from responses.models import Response, SourceKind

ORDINARY = "label"  # the purpose of what is neither training nor a check
# purpose: "label", "training", "gold" or "attention". suggested: a model's values as shown, by question code.
# seconds_in_view: with the item before the person, where the page told. left_out_reason: of work that was left out.
DETAILS = {
    "purpose": CharField,
    "suggested": JSONField,
    "seconds_in_view": FloatField,
    "left_out_reason": CharField,
}
_registered: dict[SourceKind, dict[str, Subquery]] = {}


def register_details(kind: SourceKind, **details: Subquery) -> None:
    """Subqueries by an answer's `source_id` (OuterRef) for some of DETAILS."""
    _registered[kind] = details


def with_details(answers: QuerySet[Response], *names: str) -> QuerySet[Response]:
    """The answers, each with these of DETAILS; None where nobody knows. Each costs a look-up a row."""
    return answers.annotate(**{name: _detail(name, DETAILS[name]()) for name in names})


def ordinary(answers: QuerySet[Response]) -> QuerySet[Response]:
    """Without answers to training items, gold items and attention checks."""
    return with_details(answers, "purpose").filter(Q(purpose=None) | Q(purpose=ORDINARY))


def _detail(name: str, field: Any) -> Case:
    known = {kind: details[name] for kind, details in _registered.items() if name in details}
    return Case(*(When(source_kind=kind, then=detail) for kind, detail in known.items()), output_field=field)


def occasion() -> Case:
    """What keeps answers apart that the same respondent gave about one item: the condition.

    None for assignments, whose questions have a condition each and which nobody gets twice.
    """
    return Case(When(~Q(source_kind=SourceKind.ASSIGNMENT), then=F("condition_id")))
