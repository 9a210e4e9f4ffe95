"""What a job's file names: materials, prompts and endpoints, found or made from what the file says of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from llm.files.jobfile import DatasetPart, EndpointPart, InstrumentPart, JobFileError, PromptPart
from llm.models import Endpoint, Prompt
from llm.prompting.rendering import PromptError
from llm.servers.embedded import NAME as EMBEDDED
from llm.servers.embedded import embedded_model_runs, use_embedded_model
from llm.services import EndpointError, publish_prompt, save_endpoint
from materials.importing import ImportRefusedError, import_items
from materials.models import Dataset, Instrument
from materials.question_file import read_questions
from materials.questions import QuestionError
from materials.reading import read_items
from materials.services import publish_instrument
from projects.models import Project

MAX_FAULTS = 50


def find_endpoints(project: Project, parts: Sequence[EndpointPart]) -> list[Endpoint]:
    """The endpoints, made or changed to what the file says of them. Raises JobFileError."""
    found = [_endpoint(project, part, f"endpoints.{number}") for number, part in enumerate(parts, start=1)]
    if len({endpoint.pk for endpoint in found}) < len(found):
        raise JobFileError(["At endpoints: an endpoint is listed twice; list each once."])
    return found


def find_dataset(project: Project, part: DatasetPart, folder: Path) -> tuple[Dataset, list[str]]:
    """The dataset, after the items of its file are in it, and what was imported in a sentence. Raises JobFileError."""
    if not part.file:
        found = project.datasets.filter(slug=part.name).first()
        if found is None:
            what = f"the project has no dataset {part.name}; it has: {_known(project.datasets.all(), 'slug')}"
            raise JobFileError([f"At dataset: {what}. With `file` one is imported."])
        return found, []
    path = folder / part.file
    try:
        with path.open("rb") as items:
            records = read_items(items, filename=path.name, id_columns=part.id_columns, id_option="as id_column")
            result = import_items(project=project, dataset_slug=part.name, records=records, source=path.name, by=None)
    except OSError as error:
        raise JobFileError([f"At dataset.file: {path} cannot be read: {error.strerror}."]) from error
    except ImportRefusedError as error:
        more = [f"and {error.total - MAX_FAULTS:,} more faults"] if error.total > MAX_FAULTS else []
        raise JobFileError([*(f"{path}: {fault}" for fault in error.faults[:MAX_FAULTS]), *more]) from error
    return result.dataset, [f"{result.added:,} items imported from {path.name}."] if result.added else []


def find_instrument(project: Project, part: InstrumentPart, folder: Path) -> Instrument:
    """The instrument, published from its file of questions when there is one. Raises JobFileError."""
    if not part.questions:
        instrument: Instrument = _version(project.instruments.all(), part.name, "instrument")
        return instrument
    place, path = "At instrument.questions", folder / part.questions
    try:
        questions = read_questions(path.read_text(encoding="utf-8-sig"))
        return published_instrument(project, part.name, part.title or part.name, questions)
    except OSError as error:
        raise JobFileError([f"{place}: {path} cannot be read: {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        raise JobFileError([f"{place}: {path} is not UTF-8; save it as UTF-8."]) from error
    except QuestionError as error:
        raise JobFileError([f"{place}: {path}: {error}"]) from error


def find_prompts(project: Project, parts: Sequence[PromptPart]) -> list[Prompt]:
    """The prompts, published when the file has their texts. Raises JobFileError."""
    found = []
    for number, part in enumerate(parts, start=1):
        place = f"prompts.{number}"
        try:
            new = published_prompt(project, part.name, part.system, part.user) if part.is_new else None
        except PromptError as error:
            raise JobFileError([f"At {place}: {error}"]) from error
        found.append(new or _version(project.prompts.all(), part.name, place))
    if len({prompt.pk for prompt in found}) < len(found):
        raise JobFileError(["At prompts: a prompt is listed twice; list each once."])
    return found


def published_prompt(project: Project, name: str, system: str, user: str) -> Prompt:
    """The newest version of the prompt with these texts, otherwise a new one. Raises PromptError."""
    same = Prompt.objects.filter(project=project, name=name, system=system, user=user).order_by("-version").first()
    return same or publish_prompt(project=project, name=name, system=system, user=user)


def published_instrument(project: Project, name: str, title: str, questions: list[dict[str, Any]]) -> Instrument:
    """The newest version with these questions, otherwise a new one. Raises QuestionError."""
    same = project.instruments.filter(name=name, title=title, questions=questions).order_by("-version").first()
    return same or publish_instrument(project=project, name=name, title=title, questions=questions)


def _endpoint(project: Project, part: EndpointPart, place: str) -> Endpoint:
    found = project.endpoints.filter(name=part.name).first()
    given = part.fields
    if not given:
        if found is None and part.name == EMBEDDED and embedded_model_runs():
            return use_embedded_model(project=project)
        if found is None:
            known = _known(project.endpoints.all(), "name")
            what = f"the project has no endpoint {part.name}; give base_url and model to make it, or one of: {known}"
            raise JobFileError([f"At {place}: {what}."])
        return found
    if found and all(getattr(found, name) == value for name, value in given.items()):
        return found
    if found:
        given = {"key_variable": found.key_variable} | given
    try:
        return save_endpoint(project=project, name=part.name, endpoint=found, **given)
    except EndpointError as error:
        raise JobFileError([f"At {place}: {error}"]) from error


def _version(rows: QuerySet[Any], text: str, place: str) -> Any:
    """The row that `NAME` (the newest version) or `NAME VERSION` names."""
    name, _, version = text.partition(" ")
    found = rows.filter(name=name)
    if version:
        number = version.removeprefix("v")
        found = found.filter(version=int(number) if number.isdecimal() and len(number) < 10 else 0)
    newest = found.order_by("-version").first()
    if newest is None:
        versions = rows.order_by("name", "version").values_list("name", "version")
        known = ", ".join(f"{name} {version}" for name, version in versions[:MAX_FAULTS]) or "none"
        raise JobFileError([f"At {place}: the project has no {text}; it has: {known}."])
    return newest


def _known(rows: QuerySet[Any], field: str) -> str:
    return ", ".join(rows.order_by(field).values_list(field, flat=True)[:MAX_FAULTS]) or "none"
