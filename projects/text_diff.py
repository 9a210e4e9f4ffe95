"""What differs between two versions of a text: line by line, with the words that changed marked within a line.

Pure code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

CONTEXT = 3  # unchanged lines shown around a change
LEAST_SKIPPED = 3  # fewer are shown
# Beyond these difflib takes too long for a page: all lines of the part, or all words of the line, count as changed.
MAX_LINE_PAIRS = 1_000_000
MAX_WORD_PAIRS = 250_000
ALIKE = 0.4  # the share of words that two lines must have in common for the others to be worth marking
Block = tuple[str, int, int, int, int]  # difflib's opcode
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Span:
    text: str
    changed: bool = False


@dataclass(frozen=True)
class Line:
    """A line with its number before and after (None where it is not), or `skipped` unchanged lines in one."""

    sign: Literal["-", "+", " "]
    before: int | None = None
    after: int | None = None
    spans: tuple[Span, ...] = ()
    skipped: int = 0

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


def text_diff(before: str, after: str) -> list[Line]:
    """The lines of both texts, removed ones before added ones, unchanged ones far from a change as one entry.

    Empty when the texts are equal.

    >>> [(line.sign, line.text) for line in text_diff("one\\ntwo", "one\\nthree")]
    [(' ', 'one'), ('-', 'two'), ('+', 'three')]
    """
    if before == after:
        return []
    old, new = (text.split("\n") if text else [] for text in (before, after))
    return list(_folded([line for block in _blocks(old, new, MAX_LINE_PAIRS) for line in _lines(old, new, block)]))


def _blocks(old: Sequence[str], new: Sequence[str], most: int) -> list[Block]:
    """difflib's opcodes; everything between what both begin and end with as one replacement when it is too much."""
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    room = min(len(old), len(new)) - start
    pairs = zip(reversed(old), reversed(new), strict=False)
    end = next((n for n, (a, b) in enumerate(pairs) if a != b or n == room), room)
    i, j = len(old) - end, len(new) - end
    if (i - start) * (j - start) > most:
        middle = [("replace", start, i, start, j)]
    else:
        found = SequenceMatcher(None, old[start:i], new[start:j], autojunk=False).get_opcodes()
        middle = [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in found]
    edges = [("equal", 0, start, 0, start)], [("equal", i, len(old), j, len(new))]
    return [block for block in [*edges[0], *middle, *edges[1]] if block[1] < block[2] or block[3] < block[4]]


def _lines(old: Sequence[str], new: Sequence[str], block: Block) -> Iterator[Line]:
    tag, i, j, k, m = block
    if tag == "equal":
        for offset, text in enumerate(old[i:j]):
            yield Line(" ", i + offset + 1, k + offset + 1, (Span(text),))
        return
    marked = [_words(a, b) for a, b in zip_longest(old[i:j], new[k:m])]
    for offset, (spans, _) in enumerate(marked[: j - i]):
        yield Line("-", before=i + offset + 1, spans=spans)
    for offset, (_, spans) in enumerate(marked[: m - k]):
        yield Line("+", after=k + offset + 1, spans=spans)


def _words(before: str | None, after: str | None) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both lines with the words that the other one lacks; nothing is marked where they have little in common."""
    whole = tuple(() if line is None else (Span(line),) for line in (before, after))
    if before is None or after is None:
        return whole[0], whole[1]
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if not old or not new or len(old) * len(new) > MAX_WORD_PAIRS:
        return whole[0], whole[1]
    blocks = _blocks(old, new, MAX_WORD_PAIRS)
    common = sum(len("".join(old[i:j])) for tag, i, j, _, _ in blocks if tag == "equal")
    if common < ALIKE * max(len(before), len(after)):
        return whole[0], whole[1]
    return (
        tuple(Span("".join(old[i:j]), tag != "equal") for tag, i, j, _, _ in blocks if i < j),
        tuple(Span("".join(new[k:m]), tag != "equal") for tag, _, _, k, m in blocks if k < m),
    )


def _folded(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, with runs of unchanged ones that are further than CONTEXT from a change as one."""
    changed = [n for n, line in enumerate(lines) if line.sign != " "]
    near = {n for place in changed for n in range(place - CONTEXT, place + CONTEXT + 1)}
    for is_near, run in groupby(enumerate(lines), key=lambda pair: pair[0] in near):
        found = [line for _, line in run]
        if is_near or len(found) < LEAST_SKIPPED:
            yield from found
        else:
            yield Line(" ", skipped=len(found))
