"""Guidelines: immutable versions, the latest of which annotators read."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Greatest

from annotation.models import Guidelines, LabelMember, LabelProject
from annotation.refusals import LabelProjectError
from annotation.services.places import drop_untouched_places, restore_places
from materials.questions import AnswerError, check_value
from projects.models import User
from projects.services import audit


class GuidelinesError(LabelProjectError):
    """Guidelines that cannot be published; the text says why and what to do."""


@transaction.atomic
def publish_guidelines(
    *, label_project: LabelProject, text: str, examples: Sequence[Mapping[str, Any]] = (), by: User | None
) -> Guidelines:
    """A new version of the guidelines; the latest one again when nothing changed.

    An example is an item of the dataset with right answers to some of the questions and why:
    `{"item": external id, "answers": {code: value}, "why": text}`. Who read its right answers would not answer it by
    themselves: its places go unless somebody has begun it, and come back behind the others when the example goes.
    Raises GuidelinesError naming the first fault, and LabelProjectError as store_places does.
    """
    checked = _checked(label_project, examples)
    LabelProject.objects.select_for_update().get(pk=label_project.pk)  # two at once would draw the same number
    latest = label_project.guidelines.first()
    if latest and latest.text == text and latest.examples == checked:
        return latest
    made = Guidelines.objects.create(
        label_project=label_project,
        version=latest.version + 1 if latest else 1,
        text=text,
        examples=checked,
        created_by=by,
    )
    drop_untouched_places(label_project, [example["item"] for example in checked])
    restore_places(label_project, [example["item"] for example in latest.examples] if latest else [])
    audit(
        project=label_project.project,
        user=by,
        action="guidelines published",
        label_project=label_project.slug,
        version=made.version,
    )
    return made


def read_guidelines(*, guidelines: Guidelines, user: User) -> None:
    """Note that the member has read this version."""
    member = LabelMember.objects.filter(label_project=guidelines.label_project_id, user=user)
    member.update(guidelines_read=Greatest("guidelines_read", guidelines.version))


def _checked(label_project: LabelProject, examples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    questions = {question.code: question for question in label_project.instrument.questionnaire.questions}
    wanted = [str(example["item"]) for example in examples]
    items = label_project.dataset.items.filter(external_id__in=wanted)
    contents = dict(items.values_list("external_id", "content"))
    return [_checked_example(label_project, questions, contents, example) for example in examples]


def _checked_example(
    label_project: LabelProject,
    questions: Mapping[str, Any],
    contents: Mapping[str, Any],
    example: Mapping[str, Any],
) -> dict[str, Any]:
    item, answers = str(example["item"]), example["answers"]
    if item not in contents:
        raise GuidelinesError(f"The dataset {label_project.dataset} has no item {item}; choose one of its items.")
    if unknown := sorted(answers.keys() - questions.keys()):
        raise GuidelinesError(f"Example {item}: the instrument has no question {', '.join(unknown)}.")
    try:
        checked = {code: check_value(questions[code], value, contents[item]) for code, value in answers.items()}
    except AnswerError as error:
        raise GuidelinesError(f"Example {item}: {error}") from error
    return {"item": item, "answers": checked, "why": str(example.get("why", ""))}
