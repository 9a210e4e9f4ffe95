"""A run of a protocol as its page shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from projects.access import MANAGERS
from projects.models import Role
from protocols.context import rows_done
from protocols.forms import SettingsForm
from protocols.models import ProtocolRun, StageRun
from protocols.outputs import Output, outputs_of
from protocols.services import plan_stage
from protocols.stages import Plan, StageError
from protocols.states import StageState, stage_states


@dataclass(frozen=True, slots=True)
class StagePanel:
    """One stage on the page. `next`: the first that can be run and was not yet, whose button is the page's own."""

    number: int
    state: StageState
    outputs: list[Output]
    funnel: StageRun | None  # whose counts are shown
    form: SettingsForm | None
    plan: Plan | None
    plan_problem: str
    next: bool
    may_run: bool
    rows: int
    collectable: bool
    through: bool
    stuck: bool  # through, and yet it could not be collected


def panels(
    run: ProtocolRun, role: Role, *, only: str = "", forms: Mapping[str, SettingsForm] | None = None
) -> list[StagePanel]:
    """The panels of all stages, or the only one that is asked for. `forms`: filled-in ones that have errors."""
    states = stage_states(run)
    due = [code for code, state in states.items() if state.due]
    return [
        _panel(
            run,
            state,
            number=number,
            may_run=role in MANAGERS,
            is_next=code in due[:1],
            form=(forms or {}).get(code),
        )
        for number, (code, state) in enumerate(states.items(), start=1)
        if only in ("", code)
    ]


def _panel(
    run: ProtocolRun, state: StageState, *, number: int, may_run: bool, is_next: bool, form: SettingsForm | None
) -> StagePanel:
    shown = state.latest if state.open else state.done
    outputs = outputs_of(run.project, shown.outputs) if shown else []
    plan, problem = _plan(run, state) if state.due else (None, "")
    under_way = state.latest is not None and state.latest.status == StageRun.Status.UNDER_WAY
    if form is None and may_run and state.stage.settings.model_fields:
        form = SettingsForm(settings=state.settings, project=run.project, prefix=state.stage.code)
    return StagePanel(
        number=number,
        state=state,
        outputs=outputs,
        funnel=shown,
        form=form,
        plan=plan,
        plan_problem=problem,
        next=is_next,
        may_run=may_run,
        rows=rows_done(state.latest) if state.latest and state.latest.status == StageRun.Status.PENDING else 0,
        collectable=under_way and (state.stage.kind in ("labelling", "study", "decision") or _through(outputs)),
        through=_through(outputs),
        stuck=under_way and _through(outputs) and bool(state.latest and state.latest.problem),
    )


def _through(outputs: list[Output]) -> bool:
    return all(output.over for output in outputs)


def _plan(run: ProtocolRun, state: StageState) -> tuple[Plan | None, str]:
    try:
        return plan_stage(run=run, code=state.stage.code), ""
    except StageError as error:
        return None, str(error)


def funnel(run: ProtocolRun, *, uncounted: bool = False) -> list[dict[str, Any]]:
    """A row for each stage that is done: title, how many came in and went on, why the others did not, and seconds.

    `uncounted`: also of stages in which nothing is counted, such as reports.
    """
    return [
        {"title": state.stage.title, **{name: getattr(state.done, name) for name in ("came", "out", "why", "seconds")}}
        for state in stage_states(run).values()
        if state.done and (state.done.came or state.done.out or uncounted)
    ]
