"""The protocol's prompts: files named `<name>.v<version>.<role>.jinja`. A published one never
changes; a change is a new version.

Templates may use `item` (the item's content), `persona` (see `cases.personas`, or None), `questions` (objects with
`code`, `text` and `options`, each option with `letter` and `text`) and `answer_format` (the only place that says how to
answer, as the job reads answers).
"""

from pathlib import Path
from typing import Literal

_FOLDER = Path(__file__).parent


def prompt_text(name: str, version: int, role: Literal["system", "user"]) -> str:
    """The template as it stands in its file; raises FileNotFoundError when there is none."""
    return (_FOLDER / f"{name}.v{version}.{role}.jinja").read_text(encoding="utf-8")
