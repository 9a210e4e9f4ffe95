"""Items with known answers: asking for them, marking them, and who passed the training."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.marking import drawn_first, due, marks, share_right
from annotation.models import Assignment, KnownAnswer, LabelMember
from responses.models import Response, SourceKind
from responses.querysets import standing_values

CHECKS = (KnownAnswer.Purpose.GOLD, KnownAnswer.Purpose.ATTENTION)


@dataclass(frozen=True, slots=True)
class Judged:
    """How a known answer was met, by question code. `why`: Markdown; `right_answers`: every value that is right."""

    right: dict[str, bool]
    why: str
    right_answers: dict[str, list[Any]]


def next_known(member: LabelMember, handled: int) -> KnownAnswer | None:
    """What the person has to answer before their next ordinary item, after `handled` of those; None for nothing.

    The training items come first, in their order. Then one item of the others among every `gold_every` ordinary ones,
    drawn from the labelling project's seed, each at most once. Costs one or two queries, without known answers one.
    """
    label_project = member.label_project
    if not member.qualified_at and not member.failed_at:
        training = _not_had(member).filter(purpose=KnownAnswer.Purpose.TRAINING).first()
        if training is not None:
            return training
    key = f"{label_project.seed}/{label_project.slug}/{member.user_id}"
    asked_for = due(handled, every=label_project.gold_every, key=key)
    if not asked_for:
        return None
    asked = Assignment.objects.filter(label_project=label_project, annotator=member.user_id, purpose__in=CHECKS).count()
    if asked >= asked_for:
        return None
    left = {known.item.external_id: known for known in _not_had(member).filter(purpose__in=CHECKS)}
    drawn = drawn_first(left, key=key)
    return left[drawn] if drawn is not None else None


def _not_had(member: LabelMember) -> QuerySet[KnownAnswer]:
    """Known answers whose items the person never had, as such or otherwise."""
    had = Assignment.objects.filter(
        label_project=member.label_project_id, annotator=member.user_id, item=OuterRef("item")
    )
    known = KnownAnswer.objects.filter(label_project=member.label_project_id)
    return known.filter(~Exists(had)).select_related("item")


def judge(place: Assignment) -> Judged:
    """How the standing answers of a place of a known answer compare with it."""
    known = KnownAnswer.objects.get(label_project=place.label_project_id, item=place.item_id)
    right = marks(known.answers, standing_values(SourceKind.ASSIGNMENT, place.pk))
    return Judged(right=right, why=known.why, right_answers=known.answers)


def settle_training(member: LabelMember) -> LabelMember:
    """Once every training item is done, say whether the person passed: `qualified_at` or `failed_at` is set.

    Passed is who answered at least the pass mark's share of the questions right; without a pass mark, everybody. A
    skipped item counts as answered wrong. Changes nothing before that, without training items, or a second time.
    """
    if member.qualified_at or member.failed_at:
        return member
    known = {
        entry.item_id: entry.answers
        for entry in KnownAnswer.objects.filter(
            label_project=member.label_project_id, purpose=KnownAnswer.Purpose.TRAINING
        )
    }
    done = dict(
        Assignment.objects.of(member.label_project_id, member.user_id)
        .finished()
        .filter(purpose=Assignment.Purpose.TRAINING)
        .values_list("pk", "item_id")
    )
    if not known or not known.keys() <= set(done.values()):
        return member
    given: dict[int, dict[str, Any]] = {item: {} for item in known}
    standing = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=list(done), superseded_by=None, item__in=known
    )
    for item, question, value in standing.values_list("item_id", "question", "value"):
        given[item][question] = value
    share = share_right(marks(right, given[item]) for item, right in known.items())
    passed = share is None or share >= (member.label_project.pass_mark or 0)
    field = "qualified_at" if passed else "failed_at"
    setattr(member, field, timezone.now())
    member.save(update_fields=[field])
    return member
