"""Source rows of the protocol: NormAd-ETI and CultureAtlas files as their authors publish them, and a plain table.

Each row becomes a record with the keys FIELDS, all texts. `story` and `norm` are the story and the rule of thumb, or
the assertion and its positive statement; `negative` and `label` are empty where the source has none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from protocols.pact.countries import UnknownCountryError, find

SourceName = Literal["normad", "cultureatlas", "plain"]
FIELDS = ("source", "source_id", "country", "setting", "story", "norm", "negative", "label", "explanation")
LABELS = ("yes", "no", "neutral")
UNKNOWN_COUNTRY = "of a country that is not in the table"
NO_TEXT = "without a story, or without a norm"
OTHER_LABEL = "with another label than yes, no or neutral"
NOT_TRUE = "false statements, kept beside the true one they vary"
LONE = "false statements without a true one"

Columns = Mapping[str, tuple[str, ...]]
# For each field the names a column may have, without regard to case, spaces, hyphens and underscores.
NORMAD: Columns = {
    "source_id": ("id",),
    "country": ("country",),
    "setting": ("subaxis", "axis"),
    "story": ("story",),
    "norm": ("ruleofthumb",),
    "label": ("goldlabel", "label"),
    "explanation": ("explanation",),
}
# The benchmark file has numbers for names: country, topics, url, topic of the sentence, its context, the sentence, the
# sentence on its own, the statement that is judged, and whether it is true.
ATLAS_NUMBERED: Columns = {
    "country": ("0",),
    "setting": ("5", "1"),
    "story": ("7",),
    "norm": ("9",),
    "own": ("8",),
    "label": ("10",),
}
ATLAS_NAMED: Columns = {
    "source_id": ("id", "index"),
    "country": ("country", "culture"),
    "setting": ("topic", "setting"),
    "story": ("assertion", "sentence"),
    "norm": ("positive", "positivesample", "positivestatement"),
    "negative": ("negative", "negativesample", "negativestatement"),
}
PLAIN: Columns = {
    "source_id": ("id", "externalid"),
    "country": ("country", "receivercountry"),
    "setting": ("setting", "domain"),
    "story": ("story", "situation", "assertion"),
    "norm": ("norm", "ruleofthumb", "expectation", "culturalexpectation"),
    "negative": ("negative",),
    "label": ("label",),
    "explanation": ("explanation",),
}
NEEDED = ("country", "story", "norm")


class SourceRowsError(ValueError):
    """A file that is none of the protocol's; the text says which columns it lacks."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a file with the number it has there, and why it cannot be used; "" when it can."""

    row: int
    content: dict[str, str]
    why: str = ""

    @property
    def key(self) -> str:
        """Unique among the rows of the project's source files."""
        return f"{self.content['source']}-{self.content['source_id'] or self.row}"


def source_rows(name: SourceName, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[SourceRow]:
    """Each row of the file as a source row. Raises SourceRowsError when columns are missing."""
    return READERS[name](rows)


def _normad(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[SourceRow]:
    for number, cells in _mapped(rows, [NORMAD], "a NormAd-ETI file"):
        label = cells["label"].lower()
        yield _checked(number, "normad", cells | {"label": label}, "" if label in LABELS else OTHER_LABEL)


def _plain(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[SourceRow]:
    for number, cells in _mapped(rows, [PLAIN], "a table of source rows"):
        label = cells["label"].lower()
        yield _checked(number, "plain", cells | {"label": label}, "" if label in ("", *LABELS) else OTHER_LABEL)


def _atlas(rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[SourceRow]:
    """False statements of the numbered file go to the true statement about the same sentence."""
    found = list(_mapped(rows, [ATLAS_NUMBERED, ATLAS_NAMED], "a CultureAtlas file"))
    negatives: dict[tuple[str, str], str] = {}
    true: set[tuple[str, str]] = set()
    for _, cells in found:
        if cells["label"].lower() == "false":
            negatives.setdefault((cells["country"], cells["story"]), cells["norm"])
        else:
            true.add((cells["country"], cells["story"]))
    for number, cells in found:
        sentence = (cells["country"], cells["story"])
        content = {field: cells[field] for field in cells if field != "own"} | {"label": ""}
        if cells["label"].lower() == "false":
            yield _checked(number, "cultureatlas", content, NOT_TRUE if sentence in true else LONE)
        else:
            negative = content["negative"] or negatives.get(sentence, "")
            yield _checked(number, "cultureatlas", content | {"negative": negative})


READERS: Mapping[str, Callable[[Iterable[tuple[int, Mapping[str, Any]]]], Iterator[SourceRow]]] = {
    "normad": _normad,
    "cultureatlas": _atlas,
    "plain": _plain,
}


def _checked(number: int, source: str, cells: Mapping[str, str], why: str = "") -> SourceRow:
    content = {field: cells.get(field, "") for field in FIELDS} | {"source": source}
    try:
        content["country"] = find(content["country"]).name
    except UnknownCountryError:
        why = why or UNKNOWN_COUNTRY
    if not content["story"] or not content["norm"]:
        why = why or NO_TEXT
    return SourceRow(number, content, why)


def _mapped(
    rows: Iterable[tuple[int, Mapping[str, Any]]], layouts: Sequence[Columns], what: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows under the names of fields, by the first layout whose needed columns are all there."""
    names: dict[str, str] = {}
    for number, cells in rows:
        if not names:
            names = _layout(list(cells), layouts, what)
        fields = {field for layout in layouts for field in layout} | set(FIELDS)
        yield number, {field: _text(cells.get(names[field])) if field in names else "" for field in fields}


def _layout(columns: Sequence[str], layouts: Sequence[Columns], what: str) -> dict[str, str]:
    there = {_plain_name(column): column for column in reversed(columns)}
    for layout in layouts:
        found = {
            field: next(there[name] for name in options if name in there)
            for field, options in layout.items()
            if any(name in there for name in options)
        }
        if all(field in found for field in NEEDED):
            return found
    needed = ", ".join(f"{field} ({' or '.join(layouts[-1][field])})" for field in NEEDED)
    raise SourceRowsError(f"This is not {what}: it needs columns for {needed}; it has {', '.join(columns)}.")


def _plain_name(column: str) -> str:
    return "".join(sign for sign in column.lower() if sign.isalnum())


def _text(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
