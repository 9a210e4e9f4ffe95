"""The topics of SenseBench and their subcategories, in the words of its authors (SenseJudge, table 7)."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CATEGORIES_FILE = Path(__file__).parent / "data" / "categories.json"


@dataclass(frozen=True, slots=True)
class Subcategory:
    code: str
    title: str
    description: str
    topic: str


@cache
def topics() -> dict[str, str]:
    """The titles of the eight topics by code."""
    return {topic["code"]: topic["title"] for topic in _data()}


@cache
def subcategories() -> dict[str, Subcategory]:
    """The 32 subcategories by code."""
    return {
        entry["code"]: Subcategory(entry["code"], entry["title"], entry["description"], topic["code"])
        for topic in _data()
        for entry in topic["subcategories"]
    }


def _data() -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads(CATEGORIES_FILE.read_text(encoding="utf-8"))
    return data
