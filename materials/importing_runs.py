"""Runs of the import wizard: a file is uploaded, mapped, checked as a whole and imported, at once or by a worker.

A run that a worker has taken up is held by an advisory lock, which goes with the worker: a run that is under way and
not held was left behind. Both the check and the import are one transaction, so nothing is left of them but the run.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

from celery import current_app
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from materials.importing import ImportRefusedError, import_items
from materials.importing_upload import open_upload, store_upload
from materials.models import ImportRun
from materials.reading import read_items, read_rows, row_count, unique_columns, usual_id_column
from materials.reading_excel import sheet_names
from materials.reading_faults import NO_CHARACTER, Fault, SourceError
from materials.reading_plan import Column, Plan, Source
from materials.reading_source import find_encoding, find_source
from materials.reading_text import Row
from projects.locks import alone
from projects.models import Project, User

State = ImportRun.State
LOCK = "materials import"
WORK = "materials.tasks.work"  # by name: services do not import tasks
MAX_COLUMNS = 200  # that the page maps
AT_ONCE_BYTES = 1_000_000
AT_ONCE_PACKED_BYTES = 100_000  # Parquet and Excel
SAMPLE_ROWS = 200
PROGRESS, PROGRESS_SECONDS = "materials:import:{}", 3600
WATCH_SECONDS = 1.0
PATIENCE = timedelta(minutes=1)  # a message to a worker that was not heard of for so long is sent again
KEPT = timedelta(days=7)  # an upload that nobody goes on with
LEFT_BEHIND = "The worker ended before it was through. Nothing was imported; start it again."


class _StoppedError(Exception):
    """Somebody stopped the run while it was under way."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The first rows of a file as they are, their columns in order, and what is wrong among them."""

    columns: list[str]
    rows: list[Row]
    faults: list[Fault]
    sheets: list[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` is 0 to 1; `seconds_left` is None until there is something to go by."""

    rows: int = 0
    share: float = 0.0
    seconds_left: float | None = None


@transaction.atomic
def begin(*, project: Project, dataset_slug: str, file_name: str, chunks: Iterable[bytes], by: User) -> ImportRun:
    """Store the file and propose how to read it. Raises SourceError when it cannot be read."""
    run = ImportRun.objects.create(
        project=project, dataset_slug=dataset_slug, file_name=file_name[-255:], size=0, plan={}, by=by
    )
    store_upload(run, chunks)
    with open_upload(run) as file:
        source = find_encoding(file, find_source(file, file_name))
    plan = propose(run, source)
    if len(plan.columns) > MAX_COLUMNS:
        raise SourceError(f"The file has more than {MAX_COLUMNS} columns; use manage.py import_items.")
    run.plan = plan.model_dump()
    run.save(update_fields=["plan"])
    return run


def propose(run: ImportRun, source: Source) -> Plan:
    """All columns under their names; the id in the usual column, in one whose values differ, or from the content."""
    sample = look(run, source)
    contents = [content for _, content in sample.rows]
    ids = usual_id_column(sample.columns) or (unique_columns(contents) if contents else ())
    columns = tuple(Column(source=name, name=name) for name in sample.columns)
    return Plan(source=source, id_columns=ids, id_from_content=not ids, columns=columns)


def look(run: ImportRun, source: Source, rows: int = SAMPLE_ROWS) -> Sample:
    """The first rows of the uploaded file; what cannot be read at all is a fault too."""
    with open_upload(run) as file:
        entries: list[Row | Fault] = []
        sheets: list[str] = []
        try:
            sheets = sheet_names(file) if source.format == "xlsx" else []
            for entry in read_rows(file, source):
                entries.append(entry)
                if len(entries) >= rows:
                    break
        except SourceError as error:
            entries.append(Fault(0, "", str(error)))
    found = [entry for entry in entries if not isinstance(entry, Fault)]
    names = dict.fromkeys(name for _, content in found for name in content)
    columns = [name for name in names if not NO_CHARACTER.search(name)]  # the check says which rows have others
    return Sample(columns, found, [entry for entry in entries if isinstance(entry, Fault)], sheets)


def read_otherwise(*, run: ImportRun, source: Source) -> None:
    """Read the file in another way. What was chosen for its columns stays when they are the same."""
    before, after = Plan.model_validate(run.plan), propose(run, source)
    if {*before.left_out, *(column.source for column in before.columns)} == {column.source for column in after.columns}:
        after = before.model_copy(update={"source": source})
    save_plan(run=run, plan=after)


def save_plan(*, run: ImportRun, plan: Plan) -> bool:
    """Whether the plan was taken: not while the run is under way or done. What was checked before counts no more."""
    changed = _free(run).update(plan=plan.model_dump(), state=State.DRAFT, failure="", faults=[], fault_count=0)
    return bool(changed)


def start_check(*, run: ImportRun, by: User) -> bool:
    """Read the whole file and say what an import would do. Whether it could start."""
    return _ask(run, by, State.CHECKING, from_states=[State.DRAFT, State.CHECKED, State.FAILED])


def start_import(*, run: ImportRun, by: User) -> bool:
    """Import what was checked without a fault. Whether it could start."""
    return _ask(run, by, State.IMPORTING, from_states=[State.CHECKED], fault_count=0)


def stop(*, run: ImportRun) -> None:
    """Take a run that is under way back to where it was before; nothing of it stays."""
    for under_way, before in ((State.CHECKING, State.DRAFT), (State.IMPORTING, State.CHECKED)):
        ImportRun.objects.filter(pk=run.pk, state=under_way).update(state=before, asked_at=None, started_at=None)


def discard(*, run: ImportRun) -> bool:
    """Forget the run and its file, unless it is under way or done."""
    return bool(_free(run).delete()[0])


def perform(run_pk: int) -> None:
    """Check or import what the run asks for, unless somebody has taken it up before."""
    with alone(LOCK, run_pk) as held:
        waiting = ImportRun.objects.filter(pk=run_pk, state__in=ImportRun.UNDER_WAY, started_at=None)
        if not held or not waiting.update(started_at=timezone.now()):
            return
        run = ImportRun.objects.select_related("project", "by").get(pk=run_pk)
        watch = _Watch(run)
        try:
            _import(run, watch)
        except _StoppedError:
            return
        except ImportRefusedError as error:
            faults = [[fault.row, fault.column, fault.what] for fault in error.faults]
            _settle(run, State.CHECKED, faults=faults, fault_count=error.total, rows=watch.rows)
        except Exception as error:
            _settle(run, State.FAILED, failure=f"Nothing was imported: {' '.join(str(error).split())[:300]}")
            raise
        finally:
            cache.delete(PROGRESS.format(run_pk))


def fail_left_behind(runs: Iterable[ImportRun]) -> int:
    """Mark those as failed that a worker took up and nobody holds; how many they are."""
    failed = 0
    for run in runs:
        if run.state in ImportRun.UNDER_WAY and run.started_at:
            with alone(LOCK, run.pk) as held:
                failed += held and _settle(run, State.FAILED, failure=LEFT_BEHIND)
    return failed


def sweep() -> None:
    """Fail what was left behind, ask again for what no worker took up, forget uploads that nobody goes on with."""
    under_way = ImportRun.objects.filter(state__in=ImportRun.UNDER_WAY)
    fail_left_behind(under_way.filter(started_at__isnull=False))
    for run in under_way.filter(started_at=None, asked_at__lt=timezone.now() - PATIENCE):
        current_app.send_task(WORK, [run.pk])
    ImportRun.objects.exclude(state__in=[*ImportRun.UNDER_WAY, State.DONE]).filter(
        created_at__lt=timezone.now() - KEPT
    ).delete()


def progress(run: ImportRun) -> Progress:
    """How far the run is, as whoever works on it said last."""
    found: Progress = cache.get(PROGRESS.format(run.pk)) or Progress()
    return found


def _free(run: ImportRun) -> QuerySet[ImportRun]:
    return ImportRun.objects.filter(pk=run.pk, state__in=[State.DRAFT, State.CHECKED, State.FAILED])


def _ask(run: ImportRun, by: User, state: State, *, from_states: list[State], **conditions: Any) -> bool:
    changed = ImportRun.objects.filter(pk=run.pk, state__in=from_states, **conditions).update(
        state=state, by=by, asked_at=timezone.now(), started_at=None, failure="", faults=[], fault_count=0
    )
    packed = run.plan["source"]["format"] in {"parquet", "xlsx"}
    if changed and run.size <= (AT_ONCE_PACKED_BYTES if packed else AT_ONCE_BYTES):
        perform(run.pk)
    elif changed:
        transaction.on_commit(lambda: current_app.send_task(WORK, [run.pk]))
    return bool(changed)


@transaction.atomic
def _import(run: ImportRun, watch: "_Watch") -> None:
    """Check or import all of the file and settle the run; nothing stays when somebody stopped it meanwhile."""
    plan = Plan.model_validate(run.plan)
    checking = run.state == State.CHECKING
    with open_upload(run) as file:
        watch.share = _share(run, plan, file)
        result = import_items(
            project=run.project,
            dataset_slug=run.dataset_slug,
            records=read_items(file, filename=run.file_name, plan=plan),
            source=run.file_name,
            by=run.by,
            plan=plan,
            run_id=run.pk,
            dry_run=checking,
            watch=watch,
        )
    counts = {"added": result.added, "unchanged": result.unchanged, "skipped": result.skipped, "rows": watch.rows}
    if not _settle(run, State.CHECKED if checking else State.DONE, **counts):
        raise _StoppedError
    if not checking:
        run.parts.all().delete()


def _share(run: ImportRun, plan: Plan, file: IO[bytes]) -> Callable[[int], float]:
    """Tells how much of the file is read when so many rows are: by bytes where they are read in order, else by rows."""
    if plan.source and plan.source.format in {"parquet", "xlsx"}:
        total = row_count(file, plan.source)
        return lambda rows: min(1.0, rows / total) if total else 0.0
    return lambda rows: file.tell() / max(1, run.size)


class _Watch:
    """Hears how many rows were read; says so to those who look, and ends the run when it was stopped."""

    def __init__(self, run: ImportRun) -> None:
        self.rows = 0
        self.share: Callable[[int], float] = lambda rows: 0.0
        self._run = run
        self._started = self._said = time.monotonic()

    def __call__(self, rows: int) -> None:
        self.rows = rows
        now = time.monotonic()
        share = self.share(rows)
        if now - self._said < WATCH_SECONDS and share < 1:
            return
        self._said = now
        left = (now - self._started) * (1 - share) / share if share else None
        cache.set(PROGRESS.format(self._run.pk), Progress(rows, share, left), timeout=PROGRESS_SECONDS)
        if not _as_taken_up(self._run).exists():
            raise _StoppedError


def _as_taken_up(run: ImportRun) -> QuerySet[ImportRun]:
    """The run, if nobody stopped it since it was read."""
    return ImportRun.objects.filter(pk=run.pk, state=run.state, started_at=run.started_at)


def _settle(run: ImportRun, state: State, **changes: Any) -> bool:
    changed = _as_taken_up(run).update(state=state, finished_at=timezone.now(), started_at=None, **changes)
    return bool(changed)
