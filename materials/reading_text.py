"""Rows out of CSV, JSON lines and a JSON array, one at a time and whatever the encoding."""

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Any

from materials.reading_faults import DECODER, Fault, load_json
from materials.reading_plan import Source

MAX_LINE_BYTES = 64 << 20
MAX_CELL_CHARACTERS = 16 << 20
CHUNK_CHARACTERS = 1 << 18
SPACE = re.compile(r"[ \t\r\n]*")

Row = tuple[int, Mapping[str, Any]]


def csv_cells(file: IO[bytes], source: Source, faults: list[Fault]) -> Iterator[tuple[int, list[str]] | Fault]:
    """Each row that is not blank, with its number. Bytes that are no text of the encoding go to `faults`."""
    lines = _lines(file, source.encoding, faults)
    first = next(lines, "")
    if not first.strip():
        if rest := next((line for line in lines if line.strip()), ""):
            yield Fault(1, "", f"the first row is blank; remove it. The next is {rest[:40]!r}.")
        return
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    reader = csv.reader(chain([first], lines), delimiter=source.delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            if cells:
                yield number, cells
    except csv.Error as error:
        what = f"this is not valid CSV ({error}; line {reader.line_num}); the rest was not read. "
        yield Fault(number + 1, "", f"{what}A quote within a quoted cell is written twice.")


def json_line_rows(file: IO[bytes], source: Source, faults: list[Fault]) -> Iterator[Row | Fault]:
    for number, line in enumerate(_lines(file, source.encoding, faults), start=1):
        if not line.strip():
            continue
        try:
            content = load_json(line.rstrip("\r\n"))
        except ValueError as error:
            yield Fault(number, "", str(error))
        else:
            yield (number, content) if isinstance(content, dict) else Fault(number, "", "a line must be a JSON object.")


def json_array_rows(file: IO[bytes], source: Source) -> Iterator[Row | Fault]:
    """Each object of the list with its place from 1. What cannot be read ends the reading."""
    text = _Text(_chunks(file, source.encoding))
    number = 0
    try:
        if text.take() != "[":
            yield Fault(0, "", "the file must be a list of objects, [{...}, {...}], or have an object in each line.")
            return
        after = text.take() if text.peek() == "]" else ","
        while after != "]":
            number += 1
            content = text.value()
            yield (number, content) if isinstance(content, dict) else Fault(number, "", "this must be a JSON object.")
            after = text.take()
            if after not in {",", "]"}:
                yield Fault(number, "", "a comma or ] must follow; the rest was not read.")
                return
        if rest := text.peek():
            yield Fault(0, "", f"after the list comes {rest!r}; remove it.")
    except RecursionError:
        yield Fault(number, "", "the JSON is nested too deeply; the rest was not read.")
    except UnicodeDecodeError as error:
        yield Fault(
            number, "", f"behind this a byte 0x{error.object[error.start]:02x} is not {source.encoding.upper()}."
        )
    except ValueError as error:
        yield Fault(number, "", f"{error} The rest was not read.")


class _Text:
    """A text that is read on as far as it is needed."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr] # it matches nothing too
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(CHUNK_CHARACTERS):
                return ""

    def take(self) -> str:
        character = self.peek()
        self._at += len(character)
        return character

    def value(self) -> Any:
        """The next JSON value. Raises ValueError in words."""
        self.peek()
        wanted = CHUNK_CHARACTERS
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > MAX_CELL_CHARACTERS:
                    raise ValueError(f"the value is longer than {MAX_CELL_CHARACTERS:,} characters.") from error
                if not self._more(wanted):
                    raise ValueError(f"this is not JSON ({error.msg}).") from error
                wanted *= 2  # so that a long value is not parsed again and again
            else:
                if end < len(self._text) or not self._more(wanted):  # the number 12 may be the first half of 1234
                    self._at = end
                    return value

    def _more(self, characters: int) -> bool:
        self._text, self._at = self._text[self._at :], 0
        before = len(self._text)
        parts = [self._text]
        while characters > 0 and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            characters -= len(chunk)
        self._text = "".join(parts)
        return len(self._text) > before


def _chunks(file: IO[bytes], encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    while chunk := file.read(CHUNK_CHARACTERS):
        if text := decoder.decode(chunk):
            yield text
    yield decoder.decode(b"", final=True)


def _lines(file: IO[bytes], encoding: str, faults: list[Fault]) -> Iterator[str]:
    """The file's lines as text. What is no text of the encoding goes to `faults`, and reading goes on behind it."""
    if encoding == "utf-16":
        yield from _wide_lines(file, faults)
        return
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            faults.append(Fault(number, "", f"the line is longer than {MAX_LINE_BYTES:,} bytes; nothing was read on."))
            return
        if number == 1 and encoding == "utf-8":
            raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            yield raw.decode(encoding)
        except UnicodeDecodeError as error:
            what = f"line {number}, byte {error.start + 1}: 0x{raw[error.start]:02x} is not {encoding.upper()}; "
            faults.append(Fault(number, "", f"{what}save the file as UTF-8 or choose its encoding."))
            yield raw.decode(encoding, errors="replace")


def _wide_lines(file: IO[bytes], faults: list[Fault]) -> Iterator[str]:
    """Lines of UTF-16, whose bytes hold line feeds that are none."""
    wrapper = io.TextIOWrapper(file, "utf-16", newline="\n")
    try:
        while line := wrapper.readline(MAX_LINE_BYTES // 2):
            yield line
    except UnicodeError as error:
        faults.append(Fault(0, "", f"the file is not UTF-16 ({error}); choose another encoding."))
    finally:
        wrapper.detach()  # or it would close the file
