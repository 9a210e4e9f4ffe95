"""How far a run of a protocol is: of each stage the latest run, the one that counts, and whether it is stale."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from materials.services import canonical_json
from protocols.files import Given, given_files
from protocols.models import ProtocolRun, StageRun
from protocols.stages import Stage, StageSettings


@dataclass(frozen=True, slots=True)
class StageState:
    """`latest`: the newest run; `done`: the newest that is done. `stale`: it was done with other inputs, settings,
    files or prompts than there are now, or on the outputs of a stage that is stale. `missing`: needed, not yet done."""

    stage: Stage
    settings: StageSettings
    latest: StageRun | None
    done: StageRun | None
    inputs: Mapping[str, StageRun]
    missing: tuple[Stage, ...]
    fingerprint: str
    stale: bool

    @property
    def open(self) -> bool:
        return self.latest is not None and self.latest.status in StageRun.OPEN

    @property
    def ready(self) -> bool:
        """Whether it can be run now."""
        return not self.missing and not self.open

    @property
    def due(self) -> bool:
        """Whether it can be run now and was not yet, or is stale."""
        return self.ready and (self.done is None or self.stale)


def stage_states(run: ProtocolRun, files: Mapping[str, Given] | None = None) -> dict[str, StageState]:
    """By code, in the protocol's order. Two queries, and one for files that were not given along."""
    files = given_files(run) if files is None else files
    latest: dict[str, StageRun] = {}
    done: dict[str, StageRun] = {}
    for stage_run in run.stage_runs.select_related("by").order_by("id"):
        latest[stage_run.code] = stage_run
        if stage_run.status == StageRun.Status.DONE:
            done[stage_run.code] = stage_run
    states: dict[str, StageState] = {}
    for stage in run.protocol.stages:
        inputs = {code: done[code] for code in stage.needs if code in done}
        settings = settings_of(run, stage)
        fingerprint = stage_fingerprint(stage, settings, inputs, files)
        own = done.get(stage.code)
        states[stage.code] = StageState(
            stage=stage,
            settings=settings,
            latest=latest.get(stage.code),
            done=own,
            inputs=inputs,
            missing=tuple(run.protocol.stage(code) for code in stage.needs if code not in done),
            fingerprint=fingerprint,
            stale=own is not None
            and (own.fingerprint != fingerprint or any(states[code].stale for code in stage.needs)),
        )
    return states


def settings_of(run: ProtocolRun, stage: Stage) -> StageSettings:
    """As they were set; what an earlier version of the stage took and this one refuses is as if it had not been set."""
    given = run.settings.get(stage.code, {})
    try:
        return stage.settings.model_validate(given)
    except ValidationError as error:
        refused = {name for fault in error.errors() for name in fault["loc"][:1]}
        return stage.settings.model_validate({name: value for name, value in given.items() if name not in refused})


def stage_fingerprint(
    stage: Stage, settings: StageSettings, inputs: Mapping[str, StageRun], files: Mapping[str, Given]
) -> str:
    """Of all that a stage's outcome follows from, as 64 hexadecimal digits."""
    parts: dict[str, Any] = {
        "inputs": {code: stage_run.pk for code, stage_run in inputs.items()},
        "settings": settings.model_dump(mode="json"),
        "files": {name: files[name].sha256 for name in stage.sources if name in files},
        "prompts": [hashlib.sha256(path.read_bytes()).hexdigest() for path in stage.prompts],
    }
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()
