"""The protocol's prompts: files named `<name>.v<version>.<role>.jinja`. A published one never changes; a change is a
new version. `preference` and `judge` hold the paper's own words (SenseJudge, appendix A.2); the others are ours.
"""

from pathlib import Path
from typing import Literal

_FOLDER = Path(__file__).parent


def prompt_file(name: str, version: int, role: Literal["system", "user"] = "user") -> Path:
    return _FOLDER / f"{name}.v{version}.{role}.jinja"
