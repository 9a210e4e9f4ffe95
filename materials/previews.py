"""What others show of an instrument: the apps above this one add it in AppConfig.ready()."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from materials.models import Instrument
from projects.models import Project


@dataclass(frozen=True, slots=True)
class Preview:
    """A titled part of the page, drawn by `template` with `context` as `preview`."""

    title: str
    template: str
    context: Mapping[str, Any]


Provider = Callable[[Project, Instrument, Mapping[str, Any]], Preview]
_providers: list[Provider] = []


def register_preview(provider: Provider) -> None:
    """`provider(project, instrument, content of an item)`; the instrument may be a draft that is not stored."""
    if provider not in _providers:
        _providers.append(provider)


def previews(project: Project, instrument: Instrument, content: Mapping[str, Any]) -> list[Preview]:
    return [provider(project, instrument, content) for provider in _providers]
