"""What models wrote as items of a new dataset: preferences, rewrites, responses to be judged."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from django.db import transaction

from llm.models import Call, Job
from llm.planning.grid import Cell
from materials.content import ordered
from materials.fitting import field_names
from materials.importing import Imported, import_items
from materials.reading import Fault, Record, item_record
from projects.models import User

ROWS_AT_ONCE = 2000


class NoAnswersError(ValueError):
    """Answers that make no dataset; the text says why and what to do."""


def series_of(job: Job) -> list[Job]:
    """The job and those planned together with it at other endpoints, in the order of their planning."""
    related = ("endpoint", "dataset", "instrument", "project")
    return list(Job.objects.filter(project=job.project, series=job.series).select_related(*related).order_by("pk"))


@transaction.atomic
def dataset_from_answers(*, job: Job, slug: str, by: User | None) -> Imported:
    """Make each answered call of the job's series an item of the dataset with this slug, which is made when missing.

    An item has the fields of the item that was asked about, the answers under their question's code, and `model`. Its
    id is that item's, followed by what else distinguishes the call (endpoint, sample, condition, persona), if anything
    does; its lineage leads back to call, job and item. Asked for again it adds what was answered since. Raises
    NoAnswersError, and ImportRefusedError for faults of single items.
    """
    jobs = series_of(job)
    codes = [question.code for question in job.questions]
    taken = sorted({*codes, "model"}.intersection(field_names(job.dataset)))
    if taken:
        raise NoAnswersError(
            f"The items have a field {', '.join(taken)} already; ask the question under another code to keep both."
        )
    if not Call.objects.filter(job__in=jobs, status=Call.Status.OK).exists():
        raise NoAnswersError("No call of this job is answered yet.")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        _spool(jobs, codes, spool)  # because the connection cannot be read from while it copies
        spool.seek(0)
        source = f"answers to the job {job.name}"
        return import_items(project=job.project, dataset_slug=slug, records=_records(spool), source=source, by=by)


def _spool(jobs: Sequence[Job], codes: Sequence[str], spool: IO[str]) -> None:
    for job in jobs:
        calls = Call.objects.filter(job=job, status=Call.Status.OK).select_related("item").order_by("pk")
        for call in calls.defer("messages", "reply", "text", "reasoning").iterator(chunk_size=ROWS_AT_ONCE):
            content = dict(ordered(call.item.content, job.dataset.field_order))
            values = call.values or {}
            content |= {code: values[code] for code in codes if code in values}
            content["model"] = job.endpoint.model
            parts = [call.item.external_id, *_distinguishing(job, call, several=len(jobs) > 1)]
            lineage = {"job": job.pk, "call": call.pk, "item": call.item_id, "demo_model": job.endpoint.demo_model}
            spool.write(json.dumps(["/".join(parts), content, lineage]) + "\n")


def _records(spool: IO[str]) -> Iterator[Record | Fault]:
    for row, line in enumerate(spool, start=1):
        external_id, content, lineage = json.loads(line)
        yield item_record(row, external_id, content, lineage)


def _distinguishing(job: Job, call: Call, *, several: bool) -> list[str]:
    """What sets the call apart from the others about its item, as parts of an id."""
    cell, grid = job.grid[call.cell], job.grid
    parts = [job.endpoint.name] if several else []
    parts += [str(job.prompt_list[cell.prompt])] if grid.prompts > 1 else []
    parts += [
        level.name for factor, (_, level) in zip(grid.factors, cell.levels, strict=True) if len(factor.levels) > 1
    ]
    parts += [f"order {cell.order + 1}"] if grid.orders > 1 else []
    parts += [_persona(cell)] if len(job.personas) > 1 else []
    return parts + ([f"sample {call.sample + 1}"] if job.samples > 1 else [])


def _persona(cell: Cell) -> str:
    return ", ".join(str(value) for value in cell.persona.values()) or "no persona"
