"""What can be taken out of a job as text, piece by piece in constant memory: its calls, requests and results in the
Batch API's format, and the probabilities of options."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import fsum
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from llm.batches.lines import request_line
from llm.batches.sending import custom_id
from llm.models import Call, Endpoint, Job
from llm.reading.outcomes import parameters_of, schema_of
from llm.reading.probabilities import sampled_probabilities
from llm.running.preparing import render
from llm.servers.client import request_body
from llm.servers.endpoint_config import EndpointConfig
from llm.servers.endpoints import PROBED
from materials.questions import option_codes
from projects.models import User
from projects.services import audit
from responses.export import csv_cell

CHUNK_ROWS = 500
PROBABLE = ("choice", "pairwise", "scale")
COLUMNS = ("job", "model", "demo_model", "item")
MEASURES = ("question", "option", "probability", "source", "n")
ORDER_FACTOR = "option_order"
OK = 200
FAULT = {"status_code", "body"}  # how llm.servers.replies keeps what a server said in another answer than 200


@dataclass(frozen=True)
class Export:
    """One kind of file: its name after the job's, what it holds in words, and its lines."""

    ending: str
    title: str
    lines: Callable[[Job], Iterator[str]]

    @property
    def content_type(self) -> str:
        return "text/csv; charset=utf-8" if self.ending.endswith("csv") else "application/x-ndjson"


class LedgerError(ValueError):
    """Requests of calls that are not in the ledger yet; the text says what to do."""


def export_job(*, job: Job, what: str, by: User | None = None) -> Iterator[str]:
    """The text of one of EXPORTS, after the audit log says who took it. Raises LedgerError for requests."""
    if what in REQUESTS and not job.expanded:
        raise LedgerError(
            f"The requests of {job} are not all written yet; pause it if it runs, then have them written."
        )
    audit(project=job.project, user=by, action="job exported", job=job.name, what=what)
    return EXPORTS[what].lines(job)


def call_lines(job: Job) -> Iterator[str]:
    """Every call of the ledger as a JSON object, in the order in which they are asked."""
    names = {prompt.pk: str(prompt) for prompt in job.prompt_list}
    for call in _calls(job, Call.objects.select_related("item", "respondent", "condition").defer("reply")):
        prompt = job.prompt_list[job.grid[call.cell].prompt]
        yield _line(
            {
                "call": call.pk,
                "custom_id": custom_id(call),
                "job": job.pk,
                "endpoint": job.endpoint.name,
                "model": job.endpoint.model,
                "demo_model": job.endpoint.demo_model,
                "dataset": job.dataset.slug,
                "item": call.item.external_id,
                "item_content": call.item.content,
                "respondent": call.respondent.key,
                "persona": call.persona,
                "prompt": names[prompt.pk],
                "condition": call.condition.factors,
                "orders": call.orders,
                "sample": call.sample,
                "status": call.status,
                "problem": call.problem,
                "messages": call.messages,
                "text": call.text,
                "reasoning": call.reasoning,
                "values": call.values,
                "parse_mode": call.parse_mode,
                "probabilities": call.probabilities,
                "attempts": call.attempts,
                "prompt_tokens": call.prompt_tokens,
                "completion_tokens": call.completion_tokens,
                "latency_seconds": call.latency_seconds,
                "reused_from": call.reused_from_id,
                "fingerprint": call.fingerprint,
                "finished_at": call.finished_at.isoformat() if call.finished_at else None,
            }
        )


def request_lines(job: Job, *, unasked: bool = True) -> Iterator[str]:
    """A line of the Batch API for each call of the ledger, or for each that was not asked yet."""
    endpoint, parameters = keyless_config(job.endpoint), parameters_of(job)
    calls = Call.objects.select_related("item", "respondent").defer("reply", "text", "reasoning")
    for call in _calls(job, calls.filter(status=Call.Status.PENDING) if unasked else calls):
        if render(job, endpoint, call):
            continue  # it cannot be asked: the job itself writes down why when its turn comes
        body = request_body(endpoint, call.messages, parameters, schema=schema_of(job, call))
        yield request_line(custom_id(call), body).decode()


def result_lines(job: Job) -> Iterator[str]:
    """What the server last said to each settled call, as a line of a batch's output or error file."""
    calls = Call.objects.select_related("reused_from").only("reply", "text", "problem", "status", "reused_from__reply")
    for call in _calls(job, calls.exclude(status__in=[Call.Status.PENDING, Call.Status.CLAIMED])):
        reply = (call.reused_from.reply if call.reused_from else call.reply) or {}
        status, body = (reply["status_code"], reply["body"]) if set(reply) >= FAULT else (OK, reply)
        response = {"status_code": status, "request_id": "", "body": body} if body else None
        error = None if response else {"code": call.status, "message": call.problem}
        yield _line({"id": f"result-{call.pk}", "custom_id": custom_id(call), "response": response, "error": error})


def probability_lines(job: Job) -> Iterator[str]:
    """A CSV row for each option: item, persona (attr_*), condition (cond_*), question, option, probability, source, n.

    By source "logprobs" the mean over the n calls whose tokens say it, by "samples" the share among n answers, for jobs
    with several samples; options that no sample chose have no row there. Undefined ones have no row. Orders of options
    that were drawn for each call are no condition here: the samples of a cell differ in them.
    """
    attributes = sorted({name for persona in job.personas for name in persona})
    factors = sorted(_factor_names(job))
    writer = csv.writer(_Echo())
    head = [*COLUMNS, *(f"attr_{name}" for name in attributes), *(f"cond_{name}" for name in factors), *MEASURES]
    yield writer.writerow([csv_cell(name) for name in head])
    fixed = [job.pk, job.endpoint.model, job.endpoint.demo_model]
    columns = ("item__external_id", "condition__factors", "values", "probabilities")
    answered = Call.objects.filter(job=job, status=Call.Status.OK).order_by("item_id", "cell", "sample")
    rows = answered.values_list("item_id", "cell", *columns)
    with transaction.atomic():  # the named cursor of iterator() lives as long as the transaction
        for (_, cell), same in groupby(rows.iterator(chunk_size=CHUNK_ROWS), key=lambda row: row[:2]):
            calls = list(same)
            item, condition = calls[0][2:4]
            persona = job.grid[cell].persona
            named = [*(persona.get(name) for name in attributes), *(condition.get(name) for name in factors)]
            for measures in _measures(job, [call[4:] for call in calls]):
                yield writer.writerow([csv_cell(cell) for cell in (*fixed, item, *named, *measures)])


def keyless_config(endpoint: Endpoint) -> EndpointConfig:
    """As llm.servers.endpoints.endpoint_config, for writing requests that somebody else sends."""
    known = {name: endpoint.capabilities[key] for name, key in PROBED.items() if key in endpoint.capabilities}
    return EndpointConfig(base_url=endpoint.base_url, api_key="", model=endpoint.model, **known)


EXPORTS = {
    "calls": Export("calls.jsonl", "Every call with prompt, reply and values (JSON lines)", call_lines),
    "probabilities": Export("probabilities.csv", "Probabilities of the options (CSV)", probability_lines),
    "requests": Export("requests.jsonl", "Requests not asked yet, for the Batch API", request_lines),
    "all-requests": Export(
        "all-requests.jsonl", "All requests, for the Batch API", lambda job: request_lines(job, unasked=False)
    ),
    "results": Export("results.jsonl", "Replies, in the Batch API's format", result_lines),
}
REQUESTS = ("requests", "all-requests")


class _Echo:
    """A file for csv.writer whose write gives the text back."""

    def write(self, text: str) -> str:
        return text


def _calls(job: Job, calls: QuerySet[Call]) -> Iterator[Call]:
    with transaction.atomic():
        yield from calls.filter(job=job).order_by("pk").iterator(chunk_size=CHUNK_ROWS)


def _measures(job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, str, float, str, int]]:
    """Question, option, probability, source and n, from values and probabilities of a cell's samples."""
    for question in job.questions:
        if question.kind not in PROBABLE:
            continue
        shares = [found[question.code]["shares"] for _, found in calls if question.code in (found or {})]
        values = [said[question.code] for said, _ in calls if said.get(question.code) is not None]
        sampled = sampled_probabilities(values) if job.samples > 1 else {}
        for source, found, n in (("logprobs", _means(shares), len(shares)), ("samples", sampled, len(values))):
            for option in option_codes(question):
                if option in found:
                    yield question.code, option, found[option], source, n


def _means(shares: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {option: fsum(share[option] for share in shares) / len(shares) for option in (shares[0] if shares else ())}


def _factor_names(job: Job) -> set[str]:
    conditions = Call.objects.filter(job=job).order_by().values("condition_id").distinct()
    factors = job.project.conditions.filter(pk__in=conditions).values_list("factors", flat=True)
    names = {name for found in factors.iterator(chunk_size=CHUNK_ROWS) for name in found}
    return names - {ORDER_FACTOR} if job.option_orders == Job.OptionOrders.DRAWN else names


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
