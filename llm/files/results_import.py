"""Answers to a job's requests that somebody had made elsewhere, from a file of the Batch API's results."""

import json
import uuid
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from django.db import transaction
from django.utils import timezone

from llm.batches.lines import MAX_LINE_BYTES, Result, read_result
from llm.batches.sending import call_number
from llm.files.exports import keyless_config
from llm.models import Call, Job
from llm.reading.outcomes import SCHEMA_MODES, Spent, outcome_of
from llm.running import ledger
from llm.running.ledger import Outcome, Used, lease, settle
from llm.running.preparing import render
from llm.servers.endpoint_config import EndpointConfig
from llm.services import resume_job, start_job
from projects.models import User
from projects.services import audit

AT_ONCE = 500
MAX_FAULTS = 1000
FILE_FAULT = 0  # the line of what is wrong with the file as a whole
PAUSED = "Its requests were written for asking elsewhere. Import the results, or resume it to have them asked."


@dataclass(frozen=True, order=True)
class LineFault:
    """What is wrong with a line, from 1."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.what}" if self.line else self.what


class ResultsRefusedError(Exception):
    """Nothing was imported; `faults` says why, by line, and `total` counts them."""

    def __init__(self, faults: list[LineFault], total: int) -> None:
        super().__init__(f"Nothing was imported: {total:,} fault{'' if total == 1 else 's'}.")
        self.faults, self.total = faults, total


@dataclass
class ImportedResults:
    """What became of the lines. `unknown`: no call of the job has the id; `busy`: it is being asked just now."""

    settled: int = 0
    before: int = 0
    busy: int = 0
    not_answered: int = 0
    unknown: list[LineFault] = field(default_factory=list)

    @property
    def words(self) -> str:
        parts = [f"{self.settled:,} call{'' if self.settled == 1 else 's'} settled"]
        others = (
            (self.before, "settled before"), (self.busy, "in flight, left to who asks them"),
            (self.not_answered, "not answered, still to ask"), (len(self.unknown), "of no call of this job"),
        )  # fmt: skip
        return ", ".join([*parts, *(f"{count:,} {what}" for count, what in others if count)]) + "."


@transaction.atomic
def write_requests(*, job: Job, by: User | None = None) -> None:
    """Have every call of a job that does not run in the ledger, so that its requests can be taken elsewhere.

    A plan is started and paused, in one transaction, so that nothing is asked before somebody resumes it. Raises
    PromptError.
    """
    if Job.objects.filter(pk=job.pk, expanded=True).exists():
        return
    if start_job(job=job, by=by) or resume_job(job=job, everything=True, by=by):
        while ledger.expand(job):
            pass
        Job.objects.filter(pk=job.pk).update(status=Job.Status.PAUSED, status_reason=PAUSED)
    job.refresh_from_db()


def import_results(*, job: Job, file: BinaryIO, by: User | None = None) -> ImportedResults:
    """Settle the job's calls with the results in a file, as if they had been asked here.

    A file with a line that is no result imports nothing: raises ResultsRefusedError. Calls that are settled stay as
    they are, so that a file can be imported again. Results that say that the server was busy or down settle nothing.
    """
    endpoint = keyless_config(job.endpoint)
    _refuse_malformed(file)
    audit(project=job.project, user=by, action="results imported", job=job.name)
    imported = ImportedResults()
    results = _results(file, wants_json=job.answer_mode in SCHEMA_MODES and endpoint.json_mode != "none")
    while some := list(islice(results, AT_ONCE)):
        _settle(job, endpoint, some, imported)
    _finish(job)
    return imported


def _refuse_malformed(file: BinaryIO) -> None:
    faults: list[LineFault] = []
    total, seen = 0, set[str]()
    for number, line in _lines(file):
        if what := _fault(line, seen):
            total += 1
            if total <= MAX_FAULTS:
                faults.append(LineFault(number, what))
        if len(line) > MAX_LINE_BYTES:
            break
    if not seen and not total:
        faults, total = [LineFault(FILE_FAULT, "The file holds no results.")], 1
    if total:
        raise ResultsRefusedError(faults, total)


def _fault(line: bytes, seen: set[str]) -> str:
    """What makes the line no result, if anything does; the ids of lines that are one go to `seen`."""
    if len(line) > MAX_LINE_BYTES:
        return f"it is longer than {MAX_LINE_BYTES // 2**20} MB."
    try:
        entry = json.loads(line.decode())
    except (ValueError, RecursionError):
        return "this is not JSON in UTF-8."
    if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
        return "a result is an object with a custom_id."
    if not isinstance(entry.get("response"), dict) and not entry.get("error"):
        return f"{entry['custom_id'][:80]} has neither a response nor an error."
    if entry["custom_id"] in seen:
        return f"{entry['custom_id'][:80]} stands there twice."
    seen.add(entry["custom_id"])
    return ""


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    file.seek(0)
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if line.strip():
            yield number, line


def _results(file: BinaryIO, *, wants_json: bool) -> Iterator[tuple[int, Result]]:
    for number, line in _lines(file):
        if result := read_result(line, wants_json=wants_json):
            yield number, result


@transaction.atomic
def _settle(
    job: Job, endpoint: EndpointConfig, results: Sequence[tuple[int, Result]], imported: ImportedResults
) -> None:
    shard = uuid.uuid4()
    named = {number: result for _, result in results if (number := call_number(result.custom_id)) is not None}
    calls = Call.objects.filter(job=job, pk__in=named)
    known = dict(calls.values_list("pk", "status"))
    for line, result in results:
        if call_number(result.custom_id) not in known:
            imported.unknown.append(LineFault(line, f"no call of job {job.pk} has the id {result.custom_id[:80]}."))
    answered = [pk for pk in known if (reply := named[pk].reply) and not (reply.status == "error" and reply.retryable)]
    pending = calls.filter(pk__in=answered, status=Call.Status.PENDING)
    # On the same condition as any other claim: what somebody else took meanwhile is theirs.
    pending.update(status=Call.Status.CLAIMED, claimed_by=shard, lease_until=timezone.now() + lease())
    held = list(Call.objects.filter(claimed_by=shard).select_related("item", "respondent").order_by("pk"))
    used, outcomes = Spent(), []
    for call in held:
        reply = named[call.pk].reply
        assert reply is not None
        used.add(reply)
        outcomes.append(_outcome(job, endpoint, call, named[call.pk]))
    settled = settle(job, shard, outcomes, Used(used.requests, used.prompt_tokens or 0, used.completion_tokens or 0))
    imported.settled += settled
    before = sum(status not in ledger.UNSETTLED for status in known.values())
    busy = calls.filter(pk__in=answered, status=Call.Status.CLAIMED).count()
    imported.before += before
    imported.busy += busy
    imported.not_answered += len(known) - settled - before - busy


def _outcome(job: Job, endpoint: EndpointConfig, call: Call, result: Result) -> Outcome:
    if fault := render(job, endpoint, call):
        return fault
    assert result.reply is not None
    spent = Spent(call.attempts, call.prompt_tokens, call.completion_tokens)
    spent.add(result.reply)
    outcome = outcome_of(job, call, result.reply, spent)
    return replace(outcome, fields=outcome.fields | {"latency_seconds": None})


@transaction.atomic
def _finish(job: Job) -> None:
    """A job that was paused or stopped is done when the results left nothing to ask."""
    ledger.lock_job(job)
    left = Call.objects.filter(job=job, status__in=ledger.UNSETTLED).exists()
    if Job.objects.filter(pk=job.pk, expanded=True).exists() and not left:
        resume_job(job=job)
        ledger.finish_if_done(job)
    job.refresh_from_db()
