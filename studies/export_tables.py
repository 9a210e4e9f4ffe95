"""Tables of a study for files: its sessions, what their pages recorded, and everything of a person in one row.

Rows come from a server-side cursor, some sessions at a time. Who only tries the study out is in none of them. Platform
ids are in none but the sessions, and there only when asked for.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import F, Prefetch

from materials.questions import order_factor
from projects.crypto import decrypt
from responses.export_columns import PREFIX, Column, question_cells, question_columns
from studies.models import PlatformSubmission, Screen, Session, Study
from studies.paradata import PARADATA
from studies.quality import filter_sessions

OPTION_ORDER = "option_order"
CHUNK_SESSIONS, CHUNK_SCREENS = 100, 2000
Read = Callable[[Any], Any]
Cell = tuple[Column, Read]


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Columns, and the cells of each row in their order; what is not there is None."""

    columns: list[Column]
    rows: Callable[[], Iterator[list[Any]]]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a person answered about one item, on all of its pages."""

    screens: list[Screen]
    answers: Mapping[str, Any]

    @property
    def item(self) -> Any:
        return self.screens[0].item

    @property
    def factors(self) -> Mapping[str, str]:
        return self.screens[0].factors

    @property
    def option_order(self) -> str | None:
        orders = {code: order for screen in self.screens for code, order in screen.orders.items()}
        return order_factor(orders).get(OPTION_ORDER)


@dataclass(frozen=True, slots=True)
class Person:
    """A session with its answers: `once` those to checks, by code, `items` in the order in which they were shown."""

    session: Session
    once: Mapping[str, Any]
    items: list[Answered]


def session_table(study: Study, *, with_ids: bool = False) -> StudyTable:
    """One row a session. Raises DesignError when the study's filters cannot be used."""
    cells = list(_session_cells(study))
    if with_ids:
        cells += _id_cells()
    return table_of(cells, partial(_sessions, study, with_ids=with_ids))


def wide_table(study: Study) -> StudyTable:
    """One row a session with all its answers; columns that end in a number belong to the person's item of that number.

    Raises DesignError when the study's filters cannot be used.
    """
    return table_of(list(_wide_cells(study)), partial(people_of, study))


def paradata_table(study: Study) -> StudyTable:
    """One row a page of a session, shown or not."""
    return table_of(list(_screen_cells()), partial(_screens, study))


def people_of(study: Study, *, only: Collection[int] | None = None) -> Iterator[Person]:
    """The sessions (of these ids, when given) by number, each with what was answered and the items with it."""
    answered = Screen.objects.filter(answered_at__isnull=False).select_related("item").order_by("position")
    sessions = _of(study).prefetch_related(Prefetch("screens", queryset=answered))
    with transaction.atomic():
        for session in sessions.iterator(chunk_size=CHUNK_SESSIONS):
            if only is None or session.pk in only:
                yield _person(session)


def passed_filters(study: Study) -> set[int]:
    """Ids of the sessions that the study's filters keep, of people and of simulated people each for themselves."""
    return {session for filtered in filter_sessions(study).values() for session in filtered.passed}


def table_of(cells: list[Cell], records: Callable[[], Iterator[Any]]) -> StudyTable:
    """The table of these records, of which each cell reads one column."""
    reads = [read for _, read in cells]
    return StudyTable([column for column, _ in cells], lambda: ([read(found) for read in reads] for found in records()))


def _of(study: Study) -> Any:
    return Session.objects.counted().filter(study=study).select_related("respondent").order_by("number")


def _sessions(study: Study, *, with_ids: bool) -> Iterator[Session]:
    sessions = _of(study)
    if with_ids:
        submissions = Prefetch("identity__submissions", queryset=PlatformSubmission.objects.order_by("pk"))
        sessions = sessions.select_related("respondent", "identity").prefetch_related(submissions)
    # The named cursor of iterator() lives as long as the transaction and holds one chunk at a time.
    with transaction.atomic():
        yield from sessions.iterator(chunk_size=CHUNK_SESSIONS)


def _screens(study: Study) -> Iterator[dict[str, Any]]:
    screens = Screen.objects.filter(session__study=study, session__pilot=False)
    columns = ("position", "kind", "group", "language", "tries", "shown_at", "answered_at", "paradata")
    named = {"session_number": F("session__number"), "item_id_in_dataset": F("item__external_id")}
    with transaction.atomic():
        rows = screens.order_by("session__number", "position").values(*columns, **named)
        yield from rows.iterator(chunk_size=CHUNK_SCREENS)


def _person(session: Session) -> Person:
    screens = list(session.screens.all())
    once = {code: value for screen in screens if screen.item_id is None for code, value in screen.answers.items()}
    about = groupby((screen for screen in screens if screen.item_id is not None), key=attrgetter("item_id"))
    return Person(session, once, [_answered(list(pages)) for _, pages in about])


def _answered(screens: list[Screen]) -> Answered:
    return Answered(screens, {code: value for screen in screens for code, value in screen.answers.items()})


def _session_cells(study: Study) -> Iterator[Cell]:
    passed = passed_filters(study)
    yield Column("session", "integer", "The person, by a number that tells no name"), attrgetter("number")
    about = "The same person in tables of answers; empty for who answered about no item"
    yield Column("respondent", "text", about), lambda session: session.respondent and session.respondent.key
    yield Column("simulated", "boolean", "Whether a bot answered in a person's place"), attrgetter("simulated")
    ends = dict(Session.Status.choices)
    yield Column("outcome", "text", "How the session stands", options=ends), attrgetter("status")
    about = "Whether the study's filters keep the session; people and bots are filtered apart"
    yield Column("passed_filters", "boolean", about), lambda session: session.pk in passed
    yield Column("attention_passed", "boolean", "Empty before a check"), attrgetter("attention_passed")
    yield Column("late", "boolean", "Whether the place had gone to somebody else before the end"), attrgetter("late")
    yield Column("language", "text", "Of the pages"), _text("language")
    yield Column("stratum", "text", "Places are dealt apart within each"), _text("stratum")
    yield Column("place", "integer", "Number within the stratum; items and orders follow from it"), attrgetter("place")
    back = dict(Session.GivenBack.choices)
    yield Column("given_back_why", "text", "Why the place was given back", options=back), _text("given_back_why")
    yield Column("given_back_at", "time", "When, UTC"), _time("given_back_at")
    for factor in study.parsed_design.between:
        levels = {level.code: level.text for level in factor.levels}
        read = partial(_entry, "cell", factor.name)
        yield Column(f"cond_{factor.name}", "text", "The person's level of this factor", options=levels), read
    for question in study.demographic_questions:
        yield from _asked(question, partial(_entry, "attributes", question.code), prefix="attr_")
    yield Column("consent_version", "text", "SHA-256 of the consent text that was shown"), _text("consent_version")
    yield Column("consented_at", "time", "When the person agreed, UTC"), _time("consented_at")
    yield Column("started_at", "time", "When the person entered, UTC"), _time("started_at")
    yield Column("finished_at", "time", "When the session ended, UTC"), _time("finished_at")
    yield Column("seconds", "number", "From entry to end"), lambda s: _seconds(s.started_at, s.finished_at)


def _id_cells() -> Iterator[Cell]:
    yield Column("platform_id", "text", "The person's id on the platform"), _platform_id
    yield Column("submission_ids", "list", "Ids of the person's submissions there"), _submission_ids


def _platform_id(session: Session) -> str | None:
    kept = session.identity.participant_encrypted if hasattr(session, "identity") else ""
    return decrypt(kept) if kept else None


def _submission_ids(session: Session) -> list[str] | None:
    if not hasattr(session, "identity"):
        return None
    kept = [submission.submission_encrypted for submission in session.identity.submissions.all()]
    return [decrypt(one) for one in kept if one]


def _wide_cells(study: Study) -> Iterator[Cell]:
    design = study.parsed_design
    for column, read in _session_cells(study):
        yield column, partial(_of_session, read)
    checks = [check.question for check in design.attention_checks]
    for question in (*(design.comprehension.questions if design.comprehension else ()), *checks):
        yield from _asked(question, partial(_entry, "once", question.code), prefix=PREFIX)
    within = [*([design.relation.name] if design.relation else []), *(factor.name for factor in design.within)]
    for number in range(1, design.items_each + 1):
        yield from _item_cells(study, within, number)


def _item_cells(study: Study, factors: list[str], number: int) -> Iterator[Cell]:
    def of_item(read: Read) -> Read:
        return lambda person: read(person.items[number - 1]) if number <= len(person.items) else None

    about = f"Id of the person's item number {number}"
    yield Column(f"item_{number}", "text", about), of_item(lambda found: found.item.external_id)
    for name in factors:
        read = of_item(partial(_factor, name))
        yield Column(f"cond_{name}_{number}", "text", f"The item's {name}"), read
    order = of_item(attrgetter("option_order"))
    yield Column(f"cond_{OPTION_ORDER}_{number}", "text", "Codes of the options as they were shown"), order
    for question in study.item_questions:
        read = of_item(partial(_entry, "answers", question.code))
        for column, part in _asked(question, read, prefix=PREFIX):
            yield replace(column, name=f"{column.name}_{number}"), part


def _screen_cells() -> Iterator[Cell]:
    yield Column("session", "integer", "The person, as in the table of sessions"), _key("session_number")
    yield Column("position", "integer", "Which page of the session, from 0"), _key("position")
    yield Column("kind", "text", "Kind of page", options=dict(Screen.Kind.choices)), _key("kind")
    yield Column("item", "text", "Id of the item that it is about"), _key("item_id_in_dataset")
    yield Column("group", "integer", "Which of the item's pages, from 0"), _key("group")
    yield Column("language", "text", "In which it was answered"), lambda row: row["language"] or None
    yield Column("tries", "integer", "Of a comprehension check: how many were wrong and not the last"), _key("tries")
    yield Column("shown_at", "time", "When it was first shown, by the server's clock, UTC"), _row_time("shown_at")
    yield Column("answered_at", "time", "When it was stored, by the server's clock, UTC"), _row_time("answered_at")
    yield (
        Column("server_seconds", "number", "Between these two"),
        lambda row: _seconds(row["shown_at"], row["answered_at"]),
    )
    for name, about in PARADATA.items():
        yield Column(name, "number", about[0].upper() + about[1:]), partial(_paradata, name)


def _asked(question: Any, value_of: Read, *, prefix: str) -> Iterator[Cell]:
    """The question's columns with this prefix; `value_of` gives the stored value, None without one."""

    def part(name: str, record: Any) -> Any:
        value = value_of(record)
        return None if value is None else question_cells(question, value).get(name)

    for column in question_columns(question):
        yield replace(column, name=prefix + column.name.removeprefix(PREFIX)), partial(part, column.name)


def _of_session(read: Read, person: Person) -> Any:
    return read(person.session)


def _entry(attribute: str, code: str, record: Any) -> Any:
    return getattr(record, attribute).get(code)


def _factor(name: str, found: Answered) -> Any:
    return found.factors.get(name)


def _paradata(name: str, row: Mapping[str, Any]) -> Any:
    return row["paradata"].get(name)


def _key(name: str) -> Read:
    return lambda row: row[name]


def _text(name: str) -> Read:
    return lambda record: getattr(record, name) or None


def _time(name: str) -> Read:
    return lambda record: _utc(getattr(record, name))


def _row_time(name: str) -> Read:
    return lambda row: _utc(row[name])


def _utc(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return (end - start).total_seconds() if start and end else None
