"""Files of JSON: as authors publish them, or a line for each call as a job exports them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from protocols.pact.reading import FileFaultError


def read_json(path: Path) -> Any:
    """What the file holds. Raises FileFaultError."""
    try:
        return json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise FileFaultError(path, f"this is not valid JSON ({error.msg}).", row=error.lineno) from error


def read_json_list(path: Path) -> list[Any]:
    """A JSON list with at least one element. Raises FileFaultError."""
    rows = read_json(path)
    if not isinstance(rows, list) or not rows:
        raise FileFaultError(path, "it must be a JSON list with at least one row.")
    return rows


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the object of each line that is not blank. Raises FileFaultError."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise FileFaultError(path, f"this is not valid JSON ({error.msg}).", row=number) from error
        if not isinstance(row, dict):
            raise FileFaultError(path, "it must be an object.", row=number)
        yield number, row


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise FileFaultError(path, f"it cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFaultError(path, "it is not UTF-8 here; save it as UTF-8.", row=line) from error
