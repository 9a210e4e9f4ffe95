"""The project's overview as the flow of its data. Each app adds its box in AppConfig.ready(), so that this app,
which is below all others, imports none of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from projects.models import Project

Stage = Literal["materials", "answering", "responses", "reports"]
STAGES: tuple[Stage, ...] = ("materials", "answering", "responses", "reports")


@dataclass(frozen=True, slots=True)
class Box:
    """One box of the flow: a headline count, its state in words, and what needs someone."""

    title: str
    url: str
    count: int
    state: str
    attention: str = ""  # a sentence when something waits for a person
    badges: tuple[str, ...] = ()  # kinds of templates/components/badge.html
    hue: Literal["", "human", "model"] = ""


Provider = Callable[[Project], Box]


@dataclass(frozen=True, slots=True)
class _Registered:
    order: int
    stage: Stage
    provider: Provider = field(compare=False)


_registered: dict[str, _Registered] = {}


def register_box(name: str, provider: Provider, *, stage: Stage, order: int = 0) -> None:
    """Add the box `name` to a stage. Boxes of the stage `answering` stand in parallel, lowest `order` first."""
    _registered[name] = _Registered(order, stage, provider)


def flow(project: Project) -> list[list[Box]]:
    """The boxes of each stage that has any, in the order of the data's way. Costs the providers' queries."""
    entries = sorted(_registered.values(), key=lambda entry: entry.order)
    stages = [[entry.provider(project) for entry in entries if entry.stage == stage] for stage in STAGES]
    return [boxes for boxes in stages if boxes]
