"""Starting a protocol, setting and running its stages, and collecting what models and people gave."""

import logging
from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from pydantic import ValidationError

from materials.reading_faults import displayable
from projects.models import Project, User
from projects.services import audit
from protocols.catalogue import find_protocol
from protocols.context import StageContext
from protocols.files import give_file, given_files, use_shipped_files
from protocols.models import ProtocolRun, StageRun
from protocols.outputs import is_over
from protocols.stages import Plan, Stage, StageError, StageResult, StageSettings
from protocols.states import stage_states

__all__ = [
    "begin",
    "collect_stage",
    "give_file",
    "perform",
    "plan_stage",
    "run_stage",
    "set_settings",
    "start_protocol",
    "use_shipped_files",
]

logger = logging.getLogger(__name__)
PERFORM = "protocols.tasks.perform_stage"
IN_WORKERS = ("import", "transformation", "report")  # the other kinds only set something up
FAULT = "A fault in the program kept this stage from being {done} ({why}); the log has the details."
MOST_WHY = 200  # characters
MOST_TRIES = 3
KILLED = (
    f"The worker that did this stage ended {MOST_TRIES} times before it was done, perhaps because memory ran out; its "
    "log may say why. Run the stage again when there is more of it, or less to do."
)
Status = StageRun.Status


@transaction.atomic
def start_protocol(*, project: Project, name: str, by: User | None) -> ProtocolRun:
    """A new way through the protocol. Raises StageError for an unknown one."""
    protocol = find_protocol(name)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two at once would draw the same number
    latest = project.protocol_runs.filter(name=protocol.name).aggregate(number=Max("number"))["number"] or 0
    audit(project=project, user=by, action="protocol started", protocol=protocol.name)
    return ProtocolRun.objects.create(project=project, name=protocol.name, number=latest + 1, created_by=by)


@transaction.atomic
def set_settings(*, run: ProtocolRun, code: str, values: Mapping[str, Any], by: User | None) -> StageSettings:
    """Set these of the stage's settings, for its next run; the others stay. Raises StageError with a sentence."""
    stage = run.protocol.stage(code)
    locked = ProtocolRun.objects.select_for_update().get(pk=run.pk)
    try:
        settings = stage.settings.model_validate({**locked.settings.get(code, {}), **values})
    except ValidationError as error:
        raise StageError(_words(error)) from error
    locked.settings[code] = settings.model_dump(mode="json", exclude_defaults=True)
    locked.save(update_fields=["settings"])
    run.settings = locked.settings
    audit(project=run.project, user=by, action="stage set", protocol=run.name, stage=code, settings=run.settings[code])
    return settings


def run_stage(*, run: ProtocolRun, code: str, by: User | None, here: bool = False) -> StageRun:
    """Start the stage, once more if it was done before: a worker does imports and transformations, unless `here`.

    Raises StageError when a stage that it needs is not done, or when it is under way already.
    """
    stage_run = _ask(run, code, by)
    if here or stage_run.stage.kind not in IN_WORKERS:
        perform(stage_run.pk)
        stage_run.refresh_from_db()
    else:
        transaction.on_commit(lambda: current_app.send_task(PERFORM, [stage_run.pk]))
    return stage_run


@transaction.atomic
def _ask(run: ProtocolRun, code: str, by: User | None) -> StageRun:
    ProtocolRun.objects.select_for_update().get(pk=run.pk)  # two at once would draw the same number
    run.protocol.stage(code)
    state = stage_states(run)[code]
    if state.missing:
        titles = '" and "'.join(stage.title for stage in state.missing)
        raise StageError(f'Run "{titles}" first: "{state.stage.title}" takes what comes of it.')
    if state.open and not _give_up(run, code):
        raise StageError(f'"{state.stage.title}" is under way; let it end, or end what it has started, first.')
    number = (state.latest.number if state.latest else 0) + 1
    audit(project=run.project, user=by, action="stage run", protocol=run.name, stage=code, number=number)
    return StageRun.objects.create(
        run=run,
        code=code,
        number=number,
        settings=state.settings.model_dump(mode="json"),
        fingerprint=state.fingerprint,
        by=by,
    )


def _give_up(run: ProtocolRun, code: str) -> bool:
    """Give up what cannot be collected although models and people are through; whether there was such a run."""
    stuck = run.stage_runs.filter(code=code, status=Status.UNDER_WAY).exclude(problem="")
    given_up = [one.pk for one in stuck if is_over(run.project, one.outputs)]
    changes = {"status": Status.FAILED, "finished_at": timezone.now()}
    return bool(run.stage_runs.filter(pk__in=given_up, status=Status.UNDER_WAY).update(**changes))


def perform(stage_run_id: int) -> None:
    """Do what was asked for: everything the stage writes, or nothing and the reason.

    Of a stage that goes in steps each is kept. The row's lock keeps others off a step and goes with a killed worker,
    so that asking again is always safe.
    """
    while begin(stage_run_id) and _step(stage_run_id):
        pass


@transaction.atomic
def begin(stage_run_id: int) -> bool:
    """Count a try to do or collect the stage, before it is made: a worker that it kills counts nothing afterwards.

    False where somebody is at it, or where it was tried too often, which its row then says.
    """
    free = StageRun.objects.select_for_update(of=("self",), skip_locked=True)
    stage_run = free.filter(pk=stage_run_id, status__in=StageRun.OPEN, problem="").first()
    if stage_run is None:
        return False
    if stage_run.tries < MOST_TRIES:
        stage_run.tries += 1
    elif stage_run.status == Status.PENDING:
        _fail(stage_run, KILLED)
        return False
    else:
        stage_run.problem = KILLED  # what models and people gave can still be collected by hand
    stage_run.save(update_fields=["tries", "problem"])
    return not stage_run.problem


@transaction.atomic
def _step(stage_run_id: int) -> bool:
    """Whether another step is to be done here."""
    pending = StageRun.objects.select_for_update(of=("self",), skip_locked=True)
    stage_run = pending.filter(pk=stage_run_id, status=Status.PENDING).select_related("run__project", "by").first()
    if stage_run is None:
        return False
    try:
        with transaction.atomic():
            result = stage_run.stage.run(stage_context(stage_run.run, stage_run.code, current=stage_run))
    except Exception as error:  # noqa: BLE001 - it is logged there
        _fail(stage_run, _problem(error, stage_run.run, stage_run.code))
    else:
        _settle(stage_run, result)
    return stage_run.status == Status.PENDING


def collect_stage(*, run: ProtocolRun, code: str, by: User | None, partial: bool = False) -> StageRun:
    """Turn what models or people gave into the stage's outcome; `partial`: also when they are not through.

    Raises StageError when nothing is under way, they are not through, or what they gave cannot be used yet; the stage
    then stays under way.
    """
    stage, under_way = run.protocol.stage(code), run.stage_runs.filter(code=code, status=Status.UNDER_WAY)
    found = under_way.first()
    over = found is not None and is_over(run.project, found.outputs)
    if found and not partial and not over:
        raise StageError(f'"{stage.title}" is not through yet; wait, or go on with what is there.')
    try:
        return _collect(run, stage, by)
    except Exception as error:
        problem = _problem(error, run, code)
        if over:  # who asks too early must not keep the sweep from asking again
            under_way.update(problem=problem)
        raise StageError(problem) from error


@transaction.atomic
def _collect(run: ProtocolRun, stage: Stage, by: User | None) -> StageRun:
    under_way = run.stage_runs.select_for_update(of=("self",)).filter(code=stage.code, status=Status.UNDER_WAY)
    stage_run = under_way.select_related("run__project").first()
    if stage_run is None:
        raise StageError(f'"{stage.title}" is not under way; run it first.')
    assert stage.collect
    _settle(stage_run, stage.collect(stage_context(run, stage.code, current=stage_run, by=by)))
    return stage_run


def plan_stage(*, run: ProtocolRun, code: str) -> Plan | None:
    """What the stage would ask of models; None for one that asks nothing. Raises StageError."""
    stage = run.protocol.stage(code)
    try:
        return stage.plan(stage_context(run, code)) if stage.plan else None
    except Exception as error:
        raise StageError(_problem(error, run, code, done="planned")) from error


def stage_context(
    run: ProtocolRun, code: str, *, current: StageRun | None = None, by: User | None = None
) -> StageContext:
    """What the stage's functions get: what it was run with, or, while it is planned, the settings and inputs there are.

    Inputs that were made while models or people were at work wait for the stage's next run.
    """
    files = given_files(run)
    state = stage_states(run, files)[code]
    settings, inputs = state.settings, state.inputs
    if current:
        settings = state.stage.settings.model_validate(current.settings)
        earlier = run.stage_runs.filter(code__in=state.stage.needs, status=Status.DONE, pk__lt=current.pk)
        inputs = {one.code: one for one in earlier.order_by("pk")}
    return StageContext(
        run=run,
        stage=state.stage,
        settings=settings,
        inputs=inputs,
        files=files,
        current=current,
        by=by or (current.by if current else None),
    )


def _settle(stage_run: StageRun, result: StageResult) -> None:
    stage_run.outputs = {**stage_run.outputs, **result.outputs}
    stage_run.came, stage_run.out, stage_run.why = result.came, result.out, dict(result.why)
    open_status = Status.UNDER_WAY if stage_run.stage.collect else Status.PENDING
    stage_run.status = Status.DONE if result.done else open_status
    stage_run.problem, stage_run.tries = "", 0
    stage_run.finished_at = timezone.now() if result.done else None
    stage_run.save()


def _fail(stage_run: StageRun, problem: str) -> None:
    stage_run.status, stage_run.problem, stage_run.finished_at = Status.FAILED, problem, timezone.now()
    stage_run.save()


def _problem(error: Exception, run: ProtocolRun, code: str, *, done: str = "done") -> str:
    """What to say of it, which may quote a file; a fault in the program goes to the log."""
    if isinstance(error, StageError):
        return displayable(str(error))
    logger.error("stage %s of protocol run %s", code, run.pk, exc_info=error)
    why = " ".join(f"{type(error).__name__}: {error}".split())[:MOST_WHY]
    return displayable(FAULT.format(done=done, why=why))


def _words(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"There is no setting {name}; look at the stage's page for those there are."
    return f"{name}: {first['msg'].removeprefix('Value error, ')}."
