"""Responses a second through record_many, beside a raw COPY of the same rows into the same table."""

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

from django.db import connection, transaction

from bench.timing import interleaved
from materials.models import Instrument, Item
from materials.services import publish_instrument
from projects.models import Project
from protocols.pact.instruments import MODEL_QUESTION_CODES, PAIRED_QUESTIONS
from responses.models import RespondentKind, Response, SourceKind
from responses.services import Answer, get_condition, get_respondent, record_many

PEOPLE = 120
COLUMNS = (
    "project_id, instrument_id, source_kind, respondent_id, item_id, question, condition_id, sample, value, "
    "answered_at, seconds, source_id"
)
ANSWERED_AT = datetime(2026, 1, 1, tzinfo=UTC)


def make_instrument(project: Project) -> Instrument:
    return publish_instrument(project=project, name="paired", title="Paired", questions=PAIRED_QUESTIONS)


def make_answers(project: Project, items: Iterable[Item], *, people: int = PEOPLE) -> list[Answer]:
    """Everyone answers both paired questions about every item."""
    respondents = [
        get_respondent(
            project=project,
            kind=RespondentKind.PARTICIPANT,
            key=f"bench:{number}",
            attributes={"country": "Brazil"},
            simulated=True,
        )
        for number in range(people)
    ]
    condition = get_condition(project=project, factors={"option_order": "culture|preference"})
    return [
        Answer(
            respondent_id=respondent.pk,
            item_id=item.pk,
            question=question,
            value="culture" if (respondent.pk * 7 + item.pk) % 3 else "preference",
            condition_id=condition.pk,
            answered_at=ANSWERED_AT,
            seconds=4.2,
            source_id=respondent.pk,
        )
        for respondent, item, question in product(respondents, items, MODEL_QUESTION_CODES)
    ]


def measure_recording(project: Project, items: list[Item], *, rounds: int) -> tuple[int, dict[str, list[float]]]:
    """How many rows a round stores, and the seconds of `record_many` and `COPY` in each round, commit included.

    A first round warms both up and does not count. Rows differ between the two, and between rounds, in their sample
    number only. COPY gets its text ready-made, so that its time is the server's alone.
    """
    instrument, answers = make_instrument(project), make_answers(project, items)
    recorded = [[replace(answer, sample=2 * number) for answer in answers] for number in range(rounds + 1)]
    copied = [copy_text(project, instrument, answers, sample=2 * number + 1) for number in range(rounds + 1)]
    steps = {
        "record_many": lambda number: record_many(
            project=project, instrument=instrument, answers=recorded[number], source_kind=SourceKind.SESSION
        ),
        "COPY": lambda number: _copy(copied[number]),
    }
    seconds = interleaved(steps, rounds=rounds + 1)
    stored, expected = Response.objects.filter(project=project).count(), len(steps) * (rounds + 1) * len(answers)
    if stored != expected:
        raise RuntimeError(f"{stored} answers are stored instead of {expected}; the times are void.")
    return len(answers), {name: values[1:] for name, values in seconds.items()}


def copy_text(project: Project, instrument: Instrument, answers: Iterable[Answer], *, sample: int) -> bytes:
    """The answers as COPY's text format wants them, in the order of COLUMNS."""
    lines = io.StringIO()
    for answer in answers:
        row = (
            project.pk,
            instrument.pk,
            SourceKind.SESSION.value,
            answer.respondent_id,
            answer.item_id,
            answer.question,
            answer.condition_id,
            sample,
            json.dumps(answer.value),
            ANSWERED_AT.isoformat(),
            answer.seconds,
            answer.source_id,
        )
        lines.write("\t".join(map(str, row)) + "\n")
    return lines.getvalue().encode()


@transaction.atomic
def _copy(text: bytes) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY responses_response ({COLUMNS}) FROM STDIN") as copy,
    ):
        copy.write(text)
