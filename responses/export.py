"""The tidy export: one answer a row, streamed in constant memory, as CSV or JSON lines.

CSV cells that a spreadsheet would run as a formula get a leading apostrophe; numbers stay numbers. Platform ids are not
part of any table that is read here.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from django.db import connection, transaction
from django.db.models import QuerySet

from materials.models import Instrument
from projects.models import Project, User
from projects.services import audit
from responses.models import Response

Format = Literal["csv", "jsonl"]
CHUNK_ROWS = 2000
# Full-width signs start a formula too where spreadsheets are set to East Asian languages.
_FORMULA = re.compile("\ufeff*[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
COLUMNS_BEFORE = (
    "response_id",
    "project",
    "dataset",
    "item",
    "instrument",
    "instrument_version",
    "question",
    "kind",
    "respondent",
    "respondent_kind",
    "simulated",
    "demo_model",
)
COLUMNS_AFTER = ("sample", "value", "answered_at", "seconds", "source_kind", "source_id", "superseded")
_FIELDS = (
    "pk",
    "item__dataset__slug",
    "item__external_id",
    "instrument_id",
    "question",
    "respondent__key",
    "respondent__kind",
    "respondent__simulated",
    "respondent__demo_model",
    "respondent__attributes",
    "condition__factors",
    "sample",
    "value",
    "answered_at",
    "seconds",
    "source_kind",
    "source_id",
    "superseded_by_id",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a project's export: attributes of respondents as attr_*, factors of conditions as cond_*."""

    project: Project
    attributes: list[str]
    factors: list[str]
    instruments: dict[int, Instrument]
    kinds: Mapping[tuple[int, str], str]

    @classmethod
    def of(cls, project: Project) -> "Layout":
        instruments = {instrument.pk: instrument for instrument in project.instruments.all()}
        kinds = {(pk, q.code): q.kind for pk, made in instruments.items() for q in made.questionnaire.questions}
        attributes = _json_keys("responses_respondent", "attributes", project)
        return cls(project, attributes, _json_keys("responses_condition", "factors", project), instruments, kinds)

    @property
    def columns(self) -> list[str]:
        named = [*(f"attr_{name}" for name in self.attributes), *(f"cond_{name}" for name in self.factors)]
        return [*COLUMNS_BEFORE, *named, *COLUMNS_AFTER]

    def values(self, row: tuple[Any, ...]) -> list[Any]:
        """One row of the table from one row of _FIELDS, in the order of `columns`; what is not there is None."""
        pk, dataset, item, instrument_id, question, respondent, kind, simulated, demo_model = row[:9]
        attributes, factors, sample, value, answered_at, seconds, source_kind, source_id, superseded_by = row[9:]
        instrument = self.instruments[instrument_id]
        asked = (instrument.name, instrument.version, question, self.kinds[instrument_id, question])
        return [
            *(pk, self.project.slug, dataset, item, *asked, respondent, kind, simulated, demo_model),
            *(attributes.get(name) for name in self.attributes),
            *(factors.get(name) for name in self.factors),
            *(sample, value, _utc(answered_at), seconds, source_kind, source_id, superseded_by is not None),
        ]


def _json_keys(table: str, column: str, project: Project) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT DISTINCT jsonb_object_keys({column}) AS key FROM {table} WHERE project_id = %s ORDER BY key",
            [project.pk],
        )
        return [row[0] for row in cursor.fetchall()]


def _rows(layout: Layout, answers: QuerySet[Response]) -> Iterator[list[Any]]:
    # The named cursor of iterator() lives as long as the transaction and holds one chunk at a time.
    with transaction.atomic():
        for row in answers.order_by("pk").values_list(*_FIELDS).iterator(chunk_size=CHUNK_ROWS):
            yield layout.values(row)


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def csv_cell(value: Any) -> str:
    """The value as the text of a CSV cell: None is empty, lists and objects are JSON, formulas are neutralised.

    >>> csv_cell("=1+1"), csv_cell(-2.5), csv_cell("-2.5"), csv_cell(True), csv_cell(["a", "b"])
    ("'=1+1", '-2.5', '-2.5', 'true', '["a", "b"]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


class _Echo:
    """A file for csv.writer whose write gives the text back."""

    def write(self, text: str) -> str:
        return text


def export_responses(
    *, project: Project, answers: QuerySet[Response], format: Format, filters: str, by: User | None
) -> Iterator[str]:
    """As export_lines, after the audit log says who took which answers; `filters` is the page's query string."""
    audit(project=project, user=by, action="responses exported", format=format, filters=filters or "none")
    return export_lines(project, answers, format)


def export_lines(project: Project, answers: QuerySet[Response], format: Format) -> Iterator[str]:
    """The export's text, piece by piece, oldest answer first. Every row has the same columns."""
    layout = Layout.of(project)
    names = layout.columns
    if format == "jsonl":
        for values in _rows(layout, answers):
            yield json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False) + "\n"
        return
    writer = csv.writer(_Echo())
    yield writer.writerow([csv_cell(name) for name in names])
    for values in _rows(layout, answers):
        yield writer.writerow([csv_cell(value) for value in values])
