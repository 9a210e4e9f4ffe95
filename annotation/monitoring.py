"""What the researcher watches: items by state, people, labels and raw agreement. Everything is counted in SQL."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, F, Q

from annotation.models import Assignment, Flag, LabelProject
from annotation.querysets import simulated_annotators
from materials.questions import option_codes, option_label
from responses.querysets import MedianSeconds

CLOSED_KINDS = ("choice", "multi", "pairwise", "scale")


@dataclass(frozen=True, slots=True)
class LabelCount:
    label: str
    n: int
    share: float  # per cent of the question's answers


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """`agreement`: mean over `items` of the per cent of agreeing pairs of answers; None with `reason` if undefined."""

    code: str
    text: str
    answers: int
    counts: tuple[LabelCount, ...]
    agreement: float | None
    items: int
    reason: str = ""


def states(label_project: LabelProject) -> dict[str, int]:
    """Counts of items: all places answered, some answered, none answered; and of places by status."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*), count(*) FILTER (WHERE submitted = places), count(*) FILTER (WHERE submitted = 0),
                      coalesce(sum(places), 0), coalesce(sum(submitted), 0), coalesce(sum(free), 0),
                      coalesce(sum(skipped), 0)
               FROM (SELECT count(*) AS places, count(*) FILTER (WHERE status = 'submitted') AS submitted,
                            count(*) FILTER (WHERE status = 'free') AS free,
                            count(*) FILTER (WHERE status = 'skipped') AS skipped
                     FROM annotation_assignment WHERE label_project_id = %s GROUP BY item_id) item""",
            [label_project.pk],
        )
        names = ("items", "complete", "unanswered", "places", "submitted", "free", "skipped")
        counts = dict(zip(names, map(int, cursor.fetchone()), strict=True))
    counts["partial"] = counts["items"] - counts["complete"] - counts["unanswered"]
    counts["leased"] = counts["places"] - counts["submitted"] - counts["free"] - counts["skipped"]
    return counts


def people(label_project: LabelProject) -> list[dict[str, Any]]:
    """Per annotator: name, done, skipped, flags, median seconds an item (None before the first), simulated."""
    flags = dict(
        Flag.objects.filter(label_project=label_project)
        .values("annotator")
        .annotate(n=Count("pk"))
        .values_list("annotator", "n")
    )
    rows = (
        Assignment.objects.filter(label_project=label_project, annotator__isnull=False)
        .values("annotator", name=F("annotator__username"))
        .annotate(
            done=Count("pk", filter=Q(status="submitted")),
            skipped=Count("pk", filter=Q(status="skipped")),
            seconds=MedianSeconds(F("finished_at") - F("opened_at"), filter=Q(status="submitted")),
        )
        .order_by("name")
    )
    bots = simulated_annotators(label_project.project_id)
    return [
        {**row, "flags": flags.get(row["annotator"], 0), "simulated": row["annotator"] in bots and row["done"] > 0}
        for row in rows
    ]


# One row for each question, item and value, with how many gave it.
VALUES = """
SELECT answer.question, answer.item_id, answer.value, count(*) AS n
FROM responses_response answer JOIN annotation_assignment place ON place.id = answer.source_id
WHERE place.label_project_id = %s AND answer.source_kind = 'assignment' AND answer.superseded_by_id IS NULL
  AND answer.question = ANY(%s)
GROUP BY answer.question, answer.item_id, answer.value"""
AGREEMENT = f"""
SELECT question, count(*), avg(agreeing / (answers * (answers - 1)))
FROM (SELECT question, sum(n) AS answers, sum(n * (n - 1)) AS agreeing
      FROM ({VALUES}) value GROUP BY question, item_id HAVING sum(n) > 1) item
GROUP BY question"""
DISTRIBUTION = f"""
SELECT question, label, sum(n)
FROM (SELECT question, n, jsonb_array_elements_text(
        CASE WHEN jsonb_typeof(value) = 'array' THEN value ELSE jsonb_build_array(value) END) AS label
      FROM ({VALUES}) value) label GROUP BY question, label"""
ANSWERS = f"SELECT question, sum(n) FROM ({VALUES}) value GROUP BY question"


def question_summaries(label_project: LabelProject) -> list[QuestionSummary]:
    """Label counts and raw agreement for each question with fixed options; only the number of answers for the others.

    A `multi` answer agrees with another when the same options are chosen.
    """
    questions = label_project.instrument.questionnaire.questions
    answers = {question: int(n) for question, n in _rows(ANSWERS, label_project, [q.code for q in questions])}
    closed = [question.code for question in questions if question.kind in CLOSED_KINDS]
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for question, label, n in _rows(DISTRIBUTION, label_project, closed):
        counts[question][label] = int(n)
    agreement = {question: (items, float(value)) for question, items, value in _rows(AGREEMENT, label_project, closed)}
    return [
        _summary(question, answers.get(question.code, 0), counts[question.code], agreement.get(question.code))
        for question in questions
    ]


def _rows(statement: str, label_project: LabelProject, questions: list[str]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [label_project.pk, questions])
        return cursor.fetchall()


def _summary(
    question: Any, answers: int, counts: dict[str, int], agreement: tuple[int, float] | None
) -> QuestionSummary:
    closed = question.kind in CLOSED_KINDS
    return QuestionSummary(
        code=question.code,
        text=question.text,
        answers=answers,
        counts=tuple(
            LabelCount(_label(question, code), n, 100 * n / answers if answers else 0)
            for code in (option_codes(question) if closed else ())
            if (n := counts.get(code, 0)) or question.kind != "scale"
        ),
        agreement=100 * agreement[1] if agreement else None,
        items=agreement[0] if agreement else 0,
        reason="no item has two answers yet" if closed else "open question",
    )


def _label(question: Any, code: str) -> str:
    """The option's own text; the field's name where the text differs from item to item."""
    if question.kind == "pairwise":
        return {"first": question.first_field, "second": question.second_field}.get(code, "Both equally")
    if question.kind == "scale":
        return option_label(question, code, {})
    option = next(option for option in question.options if option.code == code)
    return option.text or option.text_field


def attention(label_project: LabelProject, limit: int = 50) -> list[dict[str, Any]]:
    """The latest flags and skips with who, why and on which item, newest first."""
    flags = Flag.objects.filter(label_project=label_project).select_related("item", "annotator")[:limit]
    skips = (
        Assignment.objects.filter(label_project=label_project, status="skipped")
        .select_related("item", "annotator")
        .order_by("-finished_at")[:limit]
    )
    rows: list[dict[str, Any]] = [
        {"kind": "flagged", "item": f.item, "who": f.annotator, "why": f.note, "at": f.created_at} for f in flags
    ] + [
        {"kind": "skipped", "item": s.item, "who": s.annotator, "why": s.skip_reason, "at": s.finished_at}
        for s in skips
    ]
    return sorted(rows, key=lambda row: row["at"], reverse=True)[:limit]
