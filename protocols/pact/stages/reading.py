"""Source files become source rows: items with the country, the story, the norm and where they stand."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, get_args

from materials.reading import read_rows
from materials.reading_faults import Fault, SourceError
from materials.reading_source import find_source
from materials.reading_text import Row
from protocols.context import Made, StageContext
from protocols.files import open_given
from protocols.pact.sources import SourceName, SourceRowsError, source_rows
from protocols.stages import Stage, StageError, StageResult


def read(ctx: StageContext) -> StageResult:
    why: Counter[str] = Counter()
    dataset = ctx.make_dataset(_usable(ctx, why))
    out = dataset.items.count()
    if not out:
        raise StageError("No row of the files can be used; look at their columns and countries.")
    return StageResult({"dataset": dataset.slug}, out + why.total(), out, dict(why))


def _usable(ctx: StageContext, why: Counter[str]) -> Iterator[Made]:
    for name in get_args(SourceName):
        given = ctx.files.get(name)
        if given is None:
            continue
        with open_given(given) as opened, _with_named_index(opened) as file:
            try:
                for row in source_rows(name, _rows(given.name, read_rows(file, find_source(file, given.name)))):
                    if row.why:
                        why[row.why] += 1
                    else:
                        lineage = {"file": given.name, "sha256": given.sha256, "file_row": row.row}
                        yield Made(row.key, row.content, lineage)
            except (SourceError, SourceRowsError) as error:
                raise StageError(f"{given.name}: {error}") from error


@contextmanager
def _with_named_index(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """The file; a table whose first column has no name, as pandas writes its index, with a name for it."""
    head = file.read(1)
    file.seek(0)
    if head != b",":
        yield file
        return
    with TemporaryFile() as copy:
        copy.write(b"index")
        copyfileobj(file, copy)
        copy.seek(0)
        yield copy


def _rows(name: str, entries: Iterator[Row | Fault]) -> Iterator[Row]:
    for entry in entries:
        if isinstance(entry, Fault):
            raise StageError(f"{name}, {entry}")
        yield entry


STAGE = Stage(
    code="read",
    title="Source rows",
    says="Reads the files and keeps rows with a story, a norm and a country that has a place on the map.",
    kind="import",
    sources=get_args(SourceName),
    run=read,
)
