"""Where a command writes: to its standard output, or to a file that is there whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from django.core.management.base import OutputWrapper


def print_lines(stream: OutputWrapper, lines: Iterable[str]) -> None:
    """Write the lines, which have their ends, until the reader (for example head) has seen enough."""
    try:
        for line in lines:
            stream.write(line, ending="")
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A neighbouring file that takes the name at the end, so that no half of an export is ever found."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield cast(BinaryIO, file)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
