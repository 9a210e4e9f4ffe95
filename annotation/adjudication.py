"""What an adjudicator reads: items in the order of their disagreement, and all answers to one with its decisions."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils.text import Truncator

from annotation.allocation import disagreement
from annotation.models import Assignment, Decision, LabelProject
from annotation.querysets import simulated_annotators
from materials.item_parts import item_title
from materials.models import Item
from materials.questions import count_rows
from responses.models import Response, SourceKind
from responses.showing import value_text

DISPUTED, UNDECIDED, FLAGGED, SKIPPED, DECIDED, ALL = "disputed", "undecided", "flagged", "skipped", "decided", "all"
SHOWN = {
    DISPUTED: "Disputed, undecided",
    UNDECIDED: "Undecided",
    FLAGGED: "Flagged",
    SKIPPED: "Skipped",
    DECIDED: "Decided",
    ALL: "All that were answered",
}
LABEL_LENGTH = 80  # characters of an answer in the list
KEPT = {  # conditions on an item's rows: one for each question that was answered, and an empty one where it is noted
    DISPUTED: "bool_or(dispute > 0 AND NOT decided)",
    UNDECIDED: "bool_or(NOT decided)",
    FLAGGED: "bool_or(question = '')",
    SKIPPED: "bool_or(question = '')",
    DECIDED: "bool_or(decided)",
    ALL: "true",
}
# On the way back are also those that were just decided, so that a slip can be put right.
KEPT_BEHIND = KEPT | {DISPUTED: "bool_or(dispute > 0)", UNDECIDED: "true"}
NOTED = {
    FLAGGED: "SELECT DISTINCT item_id FROM annotation_flag WHERE label_project_id = %(label_project)s",
    SKIPPED: """SELECT DISTINCT item_id FROM annotation_assignment
                WHERE label_project_id = %(label_project)s AND status = 'skipped' AND purpose = 'label'""",
}
NOTED_ROWS = "UNION ALL SELECT item_id, '', NULL, NULL FROM ({noted}) noted"
# Items that two people answered; where values are named, only those that they answered so.
PAIR = """
JOIN (SELECT DISTINCT one.item_id FROM answer one JOIN answer other USING (item_id, question)
      WHERE one.annotator_id = %(first)s AND other.annotator_id = %(second)s
        AND (%(one)s::jsonb IS NULL OR one.value = %(one)s::jsonb)
        AND (%(other)s::jsonb IS NULL OR other.value = %(other)s::jsonb)) pair USING (item_id)"""
# For each item and question the share of disagreeing pairs of answers; of an item its mean over the questions.
QUEUE = """
WITH answer AS (
  SELECT place.item_id, place.annotator_id, answer.question, answer.value
  FROM responses_response answer JOIN annotation_assignment place ON place.id = answer.source_id
  WHERE place.label_project_id = %(label_project)s AND place.purpose = 'label' AND answer.source_kind = 'assignment'
    AND answer.superseded_by_id IS NULL AND answer.question = ANY(%(questions)s)),
value AS (SELECT item_id, question, count(*)::int AS n FROM answer GROUP BY item_id, question, answer.value),
decision AS (SELECT DISTINCT item_id, question FROM annotation_decision WHERE label_project_id = %(label_project)s),
asked AS (
  SELECT value.item_id, value.question,
         1 - sum(n * (n - 1))::float8 / nullif(sum(n) * (sum(n) - 1), 0) AS dispute,
         bool_or(decision.item_id IS NOT NULL) AS decided
  FROM value LEFT JOIN decision USING (item_id, question) GROUP BY value.item_id, value.question {noted}),
queue AS (
  SELECT item_id, round(coalesce(avg(dispute), 0)::numeric, 6)::float8 AS dispute,
         coalesce(bool_and(decided), false) AS decided
  FROM asked {pair} GROUP BY item_id HAVING {kept})
"""
PAGE = "SELECT *, count(*) OVER () FROM queue ORDER BY dispute DESC, item_id LIMIT %(limit)s OFFSET %(offset)s"
NEXT = """SELECT item_id FROM queue WHERE dispute < %(dispute)s OR dispute = %(dispute)s AND item_id > %(item)s
          ORDER BY dispute DESC, item_id LIMIT 1"""
PREVIOUS = """SELECT item_id FROM queue WHERE dispute > %(dispute)s OR dispute = %(dispute)s AND item_id < %(item)s
              ORDER BY dispute, item_id DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items of the queue: by state, of one question, or those that two people answered (as named, if so)."""

    show: str = DISPUTED
    question: str = ""
    first: int | None = None
    second: int | None = None
    one: Any = None
    other: Any = None


@dataclass(frozen=True, slots=True)
class Queued:
    """`dispute`: per cent of disagreeing pairs of answers, averaged over questions.

    `people` counts those who answered, and `note` is the latest decision's. `labels`: question, answers and decision in
    words, where there are any.
    """

    item: Item
    title: str
    people: int
    dispute: float
    decided: bool
    note: str
    labels: list[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Given:
    """One person's answers to an item in the order of the questions, each with what a model suggested to them; of a
    skipped item the place says why. "" for nothing."""

    place: Assignment
    simulated: bool
    answers: list[tuple[str, str]]


def compared(label_project: LabelProject) -> list[Any]:
    """The questions whose answers can be the same: those with options."""
    return [question for question in label_project.instrument.questionnaire.questions if count_rows(question, {})]


def queue_page(label_project: LabelProject, wanted: Wanted, *, page: int, size: int) -> tuple[list[Queued], int]:
    """The items of a page, most disputed first, and how many there are in all. Costs a scan of the answers."""
    rows = _rows(PAGE, label_project, wanted, limit=size, offset=(page - 1) * size)
    items = Item.objects.in_bulk([row[0] for row in rows])
    answers = _standing(label_project, items).values_list("item_id", "source_id", "question", "value")
    people: dict[int, set[int | None]] = defaultdict(set)
    for pk, place, _, _ in answers:
        people[pk].add(place)
    decisions = _decisions(label_project, items)
    labels = _labels(label_project, items, ((pk, code, value) for pk, _, code, value in answers), decisions)
    queued = [
        Queued(
            item=items[pk],
            title=item_title(items[pk].content, label_project.item_fields),
            people=len(people[pk]),
            dispute=100 * dispute,
            decided=decided,
            note=max(decisions[pk].values(), key=lambda decision: decision.pk).note if pk in decisions else "",
            labels=labels[pk],
        )
        for pk, dispute, decided, _ in rows
    ]
    return queued, rows[0][-1] if rows else 0


def beside(label_project: LabelProject, wanted: Wanted, item: Item, *, back: bool = False) -> int | None:
    """The item that comes after this one in the queue, or before it, whether or not it is in it still.

    Before it are also items that left the queue by a decision.
    """
    values: dict[str, list[Any]] = defaultdict(list)
    codes = _codes(label_project, wanted)
    for answer in _standing(label_project, [item.pk]):
        if answer.question in codes:
            values[answer.question].append(answer.value)
    dispute = round(disagreement(values), 6)
    end, kept = (PREVIOUS, KEPT_BEHIND) if back else (NEXT, KEPT)
    found = _rows(end, label_project, wanted, kept=kept, dispute=dispute, item=item.pk)
    return found[0][0] if found else None


def _rows(
    end: str, label_project: LabelProject, wanted: Wanted, *, kept: Mapping[str, str] = KEPT, **values: Any
) -> list[tuple[Any, ...]]:
    noted = NOTED_ROWS.format(noted=NOTED[wanted.show]) if wanted.show in NOTED else ""
    pair = PAIR if wanted.first and wanted.second else ""
    named = {name: None if (value := getattr(wanted, name)) is None else json.dumps(value) for name in ("one", "other")}
    with connection.cursor() as cursor:
        cursor.execute(
            QUEUE.format(noted=noted, pair=pair, kept=kept[wanted.show]) + end,
            {
                "label_project": label_project.pk,
                "questions": _codes(label_project, wanted),
                "first": wanted.first,
                "second": wanted.second,
                **named,
                **values,
            },
        )
        return cursor.fetchall()


def _codes(label_project: LabelProject, wanted: Wanted) -> list[str]:
    return [wanted.question] if wanted.question else [question.code for question in compared(label_project)]


def _standing(label_project: LabelProject, items: Iterable[int]) -> QuerySet[Response]:
    places = Assignment.objects.filter(label_project=label_project, item__in=items, purpose=Assignment.Purpose.LABEL)
    return Response.objects.filter(
        source_kind=SourceKind.ASSIGNMENT, source_id__in=places.values("pk"), superseded_by=None
    )


def _decisions(label_project: LabelProject, items: Iterable[int]) -> dict[int, dict[str, Decision]]:
    """By item and question the latest decision."""
    found: dict[int, dict[str, Decision]] = defaultdict(dict)
    for decision in Decision.objects.filter(label_project=label_project, item__in=items).order_by("pk"):
        found[decision.item_id][decision.question] = decision
    return found


def _labels(
    label_project: LabelProject,
    items: Mapping[int, Item],
    answers: Iterable[tuple[int, str, Any]],
    decisions: Mapping[int, Mapping[str, Decision]],
) -> dict[int, list[tuple[str, str, str]]]:
    """By item the text of each question, its answers counted in words, "Yes × 2, No × 1", and its decision.

    Answers are counted where they can be the same.
    """
    questionnaire = label_project.instrument.questionnaire
    closed = {question.code for question in compared(label_project)}
    counts: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)

    def words(pk: int, code: str, value: Any) -> str:
        text = value_text(questionnaire[code], value, items[pk].content)
        return Truncator(" ".join(text.split())).chars(LABEL_LENGTH)

    for pk, code, value in answers:
        if code in closed:
            counts[pk, code][words(pk, code, value)] += 1
    return {
        pk: [
            (
                question.text,
                ", ".join(f"{label} × {n}" for label, n in counts[pk, question.code].most_common()),
                words(pk, question.code, decided[question.code].value) if question.code in decided else "",
            )
            for question in questionnaire.questions
            if counts[pk, question.code] or question.code in decided
        ]
        for pk in items
        for decided in [decisions.get(pk, {})]
    }


def given_answers(label_project: LabelProject, item: Item) -> list[Given]:
    """Everybody's answers to the item and what was skipped, by place."""
    values: dict[int, dict[str, Any]] = defaultdict(dict)
    for answer in _standing(label_project, [item.pk]):
        values[answer.source_id or 0][answer.question] = answer.value
    places = Assignment.objects.filter(
        label_project=label_project, item=item, purpose=Assignment.Purpose.LABEL, status__in=["submitted", "skipped"]
    )
    bots = simulated_annotators(label_project.project_id)
    questions = label_project.instrument.questionnaire.questions

    def words(question: Any, given: Mapping[str, Any]) -> str:
        return value_text(question, given[question.code], item.content) if question.code in given else ""

    return [
        Given(
            place,
            place.annotator_id in bots,
            [(words(question, values[place.pk]), words(question, place.suggested)) for question in questions],
        )
        for place in places.select_related("annotator").order_by("place")
    ]


def standing_decisions(label_project: LabelProject, item: Item) -> dict[str, Decision]:
    """The latest decision on each question of the item that has one."""
    decisions = Decision.objects.filter(label_project=label_project, item=item).select_related("by").order_by("pk")
    return {decision.question: decision for decision in decisions}
