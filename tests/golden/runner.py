"""Reads golden files, runs their metrics through the library, and counts."""

import json
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.golden.adapters import ADAPTERS
from tests.golden.compare import differences

Case = dict[str, Any]


def read_cases(folders: Sequence[Path]) -> Iterator[Case]:
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))


def failures(case: Case) -> list[str]:
    """What is wrong with the library's answer to one case; a metric that raises is one failure."""
    try:
        got = ADAPTERS[case["metric"]](case["input"])
    except Exception as error:  # noqa: BLE001 - the runner reports any fault of one case and goes on with the next
        return [f"raised {type(error).__name__}: {error}"]
    return [str(found) for found in differences(case["expected"], got, tolerance=case["tolerance"]["abs"])]


def main(arguments: Sequence[str]) -> int:
    """Print the failures, the tags that are not known and the counts; 1 for any of the first two, 2 for a bad call."""
    folders = [Path(argument) for argument in arguments]
    absent = [str(folder) for folder in folders if not folder.is_dir()]
    if absent or not folders:
        print(f"No such folder: {', '.join(absent)}" if absent else "Usage: python -m tests.golden DIR...")
        return 2
    passed, failed = 0, 0
    unknown: dict[str, list[str]] = defaultdict(list)
    for case in read_cases(folders):
        if case["metric"] not in ADAPTERS:
            unknown[case["metric"]].append(case["name"])
            continue
        found = failures(case)
        for failure in found:
            print(f"{case['name']} {failure}")
        passed, failed = passed + (not found), failed + bool(found)
    for names in unknown.values():
        print(f"not known: {common_tag(names)} ({len(names)} files)")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or unknown else 0


def common_tag(names: Sequence[str]) -> str:
    """What the names TAG_variant_NN of one metric share, in whole words."""
    stems = [name.rpartition("_")[0].replace("_", "/") for name in names]
    return posixpath.commonpath(stems).replace("/", "_")
