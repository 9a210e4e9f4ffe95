"""What a protocol is: stages in order, each with what it needs, what a person may change, and what does it.

Stages, settings and sources are data. Only the functions of a stage read or write anything, through their context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

if TYPE_CHECKING:
    from protocols.context import StageContext

Kind = Literal["import", "transformation", "job", "labelling", "study", "decision", "report"]
NOTHING: Mapping[str, Any] = {}
MOST = 2**31 - 1


class StageError(Exception):
    """A stage cannot be run or collected as things are; the text says why and what to do."""


class StageSettings(BaseModel):
    """What a stage leaves to the researcher: each field has a default and a description that the page shows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _fits(cls, value: Any) -> Any:
        """Seeds and numbers of people, items and calls end where the smallest column that takes one ends."""
        if isinstance(value, int) and not 0 <= value <= MOST:
            raise ValueError(f"Give a whole number from 0 to {MOST:,}")
        return value


# Of the project, by name; "" stands for the first one there is.
EndpointName = Annotated[str, Field(json_schema_extra={"choices": "endpoints"})]
EndpointNames = Annotated[tuple[str, ...], Field(json_schema_extra={"choices": "endpoints"})]


class StageResult(NamedTuple):
    """What came of a stage.

    `outputs` names it: {"dataset": slug}, {"job": pk or list of them}, {"label_project": slug}, {"study": pk},
    {"report": pk}; a second one of a noun has a suffix, as in "dataset_removed". Sentences under "note" are shown.
    `came`, `out` and `why` (reason to count) are its row of the funnel. Not `done`: models or people are at work, and
    `collect` ends the stage; one without `collect` has done a step of its work, which stays, and is run again for the
    next.
    """

    outputs: Mapping[str, Any]
    came: int = 0
    out: int = 0
    why: Mapping[str, int] = NOTHING
    done: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stage will ask of models. The price is None where an endpoint has none, the time where it is not known.

    `counts`: further numbers by what they count. `notes`: what should be known before, a sentence each.
    """

    calls: int
    price: Decimal | None = None
    seconds: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A file that the researcher brings. `shipped` is used where no file at all was given."""

    name: str
    title: str
    says: str
    shipped: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step. `run` starts or does it; what it leaves under way is turned into its outcome by `collect`.

    `needs`: codes of the stages whose outputs it takes. `decides`: who has to decide what; empty for nobody. `sources`:
    names of the files it reads. `prompts`: files of the prompts it asks with, a change of which makes it stale. `plan`:
    counts and price before it runs.
    """

    code: str
    title: str
    says: str
    kind: Kind
    run: Callable[[StageContext], StageResult]
    collect: Callable[[StageContext], StageResult] | None = None
    plan: Callable[[StageContext], Plan] | None = None
    needs: tuple[str, ...] = ()
    decides: str = ""
    settings: type[StageSettings] = StageSettings
    sources: tuple[str, ...] = ()
    prompts: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A published study as a guided project.

    `trial`: by code of a stage, the settings that differ from its defaults where the whole chain is tried with a tiny
    model and with bots in the place of people, so that it comes to its end in minutes. Endpoints are given by their
    numbers, from 1 in the order of their names: the trial makes as many as the highest number. `trial_answers`: what
    bots answer there to questions, by code, for which not every valid answer will do.
    """

    name: str
    title: str
    says: str
    stages: tuple[Stage, ...]
    sources: tuple[Source, ...] = ()
    trial: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trial_answers: Mapping[str, Any] = field(default_factory=dict)

    def stage(self, code: str) -> Stage:
        """Raises StageError."""
        for stage in self.stages:
            if stage.code == code:
                return stage
        known = ", ".join(stage.code for stage in self.stages)
        raise StageError(f"{self.title} has no stage {code}; it has {known}.")

    def source(self, name: str) -> Source:
        """Raises StageError."""
        for source in self.sources:
            if source.name == name:
                return source
        known = ", ".join(source.name for source in self.sources) or "none"
        raise StageError(f"{self.title} takes no file {name}; it takes {known}.")
