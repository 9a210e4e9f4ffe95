"""Source files become source rows: items with the country, the story, the norm and where they stand."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, get_args

from pydantic import Field

from materials.reading import read_rows
from materials.reading_faults import Fault, SourceError
from materials.reading_source import find_source
from materials.reading_text import Row
from protocols.context import Made, StageContext
from protocols.files import open_given
from protocols.pact.countries import UnknownCountryError, find
from protocols.pact.draws import drawn
from protocols.pact.sources import SourceName, SourceRowsError, source_rows
from protocols.stages import Stage, StageError, StageResult, StageSettings

OTHER_COUNTRY = "of a country that was not chosen"
NOT_DRAWN = "not drawn"


class Reading(StageSettings):
    countries: tuple[str, ...] = Field(
        (), description="Only rows of these countries, English names or ISO 3166 codes; none for all countries."
    )
    rows_each: int | None = Field(
        None, ge=1, description="So many rows of each country and source at most, drawn by the seed; empty for all."
    )
    seed: int = Field(1, ge=0, description="Draws these rows.")


def read(ctx: StageContext) -> StageResult:
    why: Counter[str] = Counter()
    dataset = ctx.make_dataset(_chosen(_usable(ctx, why), ctx.settings, why))
    out = dataset.items.count()
    if not out:
        raise StageError("No row of the files can be used; look at their columns and countries.")
    return StageResult({"dataset": dataset.slug}, out + why.total(), out, dict(+why))


def _chosen(rows: Iterator[Made], settings: Reading, why: Counter[str]) -> Iterator[Made]:
    """Those of the countries, and of each country and source as many as are wanted."""
    wanted = _names(settings.countries)
    groups: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for row in rows:
        if wanted and row.content["country"] not in wanted:
            why[OTHER_COUNTRY] += 1
        elif settings.rows_each is None:
            yield row
        else:
            groups[row.content["source"], row.content["country"]].append(row)
    for own in groups.values():
        chosen = drawn(own, settings.rows_each or 0, seed=settings.seed, key=lambda row: row.external_id)
        why[NOT_DRAWN] += len(own) - len(chosen)
        yield from chosen


def _names(countries: Sequence[str]) -> set[str]:
    try:
        return {find(country).name for country in countries}
    except UnknownCountryError as error:
        raise StageError(str(error)) from error


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
    settings=Reading,
    sources=get_args(SourceName),
    run=read,
)
