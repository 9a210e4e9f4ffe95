"""The answers of a labelling project as ratings: one row for each answer to each criterion.

A criterion is a question with options; of a question with several answers, each option is one, chosen or not.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from django.db import connection

from annotation.models import LabelProject
from annotation.monitoring import label_names
from evaluation.metrics.weights import Scale

CHOSEN, NOT_CHOSEN = "chosen", "not chosen"
COMPARED = ("choice", "pairwise", "scale", "multi")
ANSWERS = """
SELECT place.item_id, answer.question, place.annotator_id, answer.value
FROM responses_response answer JOIN annotation_assignment place ON place.id = answer.source_id
WHERE place.label_project_id = %s AND place.purpose = 'label' AND answer.source_kind = 'assignment'
  AND answer.superseded_by_id IS NULL AND answer.question = ANY(%s)
ORDER BY place.item_id, answer.question, place.annotator_id"""


@dataclass(frozen=True, slots=True)
class Criterion:
    """What people agree about or not. `categories` are the stored values, `labels` their words; `option` of a multi."""

    code: str
    question: str
    text: str
    categories: tuple[Any, ...]
    labels: tuple[str, ...]
    scale: Scale = "nominal"
    option: str = ""

    def value_of(self, value: Any) -> Any:
        """The category that an answer to the question stands for."""
        return (CHOSEN if self.option in value else NOT_CHOSEN) if self.option else value


def criteria(label_project: LabelProject) -> list[Criterion]:
    """In the order of the questions."""
    return [found for question in label_project.instrument.questionnaire.questions for found in _criteria(question)]


def _criteria(question: Any) -> Iterator[Criterion]:
    if question.kind not in COMPARED:
        return
    names = dict(label_names(question))
    if question.kind == "multi":
        for code, label in names.items():
            yield Criterion(
                code=f"{question.code}:{code}",
                question=question.code,
                text=f"{question.text} {label}",
                categories=(CHOSEN, NOT_CHOSEN),
                labels=(CHOSEN, NOT_CHOSEN),
                option=code,
            )
        return
    values = tuple(question.points) if question.kind == "scale" else tuple(names)
    scale: Scale = "ordinal" if question.kind == "scale" else "nominal"
    yield Criterion(question.code, question.code, question.text, values, tuple(names.values()), scale)


def read_ratings(label_project: LabelProject, asked: list[Criterion]) -> pd.DataFrame:
    """Columns `item` (primary key), `criterion`, `rater` (the user's), `value`; one query."""
    of_question: dict[str, list[Criterion]] = {}
    for criterion in asked:
        of_question.setdefault(criterion.question, []).append(criterion)
    with connection.cursor() as cursor:
        cursor.execute(ANSWERS, [label_project.pk, list(of_question)])
        rows = [
            (item, criterion.code, rater, criterion.value_of(json.loads(value)))
            for item, question, rater, value in cursor.fetchall()
            for criterion in of_question[question]
        ]
    return pd.DataFrame.from_records(rows, columns=["item", "criterion", "rater", "value"])
