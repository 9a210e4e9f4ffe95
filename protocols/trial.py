"""A trial of a protocol: every stage in order, with bots in the place of people, to see how the whole chain goes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from django.db import transaction

from annotation.models import LabelProject
from annotation.refusals import LabelProjectError
from annotation.services import label_with_bots, settle_splits
from evaluation.models import Report
from llm.models import Job
from llm.running.foreground import Display, work
from llm.servers.embedded import NAME, embedded_model_runs
from llm.services import EndpointError, probe_endpoint, resume_job, use_embedded_model
from projects.models import Project
from protocols.catalogue import find_protocol
from protocols.models import ProtocolRun, StageRun
from protocols.outputs import things
from protocols.services import collect_stage, perform, run_stage, set_settings, start_protocol
from protocols.stages import Protocol, Stage, StageError
from protocols.states import stage_states
from studies.models import Study
from studies.services import StudyNotReadyError, close_study, open_study
from studies.walk import WalkError, walk

SEED = 1
PARTICIPANTS = 20
LOOK_SECONDS = 0.5


def begin_trial(*, project: Project, name: str, new: bool = False) -> ProtocolRun:
    """The newest run of the protocol with a trial's settings, or a new one, so that no other run is touched.

    Endpoints that the project lacks are made for the embedded model. Raises StageError where it does not run.
    """
    protocol = find_protocol(name)
    if not protocol.trial:  # it could not be told from other runs
        raise StageError(f"{protocol.title} has no settings for a trial.")
    names = _endpoints(project, least=_highest_number(protocol))
    values = {code: _with_names(protocol.stage(code), given, names) for code, given in protocol.trial.items()}
    wanted = {code: protocol.stage(code).settings.model_validate(given) for code, given in values.items()}
    dumped = {code: settings.model_dump(mode="json", exclude_defaults=True) for code, settings in wanted.items()}
    for run in () if new else project.protocol_runs.filter(name=name):
        if run.settings == dumped:
            return run
    with transaction.atomic():
        run = start_protocol(project=project, name=name, by=None)
        for code, given in values.items():
            set_settings(run=run, code=code, values=given, by=None)
    return run


@dataclass(frozen=True, slots=True)
class Trial:
    """`base_url`: where the pages answer that bots walk as participants. `say` gets a line of each stage."""

    run: ProtocolRun
    base_url: str
    say: Callable[[str], None]

    def go(self) -> None:
        """Do every stage that is not done or is stale; called again, it goes on where it was.

        A stage that cannot be done, or that has nothing to do, keeps only those back that need it; what was wrong with
        it is raised as a StageError in the end.
        """
        for job in Job.objects.filter(project=self.run.project, status=Job.Status.RUNNING):
            self.say(f"Job {job.pk} ({job.name}) is being asked, too; the trial is faster while that is paused.")
        problems: list[str] = []
        for stage in self.run.protocol.stages:
            state = stage_states(self.run)[stage.code]
            if problems and state.missing:
                continue
            if state.open or state.stale or not state.done:
                try:
                    left = state.latest if state.open else None
                    done = self._ended(left or run_stage(run=self.run, code=stage.code, by=None, here=True))
                except StageError as error:
                    problems.append(f"{stage.title}: {error}")
                else:
                    self.say(f"{stage.title}: {done.came:,} in, {done.out:,} out, {done.seconds:.0f} s.")
        if problems:
            raise StageError(" ".join(problems))

    def _ended(self, stage_run: StageRun) -> StageRun:
        """The run with all that models, bots and reports have to give to it."""
        while stage_run.status == StageRun.Status.PENDING:  # a killed trial has left it; a worker may be at it
            perform(stage_run.pk)
            time.sleep(LOOK_SECONDS)
            stage_run.refresh_from_db()
        if stage_run.status == StageRun.Status.UNDER_WAY:
            for noun, identifier in things(stage_run.outputs):
                if noun in WORK:
                    WORK[noun](self, identifier)
            self._collect(stage_run)
        if stage_run.status == StageRun.Status.FAILED:
            raise StageError(stage_run.problem)
        return stage_run

    def _collect(self, stage_run: StageRun) -> None:
        try:
            collect_stage(run=self.run, code=stage_run.code, by=None)
        except StageError:
            stage_run.refresh_from_db()
            if stage_run.status != StageRun.Status.DONE:  # a worker may have been faster
                raise
        stage_run.refresh_from_db()

    def _ask(self, pk: int) -> None:
        job = Job.objects.get(project=self.run.project, pk=pk)
        if job.status == Job.Status.PAUSED:
            resume_job(job=job)
        job = work(job, display=Display())
        if job.status == Job.Status.PAUSED:
            raise StageError(f"Job {job.pk} is paused. {job.status_reason} Call the trial again to go on.")

    def _label(self, slug: str) -> None:
        """Bots label, and one of them settles what the others are split about."""
        label_project = LabelProject.objects.get(project=self.run.project, slug=slug)
        if not label_project.is_open:
            return
        answers = self.run.protocol.trial_answers
        try:
            self.say(str(label_with_bots(label_project=label_project, seed=SEED, given=answers)))
            settle_splits(label_project=label_project)
        except LabelProjectError as error:
            raise StageError(str(error)) from error

    def _walk(self, pk: int) -> None:
        study = Study.objects.get(project=self.run.project, pk=pk)
        if study.status == Study.Status.CLOSED:
            return
        if study.sessions.counted().filter(simulated=False).exists():
            raise StageError(f"People have entered {study}, so bots do not.")
        try:
            open_study(study=study, by=None)
            self.say(str(walk(self.base_url, study.key, PARTICIPANTS, SEED)))
        except StudyNotReadyError as error:
            raise StageError(" ".join(error.problems)) from error
        except WalkError as error:
            raise StageError(str(error)) from error
        close_study(study=study, by=None)

    def _build(self, pk: int) -> None:
        from evaluation.building import build_report  # its libraries take 150 MB, which other commands need not hold

        while build_report(pk).status == Report.Status.PENDING:  # a worker is at it
            time.sleep(LOOK_SECONDS)


WORK: Mapping[str, Callable[[Trial, Any], None]] = {
    "job": Trial._ask,
    "label_project": Trial._label,
    "study": Trial._walk,
    "report": Trial._build,
}


def _highest_number(protocol: Protocol) -> int:
    """How many endpoints the trial's settings speak of; one where they speak of none but models are asked."""
    numbers = [
        number
        for code, values in protocol.trial.items()
        for name, value in values.items()
        if _names_endpoints(protocol.stage(code), name)
        for number in _several(value)
    ]
    return max([*numbers, *(1 for stage in protocol.stages if stage.kind == "job")], default=0)


def _with_names(stage: Stage, values: Mapping[str, Any], endpoints: Sequence[str]) -> dict[str, Any]:
    """The settings with endpoints' names in the place of their numbers."""

    def named(value: Any) -> Any:
        names = [endpoints[number - 1] for number in _several(value)]
        return names if isinstance(value, list | tuple) else names[0]

    return {name: named(value) if _names_endpoints(stage, name) else value for name, value in values.items()}


def _names_endpoints(stage: Stage, setting: str) -> bool:
    extra = stage.settings.model_fields[setting].json_schema_extra
    return isinstance(extra, dict) and extra.get("choices") == "endpoints"


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _endpoints(project: Project, *, least: int) -> list[str]:
    """The names of the project's endpoints; where some are lacking, the embedded model's are made.

    Raises StageError where one of the first `least`, which are asked, does not answer.
    """
    try:
        for number in count(1):
            there = list(project.endpoints.order_by("name"))
            if len(there) >= least:
                break
            if not embedded_model_runs():
                raise StageError(
                    f"The trial needs {least} endpoints and the project has {len(there)}: add some under Models, "
                    "Endpoints, or let the embedded model run."
                )
            use_embedded_model(project=project, name=NAME if number == 1 else f"{NAME} {number}")
        for endpoint in there[:least]:
            found = endpoint.capabilities
            if not found.get("ok"):
                found = probe_endpoint(endpoint=endpoint)
            if not found["ok"]:
                raise StageError(f"Endpoint {endpoint.name} does not answer. {' '.join(found['sentences'])}")
    except EndpointError as error:
        raise StageError(str(error)) from error
    return [endpoint.name for endpoint in there]
