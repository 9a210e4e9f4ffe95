"""A job as one file: everything another Concord needs to run the same job again. llm.files.bundle_import reads it."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any

from django.conf import settings

from llm.files.exports import call_lines
from llm.models import Endpoint, Job
from llm.planning.selection import planned_items
from materials.content import ordered
from materials.models import Item
from projects.models import User
from projects.services import audit

FORMAT, VERSION = "concord-job", 1
MANIFEST, JOB, PROMPTS, INSTRUMENT = "manifest.json", "job.json", "prompts.json", "instrument.json"
ENDPOINT, DATASET, ITEMS, CALLS = "endpoint.json", "dataset.json", "items.jsonl", "calls.jsonl"
CHUNK_ROWS = 1000
JOB_FIELDS = (
    "name", "kind", "question_codes", "item_filter", "max_items", "items_drawn", "personas", "factors", "option_orders",
    "conditions_per_item", "samples", "seed", "temperature", "top_p", "max_tokens", "answer_mode", "answer_sentence",
    "logprobs", "max_attempts", "max_parse_attempts", "way", "budget_calls", "budget_tokens", "budget_price",
)  # fmt: skip
# What the key is and which variable has it stays here.
ENDPOINT_FIELDS = (
    "name", "base_url", "model", "concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds",
    "price_per_million_in", "price_per_million_out", "batch_price_factor", "demo_model",
)  # fmt: skip
CAPABILITIES = (
    "token_limit_field", "json_mode", "supports_seed", "system_role", "supports_temperature", "supports_top_p",
    "max_top_logprobs", "logprobs", "batch",
)  # fmt: skip


def write_bundle(*, job: Job, file: IO[bytes], calls: bool = False, by: User | None = None) -> None:
    """Write the job's bundle, with its calls when they are wanted. The same job gives the same bytes."""
    audit(project=job.project, user=by, action="job exported", job=job.name, what="bundle")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        parts = {
            JOB: {name: getattr(job, name) for name in JOB_FIELDS},
            PROMPTS: [
                {"name": prompt.name, "version": prompt.version, "system": prompt.system, "user": prompt.user}
                for prompt in job.prompt_list
            ],
            INSTRUMENT: {
                "name": job.instrument.name,
                "version": job.instrument.version,
                "title": job.instrument.title,
                "questions": job.instrument.questions,
            },
            ENDPOINT: described_endpoint(job.endpoint),
            DATASET: {
                "slug": job.dataset.slug,
                "name": job.dataset.name,
                "description": job.dataset.description,
                "field_order": job.dataset.field_order,
            },
        }
        manifest = {"format": FORMAT, "version": VERSION, "concord": settings.VERSION, "calls": calls}
        for name, part in {MANIFEST: manifest, **parts}.items():
            _write(bundle, name, [json.dumps(part, ensure_ascii=False, indent=1, sort_keys=True, default=str)])
        _write(bundle, ITEMS, _item_lines(job))
        if calls:
            _write(bundle, CALLS, call_lines(job))


def described_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """The endpoint without its key, and what a test found out that decides what is sent to it."""
    known = {name: endpoint.capabilities[name] for name in CAPABILITIES if name in endpoint.capabilities}
    return {name: getattr(endpoint, name) for name in ENDPOINT_FIELDS} | {"capabilities": known}


def items_digest(items: Iterable[tuple[str, str]]) -> tuple[int, str]:
    """How many (external id, content hash) pairs there are, and one text for them in this order."""
    digest, number = hashlib.sha256(), 0
    for pair in items:
        number += 1
        digest.update(json.dumps(pair).encode())
    return number, digest.hexdigest()


def _item_lines(job: Job) -> Iterator[str]:
    items = Item.objects.filter(pk__in=planned_items(job).order_by().values("pk")).order_by("position", "pk")
    for item in items.iterator(chunk_size=CHUNK_ROWS):
        content = dict(ordered(item.content, job.dataset.field_order))
        yield json.dumps({"external_id": item.external_id, "content": content}, ensure_ascii=False) + "\n"


def _write(bundle: zipfile.ZipFile, name: str, lines: Iterable[str]) -> None:
    part = zipfile.ZipInfo(name)  # without the time of day
    part.compress_type = zipfile.ZIP_DEFLATED
    with bundle.open(part, "w", force_zip64=True) as target:
        for line in lines:
            target.write(line.encode())
