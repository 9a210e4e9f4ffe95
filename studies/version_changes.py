"""The versions of a study and what each changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from materials.rows import EMPTY
from projects.text_diff import Line, text_diff
from studies.draft_values import json_text
from studies.models import Study
from studies.services import file_of

MOST_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class Change:
    """A version and how its file differs from that of the one before; no lines for the first."""

    version: Study
    lines: list[Line]


def changes_of(study: Study) -> Iterator[Change]:
    """The latest versions, newest first."""
    found = Study.objects.for_list(study.project).filter(slug=study.slug).select_related("dataset", "instrument")
    versions = list(found.order_by("-version")[: MOST_VERSIONS + 1])
    files = [_readable(file_of(version)) for version in versions]
    for position, version in enumerate(versions[:MOST_VERSIONS]):
        before = files[position + 1] if position + 1 < len(files) else files[position]
        yield Change(version, text_diff(before, files[position]))


def _readable(file: dict[str, Any]) -> str:
    """The file with its texts in lines of their own, so that a changed word does not mark a whole text."""
    texts = [f"{name}:\n{text}\n" for name, text in file["texts"].items()]
    rest = {name: _said(part) for name, part in file.items() if name != "texts"}
    return "\n".join([*texts, json_text(rest)])


def _said(part: Any) -> Any:
    """Without what says nothing, such as an empty help: a form that is saved leaves it out."""
    if isinstance(part, dict):
        said = {name: _said(value) for name, value in part.items()}
        return {name: value for name, value in said.items() if value not in EMPTY}
    return [_said(value) for value in part] if isinstance(part, list) else part
