"""Computes the report again from data/ and compares it with sections.json; README.md says what it needs."""

import sys
from pathlib import Path

try:
    from evaluation.recomputing import compare_again
except ModuleNotFoundError as error:
    sys.exit(f"{error}: README.md says what to install and where Concord's source code has to be.")

sys.exit(compare_again(Path(__file__).resolve().parent))
