"""The only writers of answers: record, record_many. Everything that collects answers calls them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import Any, Literal, TypeVar

from django.db import connection, transaction
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from materials.models import Instrument, Item
from materials.questions import NO_CONTENT, AnswerError, check_value, span_fields
from projects.models import Project
from responses.models import Condition, Respondent, RespondentKind, Response, SourceKind

BATCH_ROWS = 5000
OnConflict = Literal["keep", "supersede"]
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Answer:
    """One value to store: what the question's check_value accepts. An optional question's None is not stored."""

    respondent_id: int
    item_id: int
    question: str
    value: Any
    condition_id: int
    sample: int = 0
    answered_at: datetime | None = None
    seconds: float | None = None
    source_id: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.sample < 2**31:
            raise ValueError(f"A sample is numbered from 0 to {2**31 - 1}, not {self.sample}.")
        if self.seconds is not None and not 0 <= self.seconds < float("inf"):
            raise ValueError(f"The time of an answer is a number of seconds of at least 0, not {self.seconds}.")

    @property
    def natural_key(self) -> tuple[int, int, str, int, int]:
        return (self.respondent_id, self.item_id, self.question, self.condition_id, self.sample)


@dataclass(frozen=True, slots=True)
class Recorded:
    """How many answers were stored, how many were there already (kept), how many replaced an earlier one."""

    stored: int = 0
    kept: int = 0
    superseded: int = 0

    def __add__(self, other: "Recorded") -> "Recorded":
        return Recorded(self.stored + other.stored, self.kept + other.kept, self.superseded + other.superseded)


class ForeignAnswerError(ValueError):
    """An answer names an instrument, respondent, item or condition of another project."""


def get_respondent(
    *,
    project: Project,
    kind: RespondentKind,
    key: str,
    attributes: Mapping[str, Any],
    simulated: bool = False,
    demo_model: bool = False,
) -> Respondent:
    """The respondent with this key in the project; made with these attributes when new."""
    respondent = Respondent(
        project=project,
        key=key,
        kind=kind,
        attributes=dict(attributes),
        simulated=simulated,
        demo_model=demo_model,
    )
    return _stored_once(respondent, Respondent.objects.filter(project=project, key=key))


def get_condition(*, project: Project, factors: Mapping[str, Any]) -> Condition:
    """The project's one row for this set of factors."""
    plain = {name: _plain(value) for name, value in factors.items()}
    canonical = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    condition = Condition(project=project, digest=digest, factors=plain)
    return _stored_once(condition, Condition.objects.filter(project=project, digest=digest))


def _plain(value: Any) -> Any:
    """Whole floats as integers: temperature 0 and 0.0 are one level of a factor."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _stored_once(new: Row, same: QuerySet[Row]) -> Row:
    """The row that is there, or the new one; who makes it at the same time makes no error in the database's log."""
    found = same.first()
    if found is None:
        same.bulk_create([new], ignore_conflicts=True)
        found = same.get()
    return found


def record(
    *,
    project: Project,
    instrument: Instrument,
    answer: Answer,
    source_kind: SourceKind,
    on_conflict: OnConflict = "keep",
) -> Response | None:
    """Store one answer and return what stands for its natural key afterwards (an earlier one when kept).

    None when nothing stands: None was given to an optional question that has no answer.
    """
    record_many(
        project=project, instrument=instrument, answers=[answer], source_kind=source_kind, on_conflict=on_conflict
    )
    respondent, item, question, condition, sample = answer.natural_key
    return Response.objects.filter(
        respondent_id=respondent,
        item_id=item,
        instrument=instrument,
        question=question,
        condition_id=condition,
        sample=sample,
        superseded_by=None,
    ).first()


def record_many(
    *,
    project: Project,
    instrument: Instrument,
    answers: Iterable[Answer],
    source_kind: SourceKind,
    on_conflict: OnConflict = "keep",
) -> Recorded:
    """Store answers to questions of one instrument, all or none. Idempotent over the natural key.

    A second answer with the same natural key is kept out (`keep`: the first stands) or, when its value differs, stands
    from now on with the earlier one kept and marked (`supersede`). Raises AnswerError for a value that the instrument
    does not allow and ForeignAnswerError for ids of another project.
    """
    if instrument.project_id != project.pk:
        raise ForeignAnswerError(f"{instrument} is not in the project {project.slug}.")
    questions = {question.code: question for question in instrument.questionnaire.questions}

    texts_needed = bool(span_fields(questions.values()))

    def batches() -> Iterator[list[tuple[Answer, str]]]:
        incoming = iter(answers)
        while given := list(islice(incoming, BATCH_ROWS)):
            _refuse_foreign(project, given)
            contents = _contents(given) if texts_needed else {}
            batch = list(_checked(instrument, questions, given, contents))
            if on_conflict == "supersede":  # within a batch the last one stands
                batch = list({answer.natural_key: (answer, value) for answer, value in batch}.values())
            yield batch

    ready = batches()
    first = list(islice(ready, 2))
    # A single batch is refused, if at all, before anything is written, and so needs no savepoint.
    with transaction.atomic(savepoint=len(first) > 1):
        written = (
            _write(project, instrument, batch, source_kind, on_conflict) for batch in chain(first, ready) if batch
        )
        return sum(written, Recorded())


def _contents(answers: list[Answer]) -> dict[int, dict[str, Any]]:
    items = Item.objects.filter(pk__in={answer.item_id for answer in answers})
    return dict(items.values_list("pk", "content"))


def _checked(
    instrument: Instrument,
    questions: Mapping[str, Any],
    answers: Iterable[Answer],
    contents: Mapping[int, Mapping[str, Any]],
) -> Iterator[tuple[Answer, str]]:
    """The answers with their values as JSON; what is None is left out."""
    for answer in answers:
        question = questions.get(answer.question)
        if question is None:
            raise AnswerError(answer.question, f"{instrument} has no such question.")
        value = check_value(question, answer.value, contents.get(answer.item_id, NO_CONTENT))
        if value is not None:
            yield answer, json.dumps(value, ensure_ascii=False)


# How many of the ids are the project's, in one round trip.
OF_PROJECT = """SELECT
    (SELECT count(*) FROM responses_respondent WHERE project_id = %(project)s AND id = ANY(%(respondent)s)),
    (SELECT count(*) FROM materials_item AS item JOIN materials_dataset AS dataset ON dataset.id = item.dataset_id
     WHERE dataset.project_id = %(project)s AND item.id = ANY(%(item)s)),
    (SELECT count(*) FROM responses_condition WHERE project_id = %(project)s AND id = ANY(%(condition)s))"""


def _refuse_foreign(project: Project, answers: list[Answer]) -> None:
    named = {
        "respondent": list({answer.respondent_id for answer in answers}),
        "item": list({answer.item_id for answer in answers}),
        "condition": list({answer.condition_id for answer in answers}),
    }
    with connection.cursor() as cursor:
        cursor.execute(OF_PROJECT, named | {"project": project.pk})
        for (noun, ids), known in zip(named.items(), cursor.fetchone(), strict=True):
            if known != len(ids):
                raise ForeignAnswerError(f"An answer names a {noun} that is not in the project {project.slug}.")


def withdraw(*, source_kind: SourceKind, source_id: int, questions: Iterable[str]) -> int:
    """Take back the standing answers of one source to these questions: the number of answers taken back.

    They are kept as history. Nothing replaces them, so each is marked as superseded by itself.
    """
    return _withdraw(
        Response.objects.filter(source_kind=source_kind, source_id=source_id, question__in=list(questions))
    )


def withdraw_all(*, source_kind: SourceKind, source_ids: Iterable[int]) -> int:
    """As withdraw, of several sources and to every question."""
    return _withdraw(Response.objects.filter(source_kind=source_kind, source_id__in=list(source_ids)))


def _withdraw(answers: QuerySet[Response]) -> int:
    return answers.filter(superseded_by=None).update(superseded_by=F("pk"))


# Arrays through unnest take the same path for one answer and for thousands; see docs/decisions for the measurement.
INCOMING = """unnest(%(id)s::bigint[], %(respondent_id)s::bigint[], %(item_id)s::bigint[], %(question)s::text[],
    %(condition_id)s::bigint[], %(sample)s::int[], %(value)s::jsonb[], %(answered_at)s::timestamptz[],
    %(seconds)s::float8[], %(source_id)s::bigint[])
  AS incoming(id, respondent_id, item_id, question, condition_id, sample, value, answered_at, seconds, source_id)"""
SUPERSEDE = f"""
UPDATE responses_response AS old SET superseded_by_id = incoming.id FROM {INCOMING}
WHERE old.superseded_by_id IS NULL AND old.instrument_id = %(instrument_id)s AND old.value <> incoming.value
  AND (old.respondent_id, old.item_id, old.question, old.condition_id, old.sample)
    = (incoming.respondent_id, incoming.item_id, incoming.question, incoming.condition_id, incoming.sample)"""
INSERT = f"""
INSERT INTO responses_response (id, project_id, instrument_id, source_kind, respondent_id, item_id, question,
                                condition_id, sample, value, answered_at, seconds, source_id)
SELECT id, %(project_id)s, %(instrument_id)s, %(source_kind)s, respondent_id, item_id, question, condition_id,
       sample, value, answered_at, seconds, source_id
FROM {INCOMING} ORDER BY id
ON CONFLICT DO NOTHING"""
# Where nothing is superseded nobody needs the ids beforehand; what goes in as `id` is the order.
NEXT_ID = "nextval(pg_get_serial_sequence('responses_response', 'id'))"
INSERT_NEW = INSERT.replace("SELECT id,", f"SELECT {NEXT_ID},")


def _write(
    project: Project,
    instrument: Instrument,
    batch: list[tuple[Answer, str]],
    source_kind: SourceKind,
    on_conflict: OnConflict,
) -> Recorded:
    answers = [answer for answer, _ in batch]
    now = timezone.now()
    with connection.cursor() as cursor:
        ids = list(range(len(batch)))
        if on_conflict == "supersede":
            cursor.execute(f"SELECT {NEXT_ID} FROM generate_series(1, %s)", [len(batch)])
            ids = [row[0] for row in cursor.fetchall()]
        values: dict[str, Any] = {
            "id": ids,
            "respondent_id": [answer.respondent_id for answer in answers],
            "item_id": [answer.item_id for answer in answers],
            "question": [answer.question for answer in answers],
            "condition_id": [answer.condition_id for answer in answers],
            "sample": [answer.sample for answer in answers],
            "value": [value for _, value in batch],
            "answered_at": [answer.answered_at or now for answer in answers],
            "seconds": [answer.seconds for answer in answers],
            "source_id": [answer.source_id for answer in answers],
            "project_id": project.pk,
            "instrument_id": instrument.pk,
            "source_kind": str(source_kind),
        }
        superseded = 0
        if on_conflict == "supersede":
            # Two tabs of one person must queue up, or the later answer would meet the earlier one and be dropped.
            # NO KEY leaves the foreign key checks of other writers alone; a full lock would deadlock with them.
            respondents = Respondent.objects.filter(pk__in=set(values["respondent_id"])).order_by("pk")
            list(respondents.select_for_update(no_key=True).values_list("pk"))
            cursor.execute(SUPERSEDE, values)
            superseded = cursor.rowcount
        cursor.execute(INSERT if on_conflict == "supersede" else INSERT_NEW, values)
        stored = cursor.rowcount
        # A writer with `keep` takes no lock and may have been first; what it stored is visible now, and is superseded.
        while on_conflict == "supersede" and stored < len(batch):
            cursor.execute(SUPERSEDE, values)
            if not cursor.rowcount:  # the rest stands already with the same value
                break
            superseded += cursor.rowcount
            cursor.execute(INSERT, values)
            stored += cursor.rowcount
    return Recorded(stored=stored, kept=len(batch) - stored, superseded=superseded)
