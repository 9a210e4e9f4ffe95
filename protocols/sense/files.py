"""Files of JSON as the authors of judges publish them."""

import json
from pathlib import Path
from typing import Any

from protocols.pact.reading import FileFaultError


def read_json(path: Path) -> Any:
    """What the file holds. Raises FileFaultError."""
    try:
        content = path.read_bytes()
        return json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise FileFaultError(path, f"it cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFaultError(path, "it is not UTF-8 here; save it as UTF-8.", row=line) from error
    except json.JSONDecodeError as error:
        raise FileFaultError(path, f"this is not valid JSON ({error.msg}).", row=error.lineno) from error


def read_json_list(path: Path) -> list[Any]:
    """A JSON list with at least one element. Raises FileFaultError."""
    rows = read_json(path)
    if not isinstance(rows, list) or not rows:
        raise FileFaultError(path, "it must be a JSON list with at least one row.")
    return rows
