"""Files that researchers bring to a protocol, kept in the database in parts."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from django.db import transaction

from projects.models import User
from projects.services import audit
from protocols.models import ProtocolRun, SourceFile, SourcePart
from protocols.stages import StageError

PART_BYTES = 1 << 20


class Given(NamedTuple):
    """A file that a stage reads: one that the researcher brought, or the shipped one."""

    name: str
    sha256: str
    stored: SourceFile | Path


@transaction.atomic
def give_file(*, run: ProtocolRun, source: str, file_name: str, chunks: Iterable[bytes], by: User | None) -> SourceFile:
    """Keep the file as the run's newest under this source's name. Raises StageError for an unknown name or no bytes."""
    run.protocol.source(source)
    file = SourceFile.objects.create(run=run, source=source, file_name=file_name[-255:], size=0, by=by)
    digest = hashlib.sha256()
    for number, data in enumerate(_parts(chunks)):
        digest.update(data)
        file.size += len(data)
        SourcePart.objects.create(file=file, number=number, data=data)
    if not file.size:
        raise StageError(f"{file_name} is empty; choose a file with data.")
    file.sha256 = digest.hexdigest()
    file.save(update_fields=["size", "sha256"])
    audit(project=run.project, user=by, action="source given", protocol=run.name, source=source, sha256=file.sha256)
    return file


@transaction.atomic
def use_shipped_files(*, run: ProtocolRun, by: User | None) -> None:
    """Remove the files that were brought, so that stages read the shipped ones again. Raises StageError without any."""
    if not any(source.shipped for source in run.protocol.sources):
        raise StageError(f"{run.protocol.title} comes with no files; bring your own.")
    removed = list(run.files.values_list("file_name", flat=True))
    run.files.all().delete()
    audit(project=run.project, user=by, action="sources removed", protocol=run.name, files=removed)


def given_files(run: ProtocolRun) -> dict[str, Given]:
    """By source: the newest file that was brought, or the shipped ones as long as none was."""
    brought = {file.source: file for file in run.files.all()}
    if brought:
        return {name: Given(file.file_name, file.sha256, file) for name, file in brought.items()}
    shipped = {source.name: source.shipped for source in run.protocol.sources if source.shipped}
    return {
        name: Given(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), path) for name, path in shipped.items()
    }


@contextmanager
def open_given(given: Given) -> Iterator[IO[bytes]]:
    """The file, which can be read and searched."""
    if isinstance(given.stored, Path):
        with given.stored.open("rb") as file:
            yield file
        return
    with TemporaryFile() as copy:
        for data in given.stored.parts.values_list("data", flat=True).iterator(chunk_size=4):
            copy.write(data)
        copy.seek(0)
        yield copy


def _parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        rest += chunk
        while len(rest) >= PART_BYTES:
            yield rest[:PART_BYTES]
            rest = rest[PART_BYTES:]
    if rest:
        yield rest
