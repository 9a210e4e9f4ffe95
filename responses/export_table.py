"""The table of an export: its columns and its rows, one an answer or one a respondent's answers about an item.

Rows come from a server-side cursor, a chunk at a time. Platform ids are not part of any table that is read here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from django.db import connection, transaction
from django.db.models import Exists, F, Func, JSONField, OuterRef, QuerySet, Value

from projects.models import Project
from responses.export_columns import (
    LEFT,
    RIGHT,
    Column,
    Type,
    merged,
    merged_factors,
    pair_side,
    question_cells,
    question_columns,
    type_of_json,
)
from responses.models import Response, SourceKind
from responses.sources import occasion, ordinary, with_details

CHUNK_ROWS = 2000
CHUNK_ROWS_WITH_TEXTS = 200
Shape = Literal["tidy", "wide"]
Row = dict[str, Any]
Read = Callable[[Mapping[str, Any]], Any]
ORDER = "option_order"  # the condition's factor
SUGGESTION = "cond_suggestion"  # how a suggestion was shown, where annotators saw any
OCCASION = ("item_id", "respondent_id", "instrument_id", "sample", "occasion")


class ExportError(ValueError):
    """An export that cannot be made as asked for; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What an export holds. `item_fields`: names of fields of the items, whose content is a column each."""

    shape: Shape = "tidy"
    item_fields: tuple[str, ...] = ()
    superseded: bool = False  # answers that were replaced or taken back
    durations: bool = False
    known: bool = False  # answers to training items, gold items and attention checks


class Table:
    """The columns and rows of some answers of a project. Raises ExportError for choices that do not fit them.

    Attributes of respondents are columns attr_*, factors of conditions cond_*, fields of items item_* and, where a row
    is an item, questions q_*; only what these answers have.
    """

    def __init__(self, project: Project, answers: QuerySet[Response], choices: Choices) -> None:
        self.project, self.choices = project, choices
        answers = answers if choices.known else ordinary(answers)
        self.answers = answers if choices.superseded else answers.filter(superseded_by=None)
        self.instruments = {found.pk: found for found in self._having(project.instruments.order_by("pk"), "instrument")}
        self.questions = {
            (pk, question.code): question
            for pk, found in self.instruments.items()
            for question in found.questionnaire.questions
        }
        self._pairs = dict.fromkeys(code for (_, code), found in self.questions.items() if found.kind == "pairwise")
        self._check(choices)
        self._factors = list(self._conditions())
        self._suggests = any(column.name == SUGGESTION for column, _ in self._factors)
        self._cells = list(self._tidy() if choices.shape == "tidy" else self._wide())
        self.columns = [column for column, _ in self._cells]

    def rows(self) -> Iterator[list[Any]]:
        """The cells of each row in the order of `columns`; what is not there is None."""
        reads = [read for _, read in self._cells]
        for row in self._answers() if self.choices.shape == "tidy" else self._occasions():
            yield [read(row) for read in reads]

    def _check(self, choices: Choices) -> None:
        if choices.shape == "wide" and choices.superseded:
            raise ExportError("Superseded answers have a row each; take one row an answer, or leave them out.")
        known = fields_of(self.project, self.answers) if choices.item_fields else []
        if unknown := [name for name in choices.item_fields if name not in known]:
            raise ExportError(f"The items have no field {', '.join(unknown)}; they have {', '.join(known) or 'none'}.")

    def _having(self, rows: QuerySet[Any], path: str) -> QuerySet[Any]:
        """Those of the rows that the answers lead to."""
        return rows.filter(Exists(self.answers.filter(**{path: OuterRef("pk")})))

    def _tidy(self) -> Iterator[tuple[Column, Read]]:
        yield _plain("response_id", "integer", "pk", "Number of the answer")
        yield from self._where()
        yield _plain("question", "text", "question", "Code of the question")
        yield Column("kind", "text", "Kind of the question, which says how to read the value"), self._kind
        yield from self._who()
        yield _plain("value", "json", "value", "The answer as it is stored: codes of options, numbers, texts")
        if self._pairs:
            about = f"For a pair of texts the side of the chosen one, {LEFT} or {RIGHT}; empty for a tie and elsewhere"
            yield Column("side", "text", about), self._side
        if self._suggests:
            yield Column("suggested", "json", "What a model suggested to the person"), _suggested
            about = "Whether the person judged that right or wrong; empty where they were not asked to"
            yield Column("verdict", "text", about), _verdict
        yield from self._when()
        if self.choices.superseded:
            yield Column("superseded", "boolean", "Whether it was replaced or taken back"), _is_superseded
            about = "Number of the answer that replaced it; its own when it was taken back"
            yield _plain("superseded_by", "integer", "superseded_by_id", about)
            yield Column("superseded_at", "time", "When it was replaced"), _superseded_at
            about = "Why the work that it belongs to was left out; empty where it was not"
            yield _plain("left_out_reason", "text", "left_out_reason", about)

    def _wide(self) -> Iterator[tuple[Column, Read]]:
        yield from self._where()
        yield from self._who()
        columns = merged(column for asked in self.questions.values() for column in question_columns(asked))
        for column in columns:
            yield column, _cell_of("answers", column.name)
        for code in self._pairs:
            about = f"The side of the text that was chosen for {code}, {LEFT} or {RIGHT}; empty for a tie"
            yield Column(f"side_{code}", "text", about, question=code), _cell_of("sides", code)
        if self._suggests:
            for code in dict.fromkeys(code for _, code in self.questions):
                about = f"What a model suggested to the person for {code}"
                yield Column(f"suggested_{code}", "json", about, question=code), _cell_of("suggested", code)
                about = f"Whether the person judged the suggestion for {code} right or wrong; empty where not asked to"
                yield Column(f"verdict_{code}", "text", about, question=code), _cell_of("verdicts", code)
        yield from self._when()

    def _where(self) -> Iterator[tuple[Column, Read]]:
        yield Column("project", "text", "Short name of the project"), lambda row: self.project.slug
        yield _plain("dataset", "text", "item__dataset__slug", "Short name of the dataset")
        yield _plain("item", "text", "item__external_id", "Id of the item in its dataset")
        for place, name in enumerate(self.choices.item_fields):
            about = f"The item's {name}, as it was imported"
            yield _plain(f"item_{name}", "json", f"field_{place}", about)
        yield Column("instrument", "text", "Name of the instrument"), self._instrument_name
        yield Column("instrument_version", "integer", "Its version"), self._instrument_version

    def _who(self) -> Iterator[tuple[Column, Read]]:
        yield _plain("respondent", "text", "respondent__key", "Who answered, by a key that tells no name")
        yield _plain("respondent_kind", "text", "respondent__kind", "annotator, participant or model")
        yield _plain("simulated", "boolean", "respondent__simulated", "Whether a bot answered in a person's place")
        yield _plain("demo_model", "boolean", "respondent__demo_model", "Whether it is the demo's tiny model")
        respondents = self._having(self.project.respondents.all(), "respondent")
        for name, type in _keys(respondents, "attributes"):
            yield Column(f"attr_{name}", type, f"The respondent's {name}"), _cell_of("respondent__attributes", name)
        yield from self._factors
        yield _plain("sample", "integer", "sample", "Which time the same was asked, from 0")
        about = "label for what counts; training, gold and attention for items with known answers; empty elsewhere"
        yield _plain("purpose", "text", "purpose", about)

    def _when(self) -> Iterator[tuple[Column, Read]]:
        yield Column("answered_at", "time", "When it was answered; of a row of several answers the last"), _answered_at
        if self.choices.durations:
            about = "Seconds from seeing the questions to answering them; empty where an answer was changed"
            yield _plain("seconds", "number", "seconds", about)
            about = "Seconds with the item in view until the first sending, where the page told"
            yield _plain("seconds_in_view", "number", "seconds_in_view", about)
        yield _plain("source_kind", "text", "source_kind", "Where it came from: assignment, session, call or import")
        yield _plain("source_id", "integer", "source_id", "Number of that")

    def _conditions(self) -> Iterator[tuple[Column, Read]]:
        for name, type in _keys(self._having(self.project.conditions.all(), "condition"), "factors"):
            about = f"The condition's {name}; where the row's questions differ in it, question by question"
            yield Column(f"cond_{name}", type, about), _cell_of("condition__factors", name)

    def _instrument_name(self, row: Mapping[str, Any]) -> str:
        return self.instruments[row["instrument_id"]].name

    def _instrument_version(self, row: Mapping[str, Any]) -> int:
        return self.instruments[row["instrument_id"]].version

    def _kind(self, row: Mapping[str, Any]) -> str:
        kind: str = self.questions[row["instrument_id"], row["question"]].kind
        return kind

    def _side(self, row: Mapping[str, Any]) -> str | None:
        """None as well for answers that were imported without saying how they were asked for."""
        question, order = self.questions[row["instrument_id"], row["question"]], row["condition__factors"].get(ORDER)
        if question.kind != "pairwise" or (order is None and row["source_kind"] == SourceKind.IMPORT):
            return None
        return pair_side(question, row["value"], order or "")

    def _answers(self, *order: str) -> Iterator[Row]:
        texts = {
            f"field_{place}": Func(
                F("item__content"), Value(name), function="jsonb_extract_path", output_field=JSONField()
            )
            for place, name in enumerate(self.choices.item_fields)
        }
        asked = {
            "suggested": self._suggests,
            "seconds_in_view": self.choices.durations,
            "left_out_reason": self.choices.superseded,
        }
        details = ["purpose", *(name for name, wanted in asked.items() if wanted)]
        successor = ["superseded_by__answered_at"] * self.choices.superseded
        answers = with_details(self.answers, *details).annotate(**texts, occasion=occasion()).order_by(*order, "pk")
        size = CHUNK_ROWS_WITH_TEXTS if texts else CHUNK_ROWS
        # The named cursor of iterator() lives as long as the transaction and holds one chunk at a time.
        with transaction.atomic():
            yield from answers.values(*_FIELDS, *texts, *details, *successor).iterator(chunk_size=size)

    def _occasions(self) -> Iterator[Row]:
        """The answers of one respondent about one item on one occasion as one row."""
        answers = self._answers("item__dataset_id", "item__position", *OCCASION)
        for _, same in groupby(answers, key=itemgetter(*OCCASION)):
            yield self._together(list(same))

    def _together(self, answers: list[Row]) -> Row:
        cells: Row = {}
        for answer in answers:
            cells |= question_cells(self.questions[answer["instrument_id"], answer["question"]], answer["value"])
        factors = {answer["question"]: answer["condition__factors"] for answer in answers}
        return answers[0] | {
            "answers": cells,
            "sides": {answer["question"]: self._side(answer) for answer in answers},
            "verdicts": {answer["question"]: _verdict(answer) for answer in answers} if self._suggests else {},
            "condition__factors": merged_factors(factors),
            "answered_at": max(answer["answered_at"] for answer in answers),
            "seconds": max((a["seconds"] for a in answers if a["seconds"] is not None), default=None),
        }


def fields_of(project: Project, answers: QuerySet[Response]) -> list[str]:
    """The fields of the items that were answered, as their sources had them; without a source those of one item."""
    found: dict[str, None] = {}
    for dataset in project.datasets.filter(Exists(answers.filter(item__dataset=OuterRef("pk")))).order_by("pk"):
        first = None if dataset.field_order else dataset.items.values_list("content", flat=True).first()
        found |= dict.fromkeys(dataset.field_order or first or ())
    return list(found)


_FIELDS = (
    "pk",
    "item_id",
    "item__dataset__slug",
    "item__external_id",
    "instrument_id",
    "question",
    "respondent_id",
    "respondent__key",
    "respondent__kind",
    "respondent__simulated",
    "respondent__demo_model",
    "respondent__attributes",
    "condition__factors",
    "sample",
    "occasion",
    "value",
    "answered_at",
    "seconds",
    "source_kind",
    "source_id",
    "superseded_by_id",
)


def _plain(name: str, type: Type, path: str, about: str) -> tuple[Column, Read]:
    return Column(name, type, about), itemgetter(path)


def _cell_of(path: str, name: str) -> Read:
    return lambda row: (row[path] or {}).get(name)


def _suggested(row: Mapping[str, Any]) -> Any:
    return (row["suggested"] or {}).get(row["question"])


def _verdict(row: Mapping[str, Any]) -> str | None:
    if row["condition__factors"].get("suggestion") != "audited":
        return None
    return "right" if row["value"] == _suggested(row) else "wrong"


def _is_superseded(row: Mapping[str, Any]) -> bool:
    return row["superseded_by_id"] is not None


def _answered_at(row: Mapping[str, Any]) -> str:
    return _utc(row["answered_at"])


def _superseded_at(row: Mapping[str, Any]) -> str | None:
    """None for what stands, and for what was taken back: nothing came in its place."""
    replaced = row["superseded_by_id"] not in (None, row["pk"])
    return _utc(row["superseded_by__answered_at"]) if replaced else None


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _keys(rows: QuerySet[Any], column: str) -> list[tuple[str, Type]]:
    """The keys of the JSON objects in this column with the types of their values, by name."""
    sql, values = rows.order_by().values(column).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT key, array_agg(DISTINCT jsonb_typeof(value)) FROM ({sql}) AS found(fields), "
            "jsonb_each(found.fields) GROUP BY key",
            values,
        )
        return sorted((name, type_of_json(types)) for name, types in cursor.fetchall())
