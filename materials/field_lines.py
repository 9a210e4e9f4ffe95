"""Which fields of an item to show, one a line of a form. Pure code."""

from collections.abc import Iterable, Mapping
from typing import Any

MARKDOWN = "(Markdown)"  # at the end of a line whose field holds Markdown
HELP = (
    "One field of the item a line, with its heading after a colon, for example “scenario: Scenario”. "
    "“(Markdown)” at its end shows its texts as Markdown, with code and formulas."
)


def read_field_lines(text: str) -> list[Any]:
    """The fields as designs hold them: a name, or an object where there is more to say of it.

    >>> read_field_lines("scenario: Scenario (Markdown)\\nsetting")
    [{'field': 'scenario', 'label': 'Scenario', 'format': 'markdown'}, 'setting']
    """
    fields: list[Any] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        plain = line.removesuffix(MARKDOWN)
        name, _, label = (part.strip() for part in plain.partition(":"))
        entry = {"label": label} if label else {}
        if plain != line:
            entry["format"] = "markdown"
        fields.append({"field": name, **entry} if entry else name)
    return fields


def write_field_lines(fields: Iterable[str | Mapping[str, str]]) -> str:
    """The lines from which `read_field_lines` reads these fields."""
    return "\n".join(field if isinstance(field, str) else _line(field) for field in fields)


def _line(field: Mapping[str, str]) -> str:
    label = f": {field['label']}" if field.get("label") else ""
    return field["field"] + label + (f" {MARKDOWN}" if field.get("format") == "markdown" else "")
