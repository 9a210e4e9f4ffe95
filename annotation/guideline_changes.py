"""The versions of a labelling project's guidelines as the researcher's page shows them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Guidelines, LabelProject
from projects.markdown import render_markdown
from projects.text_diff import Line, text_diff
from responses.showing import answers_in_words

MOST_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example with its answers in words, as pairs of question and answer; `why` is HTML."""

    item: str
    item_pk: int | None
    answers: list[tuple[str, str]]
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """A version and how it differs from the one before: lines of text, and whether its examples do."""

    version: Guidelines
    lines: list[Line]
    examples_changed: bool


def shown_examples(label_project: LabelProject, guidelines: Guidelines | None) -> list[ShownExample]:
    examples: list[dict[str, Any]] = guidelines.examples if guidelines else []
    named = [example["item"] for example in examples]
    items = {item.external_id: item for item in label_project.dataset.items.filter(external_id__in=named)}
    questionnaire = label_project.instrument.questionnaire
    shown = []
    for example in examples:
        item = items.get(example["item"])
        content = item.content if item else {}
        answers = answers_in_words(questionnaire, example["answers"], content)
        why = render_markdown(example["why"])
        shown.append(ShownExample(example["item"], item.pk if item else None, answers, why))
    return shown


def changes_of(label_project: LabelProject) -> Iterator[Change]:
    """The latest versions, newest first."""
    versions = list(label_project.guidelines.select_related("created_by")[: MOST_VERSIONS + 1])
    for version, before in zip(versions[:MOST_VERSIONS], [*versions[1:], None], strict=False):
        lines = text_diff(before.text if before else "", version.text)
        yield Change(version, lines, version.examples != (before.examples if before else []))
