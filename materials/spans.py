"""Passages of a text, by Unicode code points: found by what they say, and written as lines that a person can edit.

A line is `label: quoted text`, or `label 12-25: quoted text` where the quote alone would fit several places. The quote
may have other white space than the text, so that a passage of several lines fits into one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_PLACE = re.compile(r"\s+(\d{1,9})-(\d{1,9})\s*(?::|$)")


def find_quote(text: str, quote: str) -> tuple[int, int]:
    """Where the one place of the quote in the text begins and ends.

    Raises ValueError with a sentence when it stands there more than once, or not at all.

    >>> find_quote("tea, then more tea", "more tea")
    (10, 18)
    """
    first = text.find(quote) if quote else -1
    if first < 0:
        raise ValueError(f"the text does not hold {quote[:80]!r} as written.")
    if text.find(quote, first + 1) >= 0:
        raise ValueError(f"the text holds {quote[:80]!r} more than once; quote more of it.")
    return first, first + len(quote)


def read_spans(typed: str, text: str, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The passages that lines name; `names` gives the code for everything a label may be called.

    Raises ValueError with a sentence that names the line.
    """
    spans = []
    for number, line in enumerate(typed.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            spans.append(_read_line(line.strip(), text, names))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return spans


def _read_line(line: str, text: str, names: Mapping[str, str]) -> dict[str, Any]:
    for name in sorted(names, key=len, reverse=True):
        rest = line[len(name) :]
        if not line.casefold().startswith(name.casefold()):
            continue
        if place := _PLACE.match(rest):
            start, end = int(place[1]), int(place[2])
            quote = rest[place.end() :].strip()
            if quote and _on_one_line(text[start:end]) != _on_one_line(quote):
                raise ValueError(f"{quote[:80]!r} does not stand at {start}-{end}; leave the numbers out.")
            return {"start": start, "end": end, "label": names[name]}
        if rest.lstrip().startswith(":"):
            start, end = find_quote(text, rest.lstrip()[1:].strip())
            return {"start": start, "end": end, "label": names[name]}
    raise ValueError(f"begin it with one of {', '.join(sorted(set(names.values())))} and a colon.")


def write_spans(spans: Iterable[Mapping[str, Any]], text: str) -> str:
    """The lines from which `read_spans` makes these passages."""
    return "\n".join(
        f"{span['label']} {span['start']}-{span['end']}: {_on_one_line(text[span['start'] : span['end']])}"
        for span in spans
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def check_spans(spans: Sequence[Any], text: str, labels: Sequence[str], *, overlap: bool) -> list[dict[str, Any]]:
    """The passages in the order of the text, each once. Raises ValueError with a sentence for the first wrong one."""
    found = sorted({_check_span(span, len(text), labels) for span in spans})
    furthest = 0
    for start, end, _ in found:
        if start < furthest and not overlap:
            raise ValueError(f"{text[start:end][:80]!r} overlaps with another passage.")
        furthest = max(furthest, end)
    return [{"start": start, "end": end, "label": label} for start, end, label in found]


def _check_span(span: Any, length: int, labels: Sequence[str]) -> tuple[int, int, str]:
    if not isinstance(span, dict) or set(span) != {"start", "end", "label"}:
        raise ValueError("a passage has a start, an end and a label.")
    start, end, label = span["start"], span["end"], span["label"]
    if not isinstance(label, str) or label not in labels:
        raise ValueError(f"{str(label)[:80]!r} is not a label; use one of {', '.join(labels)}.")
    if type(start) is not int or type(end) is not int:
        raise ValueError("start and end of a passage are whole numbers.")
    if not 0 <= start < end <= length:
        raise ValueError(f"the passage {start}-{end} is not inside the text, which has {length} characters.")
    return start, end, label
