"""Computing an unpacked bundle again, without the platform: the counted data in, every stored number compared. Pure."""

import json
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from evaluation.fingerprint import data_fingerprint
from evaluation.kept_frames import read_frames

TOLERANCE = 1e-9  # other processors add in another order
SHOWN = 20


def compare_again(folder: Path) -> int:
    """Print how many numbers and words agree with the stored ones and which do not; 1 where any differ, otherwise 0."""
    facts = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    print(f"The report was made by Concord {facts['code_version']}; another version may not agree with it.")
    stored = json.loads((folder / "sections.json").read_text(encoding="utf-8"))
    data = read_frames({file.name: file.read_text(encoding="utf-8") for file in (folder / "data").iterdir()})
    parameters = _named(facts["parameters_class"]).parse(facts["parameters"])
    computed = [compute() for compute in _named(facts["sections_function"])(data, parameters)]
    again = json.loads(json.dumps([section.as_json() for section in computed if section is not None]))
    differing = list(differences(stored, again))
    if data_fingerprint(data, parameters) != facts["data_fingerprint"]:
        differing.insert(0, "the fingerprint of the data: data/ or the parameters are not those of the report")
    for line in differing[:SHOWN]:
        print(f"differs: {line}")
    print(f"{sum(1 for _ in leaves(stored)) - len(differing)} values agree, {len(differing)} differ")
    return 1 if differing else 0


def differences(stored: Any, again: Any, place: str = "sections") -> Iterator[str]:
    """Each place where the two differ, in words; numbers may differ by TOLERANCE, relative or absolute.

    >>> list(differences({"a": [1.0, "x"]}, {"a": [1.5, "x"]}))
    ['sections.a.0: stored 1.0, computed 1.5']
    """
    if isinstance(stored, dict) and isinstance(again, dict) and stored.keys() == again.keys():
        for name, value in stored.items():
            yield from differences(value, again[name], f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for number, (one, other) in enumerate(zip(stored, again, strict=True)):
            yield from differences(one, other, f"{place}.{number}")
    elif not _equal(stored, again):
        yield f"{place}: stored {_short(stored)}, computed {_short(again)}"


def leaves(value: Any) -> Iterator[Any]:
    """Every number, word and truth value in nested lists and objects."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def _equal(stored: Any, again: Any) -> bool:
    if isinstance(stored, float) or isinstance(again, float):
        numbers = isinstance(stored, int | float) and isinstance(again, int | float)
        return numbers and math.isclose(stored, again, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(stored == again)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _named(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)
