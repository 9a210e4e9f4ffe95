"""Whether the items of a dataset have what the questions of an instrument show of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Func, TextField, Value
from django.db.models.functions import Coalesce

from materials.content import id_fields
from materials.models import Dataset, Item
from materials.questions import text_fields

ITEMS_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first item that lacks the field."""

    item: Item
    field: str

    def __str__(self) -> str:
        return f"Item {self.item} has no field {self.field}"


def field_names(dataset: Dataset) -> list[str]:
    """The fields that any item has: in the order of their source as far as it is known, then by name."""
    keys = Func(F("content"), function="jsonb_object_keys", output_field=TextField())
    found = set(dataset.items.order_by().annotate(field=keys).values_list("field", flat=True).distinct())
    known = [field for field in dataset.field_order if field in found]
    return known + sorted(found.difference(known))


def shown_fields(dataset: Dataset) -> list[str]:
    """What to show of items where nobody chose: the fields in the order of their source, without those that only repeat
    the items' ids; [] for a dataset whose order is not known."""
    first = dataset.items.order_by("position", "pk").values_list("external_id", "content")[:ITEMS_LOOKED_AT]
    hidden = id_fields(list(first)) if dataset.field_order else set()
    return [field for field in dataset.field_order if field not in hidden]


def missing_fields(
    dataset: Dataset, questions: Iterable[Any], fields: Iterable[str] = (), *, most_items: int | None = None
) -> Iterator[Misfit]:
    """The first item without it, for each field that some of the first `most_items` items lack.

    Fields from which the questions take texts must not be blank either; `fields` are other ones that items need, which
    may be blank. One query a field.
    """
    items = dataset.items.all()
    if most_items:
        items = dataset.items.filter(pk__in=items.values("pk")[:most_items])
    texts = text_fields(questions)
    for field in dict.fromkeys([*texts, *fields]):
        lacking = items.exclude(content__has_key=field)
        if field in texts:
            # Not a key lookup: Django takes a field named "0" for the position in a list.
            value = Func(F("content"), Value(field), function="jsonb_extract_path_text", output_field=TextField())
            lacking = items.annotate(text=Coalesce(value, Value(""), output_field=TextField())).exclude(
                text__regex=r"\S"
            )
        if item := lacking.order_by("position", "pk").first():
            yield Misfit(item, field)
