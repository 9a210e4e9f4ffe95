"""Jobs that are asked by the Batch API, step by step; the sweep has steps taken until none is needed any more.

A step looks at the batches that are under way, collects those that are over and sends what may be sent.

A paused job sends nothing more and still collects what it had sent, which costs either way. A stopped one has it
cancelled at the server first.
"""

from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from llm import services
from llm.batches.api import BatchApi, BatchApiError
from llm.batches.collecting import Survey, collect, delete_files
from llm.batches.lines import ServerBatch
from llm.batches.sending import close, recover, send, set_under_way
from llm.models import Batch, Call, Job
from llm.running.ledger import finish_if_done
from llm.servers.endpoint_config import EndpointConfig
from projects.crypto import DecryptionError
from projects.locks import alone

STEPPED, STEPPED_SECONDS = "llm:stepped:{}", 60
FIRST_HOLD_SECONDS, LONGEST_HOLD_SECONDS = 30, 1800
GONE = 404
NOT_ALLOWED = (401, 403)
OVER = (Batch.Status.COLLECTED, Batch.Status.FAILED, Batch.Status.LOST)


def jobs_to_step() -> QuerySet[Job]:
    """Jobs with something to send, to look at, to collect or to delete at the server."""
    mine = Batch.objects.filter(job=OuterRef("pk"))
    to_follow = Exists(mine.filter(Q(status__in=Batch.OPEN) | (~Q(files={}) & Q(files_problem=""))))
    return Job.objects.filter(to_follow | _to_send(), way=Job.Way.BATCH)


def enqueue_steps() -> int:
    """Have a step taken in every job that wants one; returns how many messages that took.

    A mark beside the messages says that a job's waits for a worker already; it is lost with them.
    """
    jobs = [
        pk for pk in jobs_to_step().values_list("pk", flat=True) if cache.add(STEPPED.format(pk), 1, STEPPED_SECONDS)
    ]
    for pk in jobs:
        current_app.send_task(services.STEP_BATCHES, [pk])
    return len(jobs)


def step(job_id: int) -> bool:
    """Take the job one step on; False when somebody else is at it just now."""
    cache.delete(STEPPED.format(job_id))
    with alone("llm batches", job_id) as free:
        related = ("endpoint", "instrument", "dataset", "project")
        job = Job.objects.select_related(*related).filter(pk=job_id, way=Job.Way.BATCH).first()
        if free and job:
            _step(job)
    return free


def _step(job: Job) -> None:
    try:
        endpoint = services.endpoint_config(job.endpoint)
    except (services.EndpointError, DecryptionError) as error:
        services.pause_job(job=job, reason=str(error))
        return
    api = BatchApi(endpoint)
    for batch in job.batches.exclude(files={}, status__in=OVER).filter(files_problem=""):
        try:
            _follow(job, endpoint, batch, api)
        except BatchApiError as error:
            _note(job, error, batch)
    try:
        while _may_send(job) and send(job, endpoint, api):
            services.note_recovery(job=job)
    except BatchApiError as error:
        _note(job, error)
    finish_if_done(job)


def _follow(job: Job, endpoint: EndpointConfig, batch: Batch, api: BatchApi) -> None:
    if batch.status in (Batch.Status.PREPARING, Batch.Status.SENDING):
        recover(batch, api)
    if batch.status == Batch.Status.UNDERWAY:
        found = _look(batch, api)
        if found.over:
            _collect(job, endpoint, batch, found, api)
        elif not batch.cancel_asked and Job.objects.filter(pk=job.pk, status=Job.Status.STOPPED).exists():
            _cancel(batch, api)
    if batch.pk and batch.status in OVER:
        delete_files(batch, api)


def _collect(job: Job, endpoint: EndpointConfig, batch: Batch, found: ServerBatch, api: BatchApi) -> None:
    try:
        _judge(job, batch, found, collect(job, endpoint, batch, found, api))
    except (BatchApiError, ValueError) as error:
        if isinstance(error, BatchApiError) and (error.passing or error.status_code in NOT_ALLOWED):
            raise
        # Its calls would wait for ever for files that never come. A person decides whether they are asked again.
        close(batch, Batch.Status.FAILED, f"What it brought cannot be read: {error}")
        _pause(job, f"what a batch brought cannot be read: {error}")


def _look(batch: Batch, api: BatchApi) -> ServerBatch:
    """The batch as it is now; one that the server does not know any more as one that failed."""
    try:
        found = api.look(batch.server_id)
    except BatchApiError as error:
        if error.status_code != GONE:
            raise
        return ServerBatch(batch.server_id, "failed", {}, problem=str(error))
    set_under_way(batch, found)
    return found


def _cancel(batch: Batch, api: BatchApi) -> None:
    try:
        api.cancel(batch.server_id)
    except BatchApiError as error:
        if error.status_code is None or error.status_code >= 500:
            raise
    # A server that refuses has it over by now, or cannot cancel: either way it is collected when it ends.
    batch.cancel_asked = True
    batch.save(update_fields=["cancel_asked"])


def _judge(job: Job, batch: Batch, found: ServerBatch, survey: Survey) -> None:
    """Whether the job may go on as before, after what the batch brought."""
    fault = survey.fault.error if survey.fault else ""
    if survey.hopeless:
        _pause(job, f"every request of a batch ended like this: {fault}")
    elif found.status == "failed" and found.queue_full and job.batches.filter(status__in=Batch.OPEN).exists():
        _hold(job, f"The server has no room for another batch: {found.problem}.")
    elif found.status == "failed":
        _pause(job, f"the server did not take a batch: {found.problem or 'it gives no reason.'}")
    elif survey.good:
        services.note_recovery(job=job)
    elif survey.replies:
        _hold(job, f"No request of a batch was answered: {fault}")
    elif not batch.cancel_asked:
        _pause(job, f'a batch ended as "{found.status}" before anything in it was answered.')


def _note(job: Job, error: BatchApiError, batch: Batch | None = None) -> None:
    if batch is not None and batch.pk:
        Batch.objects.filter(pk=batch.pk).update(problem=str(error)[:500])
    if error.passing:
        _hold(job, f"The Batch API of the endpoint is not working: {error}")
    else:
        _pause(job, f"the endpoint's Batch API answers: {error}")


def _pause(job: Job, reason: str) -> None:
    reason = reason if reason.endswith(".") else f"{reason}."
    services.pause_job(job=job, reason=f"Paused, because {reason} Mend the endpoint or the job, then resume.")


def _hold(job: Job, reason: str) -> None:
    """Send nothing for a while, which grows from one time to the next; a job that waits already goes on waiting."""
    holds = Job.objects.filter(_not_held(), pk=job.pk).values_list("holds", flat=True).first()
    if holds is not None:
        seconds = min(LONGEST_HOLD_SECONDS, FIRST_HOLD_SECONDS * 2 ** min(holds, 10))
        services.hold_job(job=job, reason=reason, wait=timedelta(seconds=seconds), holds=holds + 1)


def _may_send(job: Job) -> bool:
    under_way = job.batches.filter(status__in=Batch.OPEN).count()
    return under_way < settings.MODEL_BATCHES_AT_ONCE and Job.objects.filter(_to_send(), pk=job.pk).exists()


def _to_send() -> Q:
    """Which jobs have calls to send, as far as their budget allows."""
    pending = Exists(Call.objects.filter(job=OuterRef("pk"), status=Call.Status.PENDING))
    to_ask = Q(pending) | Q(expanded=False, pilot=False)
    return to_ask & _not_held() & Q(status=Job.Status.RUNNING)


def _not_held() -> Q:
    return Q(held_until=None) | Q(held_until__lte=timezone.now())
