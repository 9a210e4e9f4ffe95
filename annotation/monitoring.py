"""What the researcher watches: items by state, people, labels, and what was flagged or skipped. Counted in SQL."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.marking import marks
from annotation.models import Assignment, Flag, KnownAnswer, LabelMember, LabelProject
from annotation.querysets import simulated_annotators
from materials.item_parts import item_title
from materials.questions import count_rows, counted
from projects.models import User
from responses.intervals import Share, wilson_share
from responses.querysets import MedianSeconds

# The page looks every few seconds. What takes long to count is counted again only after so many times as long, so that
# watching a hundred thousand items costs a twentieth of a core at most.
SPARING = 20
# Answers to items without known answers; what a person's work left out is withdrawn and so does not stand.
STANDING = """
FROM responses_response answer JOIN annotation_assignment place ON place.id = answer.source_id
WHERE place.label_project_id = %(label_project)s AND place.purpose = 'label'
  AND answer.source_kind = 'assignment' AND answer.superseded_by_id IS NULL"""
VALUES = f"""
SELECT question, value, count(*)
FROM (SELECT answer.question, CASE WHEN answer.question = ANY(%(closed)s) THEN answer.value END AS value
      {STANDING}) given
GROUP BY question, value"""
# The answers of places that were left out still say how good a person was; taken back with them, they stand no more.
KNOWN = """
SELECT place.id, answer.question, answer.value
FROM annotation_assignment place JOIN responses_response answer ON answer.source_id = place.id
WHERE place.label_project_id = %(label_project)s AND place.purpose <> 'label' AND answer.source_kind = 'assignment'
  AND (answer.superseded_by_id IS NULL OR place.status = 'invalid' AND answer.superseded_by_id = answer.id)"""


@dataclass(frozen=True, slots=True)
class LabelCount:
    label: str
    n: int
    share: float  # per cent of the question's answers


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """A question's number of answers, and for closed ones how often each option was chosen."""

    code: str
    text: str
    answers: int
    counts: tuple[LabelCount, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was named or has begun, with counts of items; `accuracy` by the purpose of known answers."""

    pk: int
    name: str
    member: LabelMember | None
    done: int
    skipped: int
    left_out: int
    flags: int
    holds: bool
    seconds: float | None  # median of an item; None before the first
    accuracy: Mapping[str, Share]  # of the questions with known answers; NaN without any
    simulated: bool


def live(label_project: LabelProject) -> dict[str, Any]:
    """`states`, `people`, `questions` and `attention`, as they were a moment ago where counting takes long."""
    key = f"labelling-live:{label_project.pk}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        started = perf_counter()
        found = {
            "states": states(label_project),
            "people": people(label_project),
            "questions": question_summaries(label_project),
            "attention": attention(label_project),
        }
        cache.set(key, found, int(SPARING * (perf_counter() - started)))
    return found


def states(label_project: LabelProject) -> dict[str, int]:
    """Counts of items: all places answered, some answered, none answered; and of places by status."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*), count(*) FILTER (WHERE submitted = places), count(*) FILTER (WHERE submitted = 0),
                      coalesce(sum(places), 0), coalesce(sum(submitted), 0), coalesce(sum(free), 0),
                      coalesce(sum(skipped), 0)
               FROM (SELECT count(*)::int AS places, count(*) FILTER (WHERE status = 'submitted')::int AS submitted,
                            count(*) FILTER (WHERE status = 'free')::int AS free,
                            count(*) FILTER (WHERE status = 'skipped')::int AS skipped
                     FROM annotation_assignment
                     WHERE label_project_id = %s AND purpose = 'label' AND status <> 'invalid'
                     GROUP BY item_id) item""",
            [label_project.pk],
        )
        names = ("items", "complete", "unanswered", "places", "submitted", "free", "skipped")
        counts = dict(zip(names, map(int, cursor.fetchone()), strict=True))
    counts["partial"] = counts["items"] - counts["complete"] - counts["unanswered"]
    counts["leased"] = counts["places"] - counts["submitted"] - counts["free"] - counts["skipped"]
    return counts


def people(label_project: LabelProject) -> list[Person]:
    """By name."""
    members = {member.user_id: member for member in LabelMember.objects.filter(label_project=label_project)}
    flags = dict(
        Flag.objects.filter(label_project=label_project).order_by().values_list("annotator").annotate(n=Count("pk"))
    )
    counts = {row["annotator"]: row for row in _counts(label_project)}
    accuracy = accuracy_of(label_project)
    bots = simulated_annotators(label_project.project_id)
    names = dict(User.objects.filter(pk__in={*members, *counts}).values_list("pk", "username"))
    nothing = {"done": 0, "skipped": 0, "left_out": 0, "holds": 0, "seconds": None}
    found = [
        Person(
            pk=pk,
            name=names[pk],
            member=members.get(pk),
            flags=flags.get(pk, 0),
            accuracy=accuracy[pk],
            simulated=pk in bots and counts.get(pk, nothing)["done"] > 0,
            **{name: counts.get(pk, nothing)[name] for name in nothing},
        )
        for pk in names
    ]
    return sorted(found, key=lambda person: person.name)


def _counts(label_project: LabelProject) -> Iterable[Any]:
    ordinary = Q(purpose=Assignment.Purpose.LABEL)
    return (
        Assignment.objects.filter(label_project=label_project, annotator__isnull=False)
        .values("annotator")
        .annotate(
            done=Count("pk", filter=ordinary & Q(status="submitted")),
            skipped=Count("pk", filter=ordinary & Q(status="skipped")),
            left_out=Count("pk", filter=ordinary & Q(status="invalid", skip_reason="")),
            holds=Count("pk", filter=Q(status="leased")),
            seconds=MedianSeconds(F("finished_at") - F("opened_at"), filter=ordinary & Q(status="submitted")),
        )
    )


def accuracy_of(label_project: LabelProject) -> dict[int, dict[str, Share]]:
    """By person and purpose the share of known answers that were met; those to a skipped item were not."""
    known = {entry.item_id: entry.answers for entry in label_project.known_answers.all()}
    given: dict[int, dict[str, Any]] = defaultdict(dict)
    if known:
        for place, question, value in _rows(KNOWN, label_project):
            given[place][question] = json.loads(value)
    right: dict[tuple[int, str], list[bool]] = defaultdict(list)
    places = Assignment.objects.filter(label_project=label_project, finished_at__isnull=False, item__in=known)
    for pk, user, item, purpose in places.exclude(purpose="label").values_list("pk", "annotator", "item", "purpose"):
        right[user, purpose] += marks(known[item], given[pk]).values()
    shares: dict[int, dict[str, Share]] = defaultdict(
        lambda: {purpose: wilson_share(0, 0) for purpose in KnownAnswer.Purpose.values}
    )
    for (user, purpose), marked in right.items():
        shares[user][purpose] = wilson_share(sum(marked), len(marked))
    return shares


def question_summaries(label_project: LabelProject) -> list[QuestionSummary]:
    """The labels of each question in the instrument's order; open questions have only a number of answers.

    An answer to a `multi` question counts once for each option it holds, of a ranking the first place counts.
    """
    questions = label_project.instrument.questionnaire.questions
    closed = {question.code: question for question in questions if count_rows(question, {})}
    answers: dict[str, int] = defaultdict(int)
    labels: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for code, value, n in _rows(VALUES, label_project, closed=list(closed)):
        answers[code] += n
        for label in counted(closed[code], json.loads(value)) if code in closed else ():
            labels[code][label] += n
    return [
        QuestionSummary(
            code=question.code,
            text=question.text,
            answers=answers[question.code],
            counts=tuple(_label_counts(question, labels[question.code], answers[question.code])),
        )
        for question in questions
    ]


def _label_counts(question: Any, labels: Mapping[str, int], answers: int) -> Iterator[LabelCount]:
    for code, label in label_names(question):
        n = labels.get(code, 0)
        if n or question.kind != "scale":
            yield LabelCount(label, n, 100 * n / answers if answers else 0)


def label_names(question: Any) -> list[tuple[str, str]]:
    """What is counted of a closed question, with its words for items in general.

    Where the text differs from item to item the field's name stands for it.
    """
    if question.kind == "pairwise":
        fields = {"first": question.first_field, "second": question.second_field}
    else:
        fields = {option.text_field: option.text_field for option in getattr(question, "options", ())}
    content = dict(zip(fields.values(), fields.values(), strict=True))
    return count_rows(question, content)


def _rows(statement: str, label_project: LabelProject, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"label_project": label_project.pk, **values})
        return cursor.fetchall()


def attention(label_project: LabelProject, limit: int = 50) -> list[dict[str, Any]]:
    """The latest flags and skips with who, why and on which item, newest first; `labelled` where it can be decided.

    `title` is the beginning of the item's text.
    """
    labelled = Assignment.objects.filter(label_project=label_project, item=OuterRef("item"), purpose="label")
    flags = Flag.objects.filter(label_project=label_project).annotate(labelled=Exists(labelled))
    skips = (
        Assignment.objects.filter(label_project=label_project, status="skipped", purpose="label")
        .select_related("item", "annotator")
        .order_by("-finished_at")
    )
    rows: list[dict[str, Any]] = [
        {
            "kind": "flagged",
            "item": f.item,
            "labelled": f.labelled,
            "who": f.annotator,
            "why": f.note,
            "at": f.created_at,
        }
        for f in flags.select_related("item", "annotator")[:limit]
    ] + [
        {
            "kind": "skipped",
            "item": s.item,
            "labelled": True,
            "who": s.annotator,
            "why": s.skip_reason,
            "at": s.finished_at,
        }
        for s in skips[:limit]
    ]
    latest = sorted(rows, key=lambda row: row["at"], reverse=True)[:limit]
    return [row | {"title": item_title(row["item"].content, label_project.item_fields)} for row in latest]
