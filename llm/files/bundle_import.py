"""A bundle that another Concord wrote, or somebody's idea of one: its materials and the same plan are made here.

Nothing is unpacked to the disk. What a part may hold is bounded before it is read, whatever the archive says of it.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import IO, Annotated, Any, Literal

from django.db import transaction
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from llm.files.bundle import (
    CALLS,
    DATASET,
    ENDPOINT,
    FORMAT,
    INSTRUMENT,
    ITEMS,
    JOB,
    MANIFEST,
    PROMPTS,
    VERSION,
    items_digest,
)
from llm.files.jobfile import NAME
from llm.files.jobfile_parts import published_instrument, published_prompt
from llm.models import Endpoint, Job, Prompt
from llm.planning.grid import GridError
from llm.planning.job_text import read_json
from llm.planning.personas import check_persona
from llm.prompting.rendering import PromptError
from llm.running.fingerprint import endpoint_identity
from llm.servers.embedded import embedded_model_runs, use_embedded_model
from llm.servers.endpoint_config import JsonMode, TokenLimitField
from llm.services import EndpointError, JobError, plan_job, publish_prompt, save_endpoint
from materials.importing import MAX_FIELDS, ImportRefusedError, import_items
from materials.models import Dataset
from materials.questions import Frozen, QuestionError
from materials.reading import Fault, Record, read_json_items
from projects.models import Project, User

MAX_PART_BYTES = 20_000_000
MAX_ITEMS_BYTES = 500_000_000
MAX_LINE_BYTES = 10_000_000
KNOWN = {MANIFEST, JOB, PROMPTS, INSTRUMENT, ENDPOINT, DATASET, ITEMS, CALLS}
NEEDED = KNOWN - {CALLS}
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Price = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=4)]


class BundleError(ValueError):
    """A file that is no bundle; the text says why in a sentence."""


class Manifest(BaseModel):
    format: str
    version: int


class PromptPart(Frozen):
    name: str = Field(pattern=NAME)
    version: int
    system: str
    user: str


class InstrumentPart(Frozen):
    name: str = Field(pattern=NAME)
    version: int
    title: str = Field(max_length=200)
    questions: list[dict[str, Any]]


class DatasetPart(Frozen):
    slug: str = Field(pattern=NAME)
    name: str = Field(max_length=200)
    description: str
    field_order: list[str] = Field(max_length=MAX_FIELDS)


class CapabilitiesPart(Frozen):
    """What a test found out there, as far as it decides what is sent."""

    token_limit_field: TokenLimitField | None = None
    json_mode: JsonMode | None = None
    supports_seed: bool | None = None
    system_role: bool | None = None
    supports_temperature: bool | None = None
    supports_top_p: bool | None = None
    max_top_logprobs: Annotated[int, Field(ge=0, le=100)] | None = None
    logprobs: bool | None = None
    batch: bool | None = None


class EndpointPart(Frozen):
    name: str = Field(min_length=1, max_length=90)
    base_url: str = Field(max_length=500)
    model: str = Field(min_length=1, max_length=200)
    concurrency: Count
    requests_per_minute: Count | None
    tokens_per_minute: Count | None
    timeout_seconds: float = Field(gt=0, le=3600)
    price_per_million_in: Price | None
    price_per_million_out: Price | None
    batch_price_factor: Decimal = Field(ge=0, le=1, max_digits=4, decimal_places=3)
    demo_model: bool
    capabilities: CapabilitiesPart


class JobPart(Frozen):
    name: str = Field(min_length=1, max_length=200)
    kind: Literal["simulate", "judge", "annotate", "generate"]
    question_codes: list[str]
    item_filter: dict[str, list[str | int | float | bool]]
    max_items: Count | None
    items_drawn: bool
    personas: list[Annotated[dict[str, Any], BeforeValidator(check_persona)]] = Field(min_length=1)
    factors: list[dict[str, Any]]
    option_orders: Literal["drawn", "written", "both", "rotated"]
    conditions_per_item: Count | None
    samples: int = Field(ge=1, le=1000)
    seed: int = Field(ge=-(2**63), le=2**63 - 1)
    temperature: float = Field(ge=0, le=2)
    top_p: float = Field(gt=0, le=1)
    max_tokens: int = Field(ge=1, le=100_000)
    answer_mode: str
    answer_sentence: str = Field(max_length=300)
    logprobs: bool
    max_attempts: int = Field(ge=1, le=100)
    max_parse_attempts: int = Field(ge=1, le=10)
    way: Literal["live", "batch"]
    budget_calls: Count | None
    budget_tokens: Annotated[int, Field(ge=1, le=2**63 - 1)] | None
    budget_price: Price | None


@dataclass(frozen=True)
class _Bundle:
    """The checked parts of an open archive; the items stay in it."""

    archive: zipfile.ZipFile
    job: JobPart
    prompts: Sequence[PromptPart]
    instrument: InstrumentPart
    endpoint: EndpointPart
    dataset: DatasetPart

    def items(self) -> Iterator[Record | Fault]:
        """The items with the number of their line."""
        for number, line in enumerate(self._lines(), start=1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                yield Fault(number, "", "this is not JSON.")
                continue
            for item in read_json_items([entry]):
                yield replace(item, row=number)

    def records(self) -> Iterator[Record]:
        """The items. Raises ImportRefusedError at the first that is none."""
        for item in self.items():
            if isinstance(item, Fault):
                raise ImportRefusedError([item], 1)
            yield item

    def _lines(self) -> Iterator[bytes]:
        left = MAX_ITEMS_BYTES
        with self.archive.open(ITEMS) as file:
            lines = io.BufferedReader(file)  # type: ignore[type-var]
            while line := lines.readline(MAX_LINE_BYTES + 1):
                left -= len(line)
                if len(line) > MAX_LINE_BYTES or left < 0:
                    raise BundleError(f"{ITEMS} in the bundle is larger than an import takes.")
                yield line


def import_bundle(*, project: Project, file: IO[bytes], by: User | None = None) -> Job:
    """The bundle's job as a plan of the project, with everything that it needs; all or nothing. Raises BundleError.

    What the project has with the same content is used again. The endpoint comes without a key.
    """
    try:
        with zipfile.ZipFile(file) as archive, transaction.atomic():
            return _make(project, _read(archive), by)
    except BROKEN as error:
        raise BundleError("This is no bundle of a job, or a damaged one: it is not a readable .zip file.") from error
    except ImportRefusedError as error:
        raise BundleError(f"{ITEMS} in the bundle: {error.faults[0]}") from error
    except (EndpointError, JobError, PromptError, QuestionError, GridError) as error:
        raise BundleError(f"The bundle's job cannot be planned: {error}") from error


def _read(archive: zipfile.ZipFile) -> _Bundle:
    if any(part.header_offset < 0 for part in archive.infolist()):
        raise zipfile.BadZipFile("the file's beginning is missing")
    names = archive.namelist()
    if strange := sorted(set(names) - KNOWN):
        raise BundleError(f"A bundle of a job has no part {strange[0][:80]!r}; this file was not made by Concord.")
    if len(set(names)) < len(names):
        raise BundleError("A part is twice in the bundle; this file was not made by Concord.")
    if any(part.flag_bits & 1 for part in archive.infolist()):
        raise BundleError("The bundle is encrypted; take the password off.")
    if any(part.compress_type not in PACKED for part in archive.infolist()):
        raise BundleError(
            "The bundle is packed in a way that this Concord does not read; this file was not made by one."
        )
    if MANIFEST not in names:
        raise BundleError(f"There is no {MANIFEST} in the file; it is no bundle of a job.")
    manifest = _part(archive, MANIFEST, Manifest)
    if manifest.format != FORMAT:
        raise BundleError(f"The file is no bundle of a job but {manifest.format[:80]!r}.")
    if manifest.version != VERSION:
        raise BundleError(f"The bundle has version {manifest.version}, and this Concord reads version {VERSION}.")
    if missing := sorted(NEEDED - set(names)):
        raise BundleError(f"The bundle lacks {missing[0]}; have it written again.")
    return _Bundle(
        archive,
        _part(archive, JOB, JobPart),
        _part(archive, PROMPTS, list[PromptPart]),
        _part(archive, INSTRUMENT, InstrumentPart),
        _part(archive, ENDPOINT, EndpointPart),
        _part(archive, DATASET, DatasetPart),
    )


def _part(archive: zipfile.ZipFile, name: str, kind: Any) -> Any:
    with archive.open(name) as file:
        data = file.read(MAX_PART_BYTES + 1)
    if len(data) > MAX_PART_BYTES:
        raise BundleError(f"{name} in the bundle is larger than {MAX_PART_BYTES // 10**6} MB.")
    try:
        return TypeAdapter(kind).validate_python(read_json(data.decode()))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the top"
        what = fault["msg"].removeprefix("Value error, ").rstrip(".")
        raise BundleError(f"{name} in the bundle, at {place}: {what}.") from error
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name} in the bundle is not JSON that can be stored.") from error


def _make(project: Project, bundle: _Bundle, by: User | None) -> Job:
    questions = bundle.instrument
    return plan_job(
        project=project,
        endpoint=_endpoint(project, bundle.endpoint, by),
        prompts=_prompts(project, bundle.prompts),
        dataset=_dataset(project, bundle, by),
        instrument=published_instrument(project, questions.name, questions.title, questions.questions),
        created_by=by,
        **bundle.job.model_dump(exclude={"kind"}),
        kind=Job.Kind(bundle.job.kind),
    )


def _prompts(project: Project, parts: Sequence[PromptPart]) -> list[Prompt]:
    """The prompts with the bundle's texts. A job asks them in the order in which they were made, which numbers its
    cells: where those that are there have another order, they are made again under other names."""
    found = [published_prompt(project, part.name, part.system, part.user) for part in parts]
    numbers = [prompt.pk for prompt in found]
    if numbers == sorted(set(numbers)):
        return found
    taken = set(project.prompts.values_list("name", flat=True))
    again = []
    for part in parts:
        name = _free(part.name, taken)
        taken.add(name)
        again.append(publish_prompt(project=project, name=name, system=part.system, user=part.user))
    return again


def _endpoint(project: Project, part: EndpointPart, by: User | None) -> Endpoint:
    """The endpoint of this name at this server, or a new one under a free name."""
    if part.demo_model and embedded_model_runs():
        return use_embedded_model(project=project, by=by)
    there = project.endpoints.filter(name=part.name, model=part.model).first()
    if there and endpoint_identity(there.base_url) == endpoint_identity(part.base_url):
        return there
    given = part.model_dump(exclude={"name", "capabilities"})
    name = _free(part.name, set(project.endpoints.values_list("name", flat=True)))
    capabilities = part.capabilities.model_dump(exclude_none=True)
    return save_endpoint(project=project, name=name, by=by, capabilities=capabilities, **given)


def _dataset(project: Project, bundle: _Bundle, by: User | None) -> Dataset:
    """A dataset of just the bundle's items: one that is there, or a new one under a free slug."""
    part = bundle.dataset
    wanted = items_digest(
        (item.external_id, hashlib.sha256(item.content.encode()).hexdigest()) for item in bundle.records()
    )
    taken = {dataset.slug: dataset for dataset in project.datasets.all()}
    for slug, dataset in taken.items():
        if slug == part.slug or slug.startswith(f"{part.slug[:70]}-"):
            items = dataset.items.order_by("position", "pk").values_list("external_id", "content_hash")
            if wanted[0] == dataset.items.count() and items_digest(items.iterator(chunk_size=1000)) == wanted:
                return dataset
    slug = _free(part.slug, set(taken))
    made = import_items(
        project=project, dataset_slug=slug, records=bundle.items(), source=f"bundle of {bundle.job.name}", by=by
    ).dataset
    made.name, made.description, made.field_order = part.name, part.description, part.field_order
    made.save(update_fields=["name", "description", "field_order"])
    return made


def _free(name: str, taken: set[str]) -> str:
    """The name, or with the first number that makes it a new one."""
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name[:70]}-{number}"
    return free
