"""An uploaded file in the database: cut into parts when it comes, read as one file later."""

import hashlib
import io
from collections.abc import Iterable

from materials.models import ImportRun, UploadPart

PART_BYTES = 1 << 20


def store_upload(run: ImportRun, chunks: Iterable[bytes]) -> None:
    """Store the file's bytes as parts of the run and note its size and hash."""
    digest = hashlib.sha256()
    rest = b""
    number = 0
    for chunk in chunks:
        digest.update(chunk)
        rest += chunk
        while len(rest) >= PART_BYTES:
            UploadPart.objects.create(run=run, number=number, data=rest[:PART_BYTES])
            number, rest = number + 1, rest[PART_BYTES:]
    if rest:
        UploadPart.objects.create(run=run, number=number, data=rest)
    run.size = number * PART_BYTES + len(rest)
    run.sha256 = digest.hexdigest()
    run.save(update_fields=["size", "sha256"])


def open_upload(run: ImportRun) -> io.BufferedReader:
    """The uploaded file, which is read a part at a time. Each part costs a query."""
    return io.BufferedReader(_Upload(run), PART_BYTES)


class _Upload(io.RawIOBase):
    def __init__(self, run: ImportRun) -> None:
        self._run = run
        self._at = 0
        self._part: tuple[int, bytes] = (-1, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._run.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # what BufferedReader gives
        number, offset = divmod(self._at, PART_BYTES)
        if self._part[0] != number:
            found = UploadPart.objects.filter(run=self._run, number=number).values_list("data", flat=True).first()
            self._part = (number, bytes(found or b""))
        data = self._part[1][offset : offset + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
