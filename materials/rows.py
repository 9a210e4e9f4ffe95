"""Lists of entries in a form, each entry with fields of its own; what adds, moves and removes one stores nothing.

An entry's fields are posted as `LIST-0-FIELD`, the number of entries as `LIST-count`; an entry may hold such lists too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from pydantic import BaseModel, ValidationError

MOST = 100  # entries of one list
EMPTY: tuple[Any, ...] = (None, "", [], {})
Posted = dict[str, str]


class Row(forms.Form):
    """One entry. `folded` names the fields that are seldom needed."""

    folded: tuple[str, ...] = ()
    can_be_copied = False

    @classmethod
    def values_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        """What the fields hold of an entry."""
        return dict(entry)

    @property
    def entry(self) -> dict[str, Any]:
        """The entry's data, once the row is valid."""
        return {name: value for name, value in self.cleaned_data.items() if value not in EMPTY}

    @property
    def heading(self) -> str:
        raise NotImplementedError

    @property
    def first_fields(self) -> list[BoundField]:
        return [field for field in self.visible_fields() if field.name not in self.folded]

    @property
    def more_fields(self) -> list[BoundField]:
        return [field for field in self.visible_fields() if field.name in self.folded]

    @property
    def has_more(self) -> bool:
        """Whether what is seldom needed is used here, or wrong."""
        return any(
            field.errors or str(field.value() or "") != str(field.field.initial or "") for field in self.more_fields
        )

    def check_entry(self, read: Callable[[Any], Any]) -> None:
        """Put what pydantic finds wrong in the entry at the fields of this name."""
        if self.errors:
            return
        try:
            read(self.entry)
        except ValidationError as error:
            for fault in error.errors():
                name = next((str(part) for part in fault["loc"] if part in self.fields), None)
                self.add_error(name, sentence_of(fault))


class KindRow(Row):
    """An entry of one of the kinds that `models` has, with the fields of its kind; what has its default is left out."""

    models: Mapping[str, type[BaseModel]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        model = self.models.get(str(self["kind"].value()))
        self.held = model.model_fields if model else {}
        of_kinds = {name for model in self.models.values() for name in model.model_fields} - {"kind"}
        for name in [name for name in self.fields if name in of_kinds]:
            if name not in self.held:
                del self.fields[name]
            elif not self.held[name].is_required():
                default = self.held[name].default
                self.fields[name].initial = ", ".join(default) if isinstance(default, tuple) else default

    @property
    def entry(self) -> dict[str, Any]:
        given = {name: value for name, value in super().entry.items() if name in self.held}
        said = {
            name: _plain(value) for name, value in given.items() if _plain(value) != _plain(self.held[name].default)
        }
        return {"kind": self.cleaned_data["kind"]} | said


def _plain(value: Any) -> Any:
    """The value as JSON has it: a whole number without a fraction, a list."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


class RowsWidget(forms.Widget):
    """The rows as they are posted, bound."""

    def __init__(self, row: type[Row]) -> None:
        super().__init__()
        self.row = row

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[Row]:
        return [self.row(data, prefix=f"{name}-{n}") for n in range(count_of(data, name))]

    def id_for_label(self, id_: str, index: str | None = None) -> str:
        return id_


class BoundRows(BoundField):
    @cached_property
    def data(self) -> list[Row]:  # the same rows each time: they get faults after they were read
        rows: list[Row] = super().data
        return rows

    @property
    def rows(self) -> list[Row]:
        if self.form.is_bound:
            return list(self.data)
        row: type[Row] = self.field.widget.row
        return [
            row(initial=row.values_of(entry), prefix=f"{self.html_name}-{n}")
            for n, entry in enumerate(self.initial or [])
        ]

    @property
    def wrong_rows(self) -> bool:
        """Whether rows say themselves what is wrong."""
        return any(row.errors for row in self.rows)


class RowsField(forms.Field):
    """A list of entries; cleaned to their data. `offers` are entries to begin with, by code as (label, entry)."""

    def __init__(
        self, row: type[Row], *, noun: str, offers: Mapping[str, tuple[str, Mapping[str, Any]]], **kwargs: Any
    ) -> None:
        super().__init__(widget=RowsWidget(row), required=False, **kwargs)
        self.row, self.noun, self.offers = row, noun, offers

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> BoundRows:
        return BoundRows(form, self, field_name)

    def clean(self, value: Sequence[Row]) -> list[dict[str, Any]]:
        self.name_faults(value)
        if self.required and not value:
            raise forms.ValidationError(f"Add a {self.noun.lower()}.", code="required")
        return [row.entry for row in value]

    def name_faults(self, rows: Sequence[Row]) -> None:
        """Raise what the rows say is wrong, each with its place."""
        faults = [
            f"{self.noun} {n}, {row[name].label if name in row.fields else row.heading}: {fault}"
            for n, row in enumerate(rows, start=1)
            for name, errors in row.errors.items()
            for fault in errors
        ]
        if faults:
            raise forms.ValidationError(faults)


def sentence_of(fault: Mapping[str, Any]) -> str:
    """What pydantic finds wrong, as a sentence."""
    if fault["type"] == "too_short":
        return f"Give at least {fault['ctx']['min_length']}."
    if fault["type"] == "extra_forbidden":
        return f"There is no setting {fault['loc'][-1]}."
    what: str = fault["msg"].removeprefix("Value error, ")
    first, _, _ = what.partition(" ")
    return f"{what[:1].upper() if first.isalpha() else what[:1]}{what[1:]}."


def count_of(data: Mapping[str, Any], name: str) -> int:
    """How many entries of the list were posted."""
    text = str(data.get(f"{name}-count", ""))
    return min(int(text), MOST) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def posted(form: forms.BaseForm) -> Posted:
    """What a browser would post of the form as it is."""
    values: Posted = {}
    for field in form:
        if isinstance(field, BoundRows):
            values[f"{field.html_name}-count"] = str(len(field.rows))
            for row in field.rows:
                values |= posted(row)
        elif (value := field.value()) is not False and value not in EMPTY:
            values[field.html_name] = "on" if value is True else str(value)
    return values


def with_change(data: Posted, change: str, fields: Mapping[str, forms.Field]) -> tuple[Posted, str]:
    """What was posted, with an entry added, copied, moved or removed, and the place where it is or was.

    `change` is "LIST-add" (of the offer that `LIST-new` names), "LIST-2-copy", "LIST-2-up", "LIST-2-down" or
    "LIST-2-remove"; `fields` are those of the form. One that makes no sense changes nothing.
    """
    place, _, what = change.rpartition("-")
    if what == "add":
        return _with_added(data, place, fields)
    name, _, number = place.rpartition("-")
    order = list(range(count_of(data, name)))
    if number not in map(str, order):
        return data, ""
    at = int(number)
    if what == "copy" and len(order) < MOST:
        return _named_apart(_ordered(data, name, [*order[: at + 1], *order[at:]]), name, at + 1), f"{name}-{at + 1}"
    order.remove(at)
    if what == "remove":
        return _ordered(data, name, order), name
    to = {"up": max(at - 1, 0), "down": at + 1}.get(what, at)
    order.insert(to, at)
    return _ordered(data, name, order), f"{name}-{to}"


def _ordered(data: Posted, name: str, order: Sequence[int]) -> Posted:
    """The entries of the list in this order, without those that it does not name."""
    rest = {key: value for key, value in data.items() if not _is_in(key, name)}
    for new, old in enumerate(order):
        start = f"{name}-{old}-"
        rest |= {f"{name}-{new}-{key.removeprefix(start)}": data[key] for key in data if key.startswith(start)}
    return rest | {f"{name}-count": str(len(order))}


def _is_in(key: str, name: str) -> bool:
    return key.startswith(f"{name}-") and key.removeprefix(f"{name}-").partition("-")[0].isdecimal()


def _with_added(data: Posted, name: str, fields: Mapping[str, forms.Field]) -> tuple[Posted, str]:
    field: Any = None
    for part in [part for part in name.split("-") if not part.isdecimal()]:
        field = fields.get(part)
        fields = field.row.base_fields if isinstance(field, RowsField) else {}
    count = count_of(data, name)
    if not isinstance(field, RowsField) or count >= MOST:
        return data, ""
    offers = field.offers
    _, entry = offers.get(data.get(f"{name}-new", ""), next(iter(offers.values())))
    values = posted(field.row(initial=field.row.values_of(entry), prefix=f"{name}-{count}"))
    return _named_apart(data | values | {f"{name}-count": str(count + 1)}, name, count), f"{name}-{count}"


def _named_apart(data: Posted, name: str, at: int) -> Posted:
    """The list with a code or name of its own for this entry."""
    own = {}
    for part in ("code", "name"):
        key = f"{name}-{at}-{part}"
        taken = {data.get(f"{name}-{n}-{part}") for n in range(count_of(data, name)) if n != at}
        if key in data:
            own[key] = next(code for code in _numbered(data[key]) if code not in taken)
    return data | own


def _numbered(code: str) -> Iterator[str]:
    yield code
    yield from (f"{code}_{n}" for n in range(2, MOST + 2))
