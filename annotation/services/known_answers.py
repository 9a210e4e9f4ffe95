"""Items with known answers: naming them, asking for them, marking them, and who passed the training."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from annotation.marking import drawn_first, due, marks, share_right
from annotation.models import Assignment, KnownAnswer, LabelMember, LabelProject
from annotation.refusals import LabelProjectError
from materials.models import Item
from materials.questions import text_fields
from projects.models import User
from projects.services import audit
from responses.models import Response, SourceKind
from responses.querysets import standing_values

CHECKS = (KnownAnswer.Purpose.GOLD, KnownAnswer.Purpose.ATTENTION)


@dataclass(frozen=True, slots=True)
class Judged:
    """How a known answer was met, by question code. `why`: Markdown; `right_answers`: every value that is right."""

    right: dict[str, bool]
    why: str
    right_answers: dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class NewKnown:
    """A known answer to be: by question code every value that is right, checked, and why (Markdown)."""

    item: Item
    answers: dict[str, list[Any]]
    why: str = ""


def lacking_field(label_project: LabelProject, item: Item) -> str:
    """A field that the questions show and the item lacks; of another dataset's item also one that all show; or ""."""
    for field in text_fields(label_project.instrument.questionnaire.questions):
        if not str(item.content.get(field) or "").strip():
            return field
    if item.dataset_id == label_project.dataset_id:
        return ""
    chosen = [entry if isinstance(entry, str) else entry["field"] for entry in label_project.item_fields]
    return next((field for field in chosen if field not in item.content), "")


@transaction.atomic
def add_known_answers(
    *, label_project: LabelProject, known: Sequence[NewKnown], purpose: str, by: User | None
) -> list[KnownAnswer]:
    """Ask about these items first (training) or among the others, all or nothing.

    Their free places go: everybody answers them once, as known answers. Raises LabelProjectError for an item that has
    a known answer already or is being labelled.
    """
    LabelProject.objects.select_for_update(of=("self",)).get(pk=label_project.pk)
    items = [entry.item.pk for entry in known]
    if twice := label_project.known_answers.filter(item__in=items).select_related("item").first():
        raise LabelProjectError(f"The item {twice.item} has known answers already; remove them first.")
    Assignment.objects.filter(label_project=label_project, item__in=items, status=Assignment.Status.FREE).delete()
    if begun := Assignment.objects.filter(label_project=label_project, item__in=items).select_related("item").first():
        raise LabelProjectError(f"Somebody has begun to label the item {begun.item}; choose one that nobody has had.")
    last = label_project.known_answers.aggregate(last=Max("position"))["last"]
    made = KnownAnswer.objects.bulk_create(
        KnownAnswer(
            label_project=label_project,
            item=entry.item,
            purpose=KnownAnswer.Purpose(purpose),
            answers=entry.answers,
            why=entry.why,
            position=position,
        )
        for position, entry in enumerate(known, start=0 if last is None else last + 1)
    )
    _audit(label_project, by, "known answers added", purpose=purpose, items=len(made))
    return made


@transaction.atomic
def remove_known_answer(*, known: KnownAnswer, by: User | None) -> None:
    """Ask about the item no more. Raises LabelProjectError when somebody has had it: their marks rest on it."""
    label_project = known.label_project
    LabelProject.objects.select_for_update(of=("self",)).get(pk=label_project.pk)
    if Assignment.objects.filter(label_project=label_project, item=known.item_id).exists():
        raise LabelProjectError(f"Somebody has answered the item {known.item}; its known answers stay, as marks do.")
    known.delete()
    _audit(label_project, by, "known answer removed", item=known.item.external_id)


def _audit(label_project: LabelProject, by: User | None, action: str, **detail: Any) -> None:
    audit(project=label_project.project, user=by, action=action, label_project=label_project.slug, **detail)


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
    asked_for = checks_due(label_project, member.user_id, handled)
    if not asked_for:
        return None
    asked = Assignment.objects.filter(label_project=label_project, annotator=member.user_id, purpose__in=CHECKS).count()
    if asked >= asked_for:
        return None
    left = {known.item.external_id: known for known in _not_had(member).filter(purpose__in=CHECKS)}
    drawn = drawn_first(left, key=_seed_of(label_project, member.user_id))
    return left[drawn] if drawn is not None else None


def checks_due(label_project: LabelProject, user_id: int, handled: int) -> int:
    """How many gold items and attention checks the person is to have had after `handled` ordinary items."""
    return due(handled, every=label_project.gold_every, key=_seed_of(label_project, user_id))


def _seed_of(label_project: LabelProject, user_id: int) -> str:
    return f"{label_project.seed}/{label_project.slug}/{user_id}"


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
    marked = training_marks(member)
    done = [item for item in marked.values() if item is not None]
    if not done or len(done) < len(marked):
        return member
    share = share_right(done)
    passed = share is None or share >= (member.label_project.pass_mark or 0)
    field = "qualified_at" if passed else "failed_at"
    setattr(member, field, timezone.now())
    member.save(update_fields=[field])
    return member


def training_marks(member: LabelMember) -> dict[int, dict[str, bool] | None]:
    """By item of the training, whether each of its questions was answered right; None before it is done.

    All questions of a skipped item are answered wrong.
    """
    known = dict(
        KnownAnswer.objects.filter(
            label_project=member.label_project_id, purpose=KnownAnswer.Purpose.TRAINING
        ).values_list("item", "answers")
    )
    places = Assignment.objects.of(member.label_project_id, member.user_id).finished()
    done = dict(places.filter(purpose=Assignment.Purpose.TRAINING).values_list("pk", "item"))
    given: dict[int, dict[str, Any]] = {item: {} for item in done.values()}
    standing = Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=list(done), superseded_by=None, item__in=known
    )
    for item, question, value in standing.values_list("item_id", "question", "value"):
        given[item][question] = value
    return {item: marks(right, given[item]) if item in given else None for item, right in known.items()}
