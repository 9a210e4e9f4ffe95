from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from materials.models import Dataset, Instrument, Item
from projects.models import Project
from responses.models import Condition, Respondent, RespondentKind, Response, SourceKind
from responses.services import Answer, OnConflict, Recorded, get_condition, get_respondent, record_many

QUESTIONS: list[dict[str, Any]] = [
    {
        "kind": "choice",
        "code": "fits",
        "text": "Does it fit?",
        "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
    },
    {
        "kind": "multi",
        "code": "why",
        "text": "Why?",
        "required": False,
        "options": [{"code": "a", "text": "Age"}, {"code": "b", "text": "Place"}],
    },
    {"kind": "text", "code": "note", "text": "Note", "required": False},
    {"kind": "number", "code": "much", "text": "How much?", "required": False},
]


@dataclass
class Scene:
    """One item, one annotator, one model, and the instrument above."""

    project: Project
    dataset: Dataset
    instrument: Instrument
    annotator: Respondent
    model: Respondent
    condition: Condition

    @property
    def item(self) -> Item:
        item = self.dataset.items.first()
        assert item
        return item

    def answer(self, value: Any, question: str = "fits", **changes: Any) -> Answer:
        base: dict[str, Any] = {
            "respondent_id": self.annotator.pk,
            "item_id": self.item.pk,
            "condition_id": self.condition.pk,
        }
        return Answer(question=question, value=value, **base | changes)

    def record(self, *answers: Answer, on_conflict: OnConflict = "keep") -> Recorded:
        return record_many(
            project=self.project,
            instrument=self.instrument,
            answers=answers,
            source_kind=SourceKind.IMPORT,
            on_conflict=on_conflict,
        )

    def standing(self) -> list[Any]:
        return list(Response.objects.filter(superseded_by=None).order_by("pk").values_list("value", flat=True))


def build_scene(
    project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> Scene:
    return Scene(
        project=project,
        dataset=make_dataset(project, n=3),
        instrument=make_instrument(project, questions=QUESTIONS),
        annotator=get_respondent(
            project=project, kind=RespondentKind.ANNOTATOR, key="annotator:1", attributes={"country": "Japan"}
        ),
        model=get_respondent(
            project=project, kind=RespondentKind.MODEL, key="model:1:x", attributes={"model": "tiny"}, demo_model=True
        ),
        condition=get_condition(project=project, factors={"prompt": "plain v1"}),
    )


@pytest.fixture
def scene(project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]) -> Scene:
    return build_scene(project, make_dataset, make_instrument)
