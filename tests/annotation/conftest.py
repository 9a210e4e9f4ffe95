from collections.abc import Callable
from typing import Any

import pytest

from annotation.models import KnownAnswer, LabelProject
from annotation.services import create_label_project
from materials.models import Dataset, Item
from projects.models import Project, Role, User
from projects.services import set_member
from responses.models import Respondent, RespondentKind, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

YES_NO = [{"code": "yes", "text": "Yes", "hotkey": "y"}, {"code": "no", "text": "No", "hotkey": "n"}]
CRITERIA = [
    {"kind": "choice", "code": code, "text": text, "options": YES_NO}
    for code, text in [
        ("plausible", "Could this happen in everyday life?"),
        ("clear", "Is it clear who acts and who receives?"),
        ("neutral", "Is it told without taking sides?"),
    ]
]
PACT = [*CRITERIA, {"kind": "text", "code": "note", "text": "Note", "required": False}]


@pytest.fixture
def make_label_project(
    project: Project, make_dataset: Callable[..., Any], make_instrument: Callable[..., Any]
) -> Callable[..., LabelProject]:
    """`make_label_project(n=5, questions=PACT, overlap=1, ...)`: other arguments go to create_label_project."""

    def make(n: int = 5, questions: Any = PACT, content: Any = None, **fields: Any) -> LabelProject:
        return create_label_project(
            project=project,
            name="Validation",
            dataset=make_dataset(project, n=n, content=content),
            instrument=make_instrument(project, questions=questions, name="validation"),
            by=None,
            **{"order": "fixed"} | fields,
        )

    return make


@pytest.fixture
def make_annotators(project: Project) -> Callable[[int], list[User]]:
    def make(n: int) -> list[User]:
        users = [User.objects.create_user(username=f"annotator-{i}") for i in range(n)]
        for user in users:
            set_member(project=project, user=user, role=Role.ANNOTATOR, by=None)
        return users

    return make


def answers(value: str = "yes", note: str = "") -> dict[str, Any]:
    return {"plausible": value, "clear": value, "neutral": value, "note": note}


def known(label_project: LabelProject, purpose: str, n: int, value: str = "yes") -> None:
    """Known answers about items of a dataset of their own."""
    dataset = Dataset.objects.create(project=label_project.project, slug=purpose, name=purpose)
    for i in range(n):
        content = {"text": f"{purpose} {i}"}
        item = Item.objects.create(dataset=dataset, external_id=f"{purpose}-{i}", content=content, content_hash=f"{i}")
        KnownAnswer.objects.create(
            label_project=label_project, item=item, purpose=purpose, answers={"clear": [value]}, position=i
        )


@pytest.fixture
def model(project: Project) -> Respondent:
    return get_respondent(project=project, kind=RespondentKind.MODEL, key="model:1:none", attributes={"model": "tiny"})


def record(label_project: LabelProject, respondent: Respondent, values: dict[int, list[Any]]) -> list[Item]:
    """`values` by position of the item: a value for each sample of the question `plausible`."""
    items = list(label_project.dataset.items.order_by("position"))
    record_many(
        project=label_project.project,
        instrument=label_project.instrument,
        source_kind=SourceKind.IMPORT,
        on_conflict="keep",
        answers=[
            Answer(
                respondent_id=respondent.pk,
                item_id=items[position].pk,
                question="plausible",
                value=value,
                condition_id=get_condition(project=label_project.project, factors={}).pk,
                sample=sample,
            )
            for position, samples in values.items()
            for sample, value in enumerate(samples)
        ],
    )
    return items
