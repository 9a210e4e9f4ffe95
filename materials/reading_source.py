"""Finds out what a file is: by what it holds first, by its name's ending where that says more."""

import codecs
import csv
import re
import zipfile
from typing import IO

from materials.reading_excel import check_workbook
from materials.reading_faults import SourceError
from materials.reading_plan import Format, Source

FORMATS: dict[Format, str] = {
    "csv": "CSV",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "xlsx": "Excel workbook",
}
ENDINGS: dict[str, Format] = {
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "txt": "csv",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "xlsx": "xlsx",
}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "gb18030": "GB 18030 (Chinese)",
    "shift_jis": "Shift JIS (Japanese)",
    "euc_kr": "EUC-KR (Korean)",
}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
READ_AS = "a CSV, TSV, JSON, JSON lines, Parquet or Excel (.xlsx) file"
HEAD_BYTES = 65_536
CHUNK_BYTES = 1 << 20


def find_source(file: IO[bytes], filename: str) -> Source:
    """How to read the file, from its first bytes and its name's ending. Raises SourceError.

    Text without a byte order mark is taken for UTF-8; `find_encoding` looks at all of it.
    """
    head = file.read(HEAD_BYTES)
    file.seek(0)
    ending = filename.lower().rpartition(".")[2]
    if head.startswith(b"PAR1"):
        return Source(format="parquet")
    if head.startswith(b"PK\x03\x04"):
        _check_is_workbook(file, filename)
        return Source(format="xlsx")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise SourceError(f"{filename} is a workbook of an old Excel, or one with a password; save it as .xlsx.")
    if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")):
        raise SourceError(f"{filename} is compressed; unpack it first.")
    if ENDINGS.get(ending) in {None, "parquet", "xlsx"}:
        raise SourceError(f"{filename} is not {READ_AS}; save it as one of these.")
    encoding = "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"
    return _text_source(head.decode(encoding, errors="replace").lstrip("\ufeff"), ending, encoding)


def find_encoding(file: IO[bytes], source: Source) -> Source:
    """The source of a text with its encoding: UTF-8 when all of it is, else Windows-1252, which most others are."""
    if source.format in {"parquet", "xlsx"} or source.encoding != "utf-8":
        return source
    decoder = codecs.getincrementaldecoder("utf-8")()
    file.seek(0)
    try:
        while chunk := file.read(CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return source.model_copy(update={"encoding": "cp1252"})
    finally:
        file.seek(0)
    return source


def is_named_otherwise(source: Source, filename: str) -> bool:
    """Whether the name's ending says another format than the file has."""
    return ENDINGS.get(filename.lower().rpartition(".")[2]) != source.format


def _text_source(text: str, ending: str, encoding: str) -> Source:
    if re.match(r"\s*\[\s*\{", text):
        return Source(format="json", encoding=encoding)
    if re.match(r'\s*\{\s*"', text) and (ENDINGS[ending] != "json" or not _is_one_object(text)):
        return Source(format="jsonl", encoding=encoding)
    if ENDINGS[ending] != "csv":
        return Source(format=ENDINGS[ending], encoding=encoding)
    delimiter = "\t" if ending in {"tsv", "tab"} else _sniff(text.partition("\n")[0])
    return Source(format="csv", encoding=encoding, delimiter=delimiter)


def _is_one_object(text: str) -> bool:
    """Whether the object that the text begins with goes on after the first line."""
    first, newline, _ = text.lstrip().partition("\n")
    return bool(newline) and not first.rstrip().endswith("}")


def _sniff(header: str) -> str:
    """The delimiter that splits the header into most columns; a comma when none does."""
    try:
        return max(DELIMITERS, key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter), [])))
    except csv.Error:  # reading the header names this fault with its place
        return ","


def _check_is_workbook(file: IO[bytes], filename: str) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "xl/workbook.xml" not in names:
                raise SourceError(f"{filename} is an archive and no Excel workbook; unpack it first.")
            check_workbook(archive)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise SourceError(f"{filename} is damaged: it begins like a workbook and is none.") from error
    finally:
        file.seek(0)
