"""A draft as it stands in the fields of its form."""

import json
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from materials.field_lines import write_field_lines
from materials.lines import write_names
from studies.design_lines import write_close, write_groups, write_numbers, write_quotas, write_screening
from studies.models import Study

LONGEST_LINE = 100  # of JSON, which is indented where it is longer


def form_values(study: Study) -> dict[str, Any]:
    """What the form holds of a draft, as it stands in the fields."""
    design: dict[str, Any] = study.design
    lines: dict[str, Callable[[Any], str]] = {
        "questions": write_names,
        "groups": write_groups,
        "asked_on": write_numbers,
        "balance": write_names,
        "strata": write_names,
        "screening": write_screening,
        "quotas": write_quotas,
    }
    values: dict[str, Any] = {"language": "en", "seed": 0, "attention_limit": 1} | {
        name: lines[name](value) if name in lines else value for name, value in design.items()
    }
    return (
        values
        | _relation(design.get("relation") or {})
        | _comprehension(design.get("comprehension"))
        | {
            "name": study.name,
            "dataset": study.dataset_id,
            "instrument": study.instrument_id,
            "platform": study.platform,
            "item_template": write_field_lines(design["item_template"]["item_fields"]),
            "demographics": study.demographics,
            "filters": study.filters,
            **study.texts,
            **{f"code_{outcome}": code for outcome, code in study.completion_codes.items()},
        }
    )


def _relation(relation: Mapping[str, Any]) -> dict[str, Any]:
    return {f"relation_{name}": write_close(value) if name == "close" else value for name, value in relation.items()}


def _comprehension(check: Mapping[str, Any] | None) -> dict[str, Any]:
    if not check:
        return {}
    checks = [
        {"question": question, "expected": check["expected"][question["code"]]} for question in check["questions"]
    ]
    return {"comprehension": checks, "tries": check.get("tries", 2)}


def json_text(value: Any) -> Any:
    """Lists and objects as somebody would write them, nothing for empty ones; any other value as it is."""
    if not isinstance(value, list | dict):
        return value
    if isinstance(value, list) and value:
        entries = ",\n".join(textwrap.indent(_entry(entry), "  ") for entry in value)
        return f"[\n{entries}\n]"
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def _entry(entry: Any) -> str:
    line = json.dumps(entry, ensure_ascii=False)
    return line if len(line) <= LONGEST_LINE else json.dumps(entry, indent=2, ensure_ascii=False)
