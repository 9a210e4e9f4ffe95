"""Named reads of jobs and calls for the pages."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.utils import timezone

from llm.models import Call, Endpoint, Job, Prompt
from llm.pages.live import NEWEST_FAILED, Problem, job_problems
from projects.models import Project
from responses.models import Respondent, RespondentKind

RATE_WINDOW = timedelta(seconds=30)
MARK_EVERY = timedelta(seconds=3)
MARKS = "llm:marks:{}"  # how many calls of a job were settled when
LATENCIES_READ = 200
NEWEST_ITEMS = 2_000  # of each dataset
COUNTRIES = """
SELECT DISTINCT field.value
FROM materials_dataset AS dataset, LATERAL (
    SELECT content FROM materials_item WHERE dataset_id = dataset.id ORDER BY position DESC, id DESC LIMIT %s
  ) AS newest,
  LATERAL jsonb_each_text(CASE jsonb_typeof(newest.content) WHEN 'object' THEN newest.content ELSE '{}' END) AS field
WHERE dataset.project_id = %s AND (field.key = 'country' OR field.key LIKE '%%\\_country') AND field.value <> ''"""


@dataclass(frozen=True)
class Progress:
    """How far a job is. `rate`: calls settled a second, over the last half minute; without one, or in a job that does
    not run, nobody knows the `seconds_left`. `asked`: settled without those whose answer was reused."""

    total: int
    settled: int
    asked: int
    by_status: list[tuple[Call.Status, int]]
    rate: float
    seconds_left: float | None
    problems: list[Problem]
    problems_partial: bool  # counted over the newest calls of each state only

    @property
    def in_flight(self) -> int:
        return dict(self.by_status).get(Call.Status.CLAIMED, 0)


def job_progress(job: Job) -> Progress:
    """From the job's own counts, so that it costs the same for any number of calls; two queries, over those in flight
    and the newest without an answer."""
    in_flight = Call.objects.filter(job=job, status=Call.Status.CLAIMED).count()
    total = job.planned_calls
    counts = {
        Call.Status.PENDING: max(0, total - job.settled - in_flight),
        Call.Status.CLAIMED: in_flight,
        Call.Status.OK: job.n_ok,
        Call.Status.TRUNCATED: job.n_truncated,
        Call.Status.UNPARSED: job.n_unparsed,
        Call.Status.REFUSED: job.n_refused,
        Call.Status.ERROR: job.n_error,
    }
    going = job.status == Job.Status.RUNNING
    rate = recent_rate(job) if going else 0.0
    return Progress(
        total=total,
        settled=job.settled,
        asked=job.settled - job.n_reused,
        by_status=[(status, count) for status, count in counts.items() if count],
        rate=rate,
        seconds_left=(total - job.settled) / rate if going and rate > 0 and job.settled < total else None,
        problems=job_problems(job),
        problems_partial=max(job.n_truncated, job.n_unparsed, job.n_refused, job.n_error) > NEWEST_FAILED,
    )


def unwritten_calls(of: QuerySet[Job]) -> Counter[str]:
    """How many calls that jobs have yet to ask are not in the ledger, which is written ahead only in part, by model."""
    going = of.filter(status__in=[Job.Status.RUNNING, Job.Status.PAUSED], expanded=False)
    left: Counter[str] = Counter()
    for model, planned, written in going.annotate(n=Count("calls")).values_list(
        "endpoint__model", "planned_calls", "n"
    ):
        left[model] += planned - written
    return +left


def mark_rate(job_id: int) -> None:
    """Remember how many calls are settled by now, for `recent_rate`. Costs a query; called once a second at most."""
    settled = Job.objects.filter(pk=job_id).values_list(
        F("n_ok") + F("n_truncated") + F("n_unparsed") + F("n_refused") + F("n_error"), flat=True
    )
    now = timezone.now()
    marks = [mark for mark in cache.get(MARKS.format(job_id), ()) if mark[0] >= now - RATE_WINDOW]
    if not marks or marks[-1][0] <= now - MARK_EVERY:
        cache.set(MARKS.format(job_id), [*marks, (now, settled.first() or 0)], timeout=300)


def recent_rate(job: Job) -> float:
    """Calls settled a second since the oldest mark of the last half minute; 0 without one."""
    now = timezone.now()
    marks = [mark for mark in cache.get(MARKS.format(job.pk), ()) if mark[0] >= now - RATE_WINDOW]
    seconds = (now - marks[0][0]).total_seconds() if marks else 0.0
    return max(0, job.settled - marks[0][1]) / seconds if seconds > 0 else 0.0


def project_jobs(project: Project) -> QuerySet[Job]:
    related = ("endpoint", "dataset", "instrument", "project")
    return Job.objects.filter(project=project).select_related(*related).prefetch_related("prompts")


def usual_latency(endpoint: Endpoint) -> float | None:
    """Seconds that a call took of late: the median of the newest answered ones of one job; None without any."""
    answered = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.OK, latency_seconds__isnull=False)
    job = Job.objects.filter(Exists(answered), endpoint=endpoint).order_by("-pk").first()
    if job is None:
        return None
    calls = Call.objects.filter(job=job, status=Call.Status.OK, latency_seconds__isnull=False).order_by("-pk")
    return median(seconds or 0.0 for seconds in calls.values_list("latency_seconds", flat=True)[:LATENCIES_READ])


def endpoints_with_use(project: Project) -> QuerySet[Endpoint]:
    return project.endpoints.annotate(job_count=Count("jobs")).order_by("name")


def latest_prompts(project: Project) -> QuerySet[Prompt]:
    """The newest version of each prompt, with `versions` and `used`."""
    newer = Prompt.objects.filter(project=project, name=OuterRef("name"), version__gt=OuterRef("version"))
    return project.prompts.filter(~Exists(newer)).annotate(used=Count("jobs")).order_by("name")


def known_countries(project: Project) -> list[str]:
    """Countries of the people who answered and of the last 2,000 items of each dataset (fields `country` and
    `..._country`), sorted."""
    people = Respondent.objects.filter(project=project).exclude(kind=RespondentKind.MODEL)
    found: set[Any] = set(people.values_list("attributes__country", flat=True).distinct())
    with connection.cursor() as cursor:
        cursor.execute(COUNTRIES, [NEWEST_ITEMS, project.pk])
        found.update(row[0] for row in cursor.fetchall())
    return sorted(name for name in found if isinstance(name, str) and name)


def job_for_preview(prompt: Prompt) -> Job | None:
    """The newest job with the prompt in any version, or of the project without one."""
    jobs = project_jobs(prompt.project)
    return jobs.filter(prompts__name=prompt.name).first() or jobs.first()
