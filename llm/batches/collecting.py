"""From a batch that is over to settled calls. What was collected before a worker died is not collected again: it is no
longer held by the batch."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from tempfile import TemporaryFile
from typing import BinaryIO

from django.db import transaction
from django.db.models import QuerySet

from llm.batches.api import BatchApi, BatchApiError
from llm.batches.lines import Result, ServerBatch, read_results
from llm.batches.sending import call_number, close, custom_id
from llm.models import Batch, Call, Job
from llm.reading.outcomes import SCHEMA_MODES, Spent, outcome_of
from llm.running.ledger import Outcome, Used, settle
from llm.running.preparing import find_answered, reused
from llm.servers.endpoint_config import EndpointConfig
from llm.servers.replies import Reply

SETTLED_AT_ONCE = 200
SAME_FAULT = 10  # so many requests, all refused alike, say that the fault is not theirs
GONE = 404
GIVEN_BACK = (
    "status", "claimed_by", "lease_until", "failed_attempts", "parse_attempts", "attempts", "prompt_tokens",
    "completion_tokens", "reply", "text", "reasoning", "problem",
)  # fmt: skip


@dataclass
class Survey:
    """What a batch brought in all: replies, those that are answers of some kind, and the first of the faults."""

    replies: int = 0
    good: int = 0
    fault: Reply | None = None
    alike: bool = True  # the faults

    @property
    def hopeless(self) -> bool:
        """Every request was refused for the same reason, which is then not the requests'."""
        return (
            self.good == 0 and self.replies >= SAME_FAULT and self.alike and not (self.fault and self.fault.retryable)
        )

    def add(self, reply: Reply) -> None:
        self.replies += 1
        if reply.status != "error":
            self.good += 1
        else:
            self.fault = self.fault or reply
            self.alike = self.alike and reply.status_code == self.fault.status_code


def collect(job: Job, endpoint: EndpointConfig, batch: Batch, over: ServerBatch, api: BatchApi) -> Survey:
    """Settle what the batch brought and end it; calls that it did not answer go back to the job.

    Raises BatchApiError when its files do not come and ValueError when they cannot be read. May be called again after
    it was cut off anywhere.
    """
    wants_json = job.answer_mode in SCHEMA_MODES and endpoint.json_mode != "none"
    with ExitStack() as stack:
        files: list[BinaryIO] = []
        for kind in ("output", "error"):
            if kind in batch.files:
                files.append(stack.enter_context(TemporaryFile(prefix="concord-batch-")))
                api.download(batch.files[kind], files[-1])
        survey = Survey()
        for result in _results(files, wants_json):
            if result.reply:
                survey.add(result.reply)
        if not survey.hopeless:
            results = _results(files, wants_json)
            while some := list(islice(results, SETTLED_AT_ONCE)):
                _settle(job, batch, some)
    _finish(job, batch, over, survey)
    return survey


def delete_files(batch: Batch, api: BatchApi) -> None:
    """Delete the batch's files at the server, whose content is in the ledger; note why when that fails."""
    for kind, file_id in list(batch.files.items()):
        try:
            api.delete(file_id)
        except BatchApiError as error:
            if error.status_code != GONE:
                batch.files_problem = f"Its {kind} file is still at the server: {error}"[:500]
                continue
        del batch.files[kind]
    batch.save(update_fields=["files", "files_problem"])


def _results(files: Sequence[BinaryIO], wants_json: bool) -> Iterator[Result]:
    for file in files:
        file.seek(0)
        yield from read_results(file, wants_json=wants_json)


@transaction.atomic
def _settle(job: Job, batch: Batch, results: Sequence[Result]) -> None:
    ids = [number for result in results if (number := call_number(result.custom_id)) is not None]
    held = {custom_id(call): call for call in _held(batch).filter(pk__in=ids)}
    done: list[Outcome] = []
    again: list[Outcome] = []
    used = Spent()
    for result in results:
        if result.reply and (call := held.pop(result.custom_id, None)):
            used.add(result.reply)
            outcome = _outcome(job, call, result.reply)
            (again if _is_asked_again(job, outcome, result.reply) else done).append(outcome)
    for outcome in again:
        _give_back(outcome)
    Call.objects.bulk_update([outcome.call for outcome in again], GIVEN_BACK)
    settle(job, batch.key, done, Used(used.requests, used.prompt_tokens or 0, used.completion_tokens or 0))


def _outcome(job: Job, call: Call, reply: Reply) -> Outcome:
    spent = Spent(call.attempts, call.prompt_tokens, call.completion_tokens)
    spent.add(reply)
    outcome = outcome_of(job, call, reply, spent)
    call.failed_attempts += reply.status == "error"
    call.parse_attempts += outcome.status == Call.Status.UNPARSED
    return replace(outcome, fields=outcome.fields | {"latency_seconds": None})


def _is_asked_again(job: Job, outcome: Outcome, reply: Reply) -> bool:
    call = outcome.call
    if outcome.status == Call.Status.UNPARSED:
        return call.parse_attempts < job.max_parse_attempts
    return reply.status == "error" and reply.retryable and call.failed_attempts < job.max_attempts


def _give_back(outcome: Outcome) -> None:
    """With what was wrong, which the next batch tells the model."""
    for name in GIVEN_BACK[3:]:
        if name in outcome.fields:
            setattr(outcome.call, name, outcome.fields[name])
    outcome.call.status, outcome.call.claimed_by, outcome.call.lease_until = Call.Status.PENDING, None, None


@transaction.atomic
def _finish(job: Job, batch: Batch, over: ServerBatch, survey: Survey) -> None:
    if not survey.hopeless:
        _answer_equal_ones(job, batch)
    failed = survey.hopeless or over.status == "failed"
    fault = survey.fault.error if survey.hopeless and survey.fault else over.problem
    close(batch, Batch.Status.FAILED if failed else Batch.Status.COLLECTED, fault)


def _answer_equal_ones(job: Job, batch: Batch) -> None:
    """Give the batch's calls that were not asked, because another asked the same, the answer of that one."""
    last = 0
    while job.repeatable and (calls := list(_held(batch).filter(pk__gt=last)[:SETTLED_AT_ONCE])):
        last = calls[-1].pk
        known = find_answered(job, [call.fingerprint for call in calls])
        pairs = [(call, known[call.fingerprint]) for call in calls if call.fingerprint in known]
        settle(job, batch.key, [outcome for pair in pairs if (outcome := reused(job, *pair))])


def _held(batch: Batch) -> QuerySet[Call]:
    """What the batch holds still, kept from others until the transaction ends."""
    held = Call.objects.filter(claimed_by=batch.key, status=Call.Status.CLAIMED).order_by("pk")
    return held.select_related("item", "respondent").select_for_update(of=("self",))
