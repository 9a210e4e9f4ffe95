"""What is shown of an item: its parts, and the pair of texts side by side."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from materials.presentation import SIDES, codes_by_side
from materials.questions import FIRST, SECOND, Questionnaire
from materials.rich_text import render_rich_text

PAGE_LINES, PAIR_LINES, LINE = 24, 12, 60  # lines that a list takes before it folds, with a pair below it; characters
KEPT_LAST = 2  # entries that stay after the fold, however long they are; before it the first one stays
TITLE_LENGTH = 80  # characters of an item's text that stand for it in a list
SPEAKERS, SPOKEN = {"role", "speaker", "from"}, {"content", "text", "value"}  # fields of a turn of a dialogue


class Entry(NamedTuple):
    """One of a list: a text, or a turn of a dialogue with its speaker. `html` is the text as Markdown."""

    text: str
    speaker: str = ""
    html: str = ""

    @property
    def lines(self) -> int:
        """About how many lines it takes on a page."""
        return bool(self.speaker) + sum(1 + len(line) // LINE for line in self.text.splitlines())


class Run(NamedTuple):
    """Entries in a row, the first of them number `start`; `folded` ones are opened by who wants to read them."""

    start: int
    entries: tuple[Entry, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A labelled piece of an item: lines of text, a list, or anything else as code.

    `html` is the text as Markdown; `marked` the name of its field if passages of it are marked.
    """

    label: str
    text: str = ""
    entries: tuple[Entry, ...] = ()
    code: str = ""
    html: str = ""
    marked: str = ""
    room: int = PAGE_LINES  # lines that its list may take before it folds

    @property
    def exact(self) -> SafeString:
        """The text with every character as it is: a browser would read the two of a CR LF as one."""
        return mark_safe(escape(self.text).replace("\r", "&#13;"))

    @property
    def runs(self) -> list[Run]:
        """The entries; of a list too long for its room, those between the first and the last that fit are folded."""
        first, *others = [entry.lines for entry in self.entries]
        if len(others) <= KEPT_LAST or first + sum(others) <= self.room:
            return [Run(1, self.entries)]
        fitting = sum(first + lines <= self.room for lines in accumulate(reversed(others)))
        after = len(self.entries) - max(KEPT_LAST, fitting)
        return [
            Run(1, self.entries[:1]),
            Run(2, self.entries[1:after], folded=True),
            Run(after + 1, self.entries[after:]),
        ]


def item_parts(
    content: Mapping[str, Any], fields: Iterable[Any], *, without: Iterable[str] = (), marked: Iterable[str] = ()
) -> list[Part]:
    """The chosen fields in their order, or all of them; a chosen field that the item lacks is left out.

    An entry of `fields` is a name or {"field", "label", "format"}, where the format "markdown" draws texts as Markdown.
    Fields whose passages are `marked` are shown in any case, as they are. Those of `without` stand below in pairs.
    """
    hidden, to_mark = set(without), list(marked)
    chosen = _chosen(fields) or {name: {} for name in content}
    chosen |= {name: {} for name in to_mark if name not in chosen}
    return [
        _part(
            entry.get("label") or _heading(name),
            content[name],
            rich=entry.get("format") == "markdown" and name not in to_mark,
            marked=name if name in to_mark else "",
            room=PAIR_LINES if hidden else PAGE_LINES,
        )
        for name, entry in chosen.items()
        if name in content and name not in hidden
    ]


def item_title(content: Mapping[str, Any], fields: Iterable[Any]) -> str:
    """The beginning of the longest of the texts that are shown, in one line; "Item" where there is none.

    >>> item_title({"country": "Japan", "story": "A guest brings a gift,\\nwrapped."}, ["country", "story"])
    'A guest brings a gift, wrapped.'
    >>> item_title({"turns": [{"role": "user", "content": "Why? " * 40}, {"role": "model", "content": "So."}]}, [])[:9]
    'Why? Why?'
    """
    texts = [
        part.text or part.code or " ".join(entry.text for entry in part.entries) for part in item_parts(content, fields)
    ]
    words = " ".join(max(texts, key=len, default="").split()) or "Item"
    return words if len(words) <= TITLE_LENGTH else f"{words[:TITLE_LENGTH].rstrip()}…"


def _heading(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _chosen(fields: Iterable[Any]) -> dict[str, dict[str, str]]:
    """How each field is shown, by name, from entries that are names or say more."""
    entries = [{"field": entry} if isinstance(entry, str) else entry for entry in fields]
    return {entry["field"]: entry for entry in entries}


def _part(label: str, value: Any, *, rich: bool = False, marked: str = "", room: int = PAGE_LINES) -> Part:
    if entries := _entries(value, rich):
        return Part(label, entries=entries, room=room)
    if isinstance(value, dict | list):
        return Part(label, code=json.dumps(value, ensure_ascii=False, indent=2))
    text = "" if value is None else str(value)
    return Part(label, text=text, html=render_rich_text(text) if rich else "", marked=marked)


def _entries(value: Any, rich: bool) -> tuple[Entry, ...]:
    """The texts of a list, or the turns of a dialogue; none when the value is neither."""
    found = [_entry(entry) for entry in value] if isinstance(value, list) else []
    if None in found:
        return ()
    entries = [entry for entry in found if entry is not None]
    return tuple(entry._replace(html=render_rich_text(entry.text)) if rich else entry for entry in entries)


def _entry(value: Any) -> Entry | None:
    if isinstance(value, str | int | float):
        return Entry(str(value))
    if not isinstance(value, dict) or len(value) != 2 or not all(isinstance(part, str) for part in value.values()):
        return None
    speaker, spoken = SPEAKERS & set(value), SPOKEN & set(value)
    return Entry(value[spoken.pop()], value[speaker.pop()]) if speaker and spoken else None


def pairs(
    questionnaire: Questionnaire,
    content: Mapping[str, Any],
    orders: Mapping[str, list[str]],
    fields: Iterable[Any] = (),
) -> dict[tuple[str, str], list[Part]]:
    """The two texts of each pair that is compared, by its fields, on the sides on which this annotator sees them.

    `fields` say, as for `item_parts`, which of them are Markdown.
    """
    chosen = _chosen(fields)
    shown: dict[tuple[str, str], list[Part]] = {}
    for question in questionnaire.questions:
        if question.kind != "pairwise":
            continue
        names = {FIRST: question.first_field, SECOND: question.second_field}
        shown.setdefault(
            (question.first_field, question.second_field),
            [
                _part(side, content.get(names[code]), rich=chosen.get(names[code], {}).get("format") == "markdown")
                for side, code in zip(SIDES, codes_by_side(question, orders), strict=True)
            ],
        )
    return shown
