"""The people and the known answers of a labelling project, in rows for the researcher's tables."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.marking import marks
from annotation.models import Assignment, KnownAnswer, LabelMember, LabelProject
from annotation.monitoring import accuracy_of
from responses.intervals import Share
from responses.models import RespondentKind, Response
from responses.showing import value_text


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A known answer with its values in words; `people` answered it, and `right` of their `given` answers are right."""

    known: KnownAnswer
    answers: list[tuple[str, str]]
    people: int
    right: int
    given: int

    @property
    def percent(self) -> float | None:
        return 100 * self.right / self.given if self.given else None


def member_rows(label_project: LabelProject) -> list[tuple[LabelMember, Share]]:
    """By name, with how many items each has labelled as `labelled`, and the share of the training they had right."""
    labelled = Q(
        user__assignments__label_project=label_project,
        user__assignments__status="submitted",
        user__assignments__purpose="label",
    )
    members = LabelMember.objects.filter(label_project=label_project).select_related("user")
    counted = members.annotate(labelled=Count("user__assignments", filter=labelled)).order_by("user__username")
    accuracy = accuracy_of(label_project)
    return [(member, accuracy[member.user_id][KnownAnswer.Purpose.TRAINING]) for member in counted]


def known_rows(label_project: LabelProject) -> list[KnownRow]:
    """In their order; counted over standing answers, in three queries."""
    known = list(label_project.known_answers.select_related("item__dataset"))
    people = dict(
        Assignment.objects.filter(label_project=label_project)
        .exclude(purpose=Assignment.Purpose.LABEL)
        .values_list("item")
        .annotate(n=Count("pk", filter=Q(status="submitted")))
    )
    by_item = {entry.item_id: entry for entry in known}
    right: dict[int, int] = defaultdict(int)
    given: dict[int, int] = defaultdict(int)
    for item, question, value, n in _counts(label_project, by_item):
        entry = by_item[item]
        if question in entry.answers:
            given[item] += n
            right[item] += n * marks(entry.answers, {question: value})[question]
    return [
        KnownRow(
            entry,
            _in_words(label_project, entry),
            people.get(entry.item_id, 0),
            right[entry.item_id],
            given[entry.item_id],
        )
        for entry in known
    ]


def _counts(label_project: LabelProject, items: Any) -> QuerySet[Any]:
    """Item, question, value and how many people gave it."""
    answers = Response.objects.filter(
        instrument=label_project.instrument_id,
        item__in=list(items),
        sample=label_project.sample,
        respondent__kind=RespondentKind.ANNOTATOR,
        superseded_by=None,
    )
    of_this = Assignment.objects.filter(pk=OuterRef("source_id"), label_project=label_project)
    return answers.filter(Exists(of_this)).values_list("item_id", "question", "value").annotate(n=Count("pk"))


def _in_words(label_project: LabelProject, known: KnownAnswer) -> list[tuple[str, str]]:
    """Question and the values that are right, in the instrument's order."""
    content = known.item.content
    return [
        (question.text, " or ".join(value_text(question, value, content) for value in known.answers[question.code]))
        for question in label_project.instrument.questionnaire.questions
        if question.code in known.answers
    ]
