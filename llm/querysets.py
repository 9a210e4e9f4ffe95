"""Named reads of jobs and calls for the pages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from llm.ledger import FAILED, UNSETTLED
from llm.models import Call, Endpoint, Job, Prompt
from projects.models import Project
from responses.models import Respondent, RespondentKind

RATE_WINDOW = timedelta(seconds=30)
PROBLEMS_SHOWN = 8
LATENCIES_READ = 200
COUNTRIES = """
SELECT DISTINCT field.value
FROM materials_item AS item JOIN materials_dataset AS dataset ON dataset.id = item.dataset_id,
  LATERAL jsonb_each_text(CASE jsonb_typeof(item.content) WHEN 'object' THEN item.content ELSE '{}' END) AS field
WHERE dataset.project_id = %s AND (field.key = 'country' OR field.key LIKE '%%\\_country') AND field.value <> ''"""


@dataclass(frozen=True)
class Problem:
    """Calls that ended without an answer for the same reason."""

    status: Call.Status
    sentence: str
    count: int


@dataclass(frozen=True)
class Progress:
    """How far a job is. `rate`: calls settled a second, over the last half minute; without one, or in a job that does
    not run, nobody knows the `seconds_left`."""

    total: int
    settled: int
    by_status: list[tuple[Call.Status, int]]
    reused: int
    prompt_tokens: int
    completion_tokens: int
    price: Decimal | None
    rate: float
    seconds_left: float | None
    problems: list[Problem]

    @property
    def failed(self) -> int:
        return sum(count for status, count in self.by_status if status in FAILED)

    @property
    def in_flight(self) -> int:
        return dict(self.by_status).get(Call.Status.CLAIMED, 0)


def job_progress(job: Job) -> Progress:
    """Two queries that read each of the job's calls once."""
    now = timezone.now()
    rows = Call.objects.filter(job=job).values("status").annotate(
        n=Count("pk"),
        reused=Count("reused_from"),
        recent=Count("pk", filter=Q(finished_at__gte=now - RATE_WINDOW)),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
    )  # fmt: skip
    by_status = {row["status"]: row for row in rows}
    total = sum(row["n"] for row in by_status.values())
    settled = sum(row["n"] for status, row in by_status.items() if status not in UNSETTLED)
    window = min(RATE_WINDOW, now - (job.started_at or now)).total_seconds()
    rate = sum(row["recent"] for row in by_status.values()) / window if window > 0 else 0.0
    going = job.status == Job.Status.RUNNING
    tokens = [sum(row[name] or 0 for row in by_status.values()) for name in ("prompt", "completion")]
    return Progress(
        total=total,
        settled=settled,
        by_status=[(status, by_status[status]["n"]) for status in Call.Status if status in by_status],
        reused=sum(row["reused"] for row in by_status.values()),
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        price=job.endpoint.price(*tokens),
        rate=rate,
        seconds_left=(total - settled) / rate if going and rate > 0 and settled < total else None,
        problems=_problems(job),
    )


def _problems(job: Job) -> list[Problem]:
    rows = Call.objects.filter(job=job).exclude(problem="").values_list("status", "problem").annotate(n=Count("pk"))
    most = rows.order_by("-n", "problem")[:PROBLEMS_SHOWN]
    return [Problem(Call.Status(status), problem, count) for status, problem, count in most]


@dataclass(frozen=True)
class JobRow:
    """A job in a list, with how many of its calls were answered and how many ended without an answer."""

    job: Job
    total: int
    answered: int
    failed: int


def jobs_with_progress(jobs: Sequence[Job]) -> list[JobRow]:
    """One query for all of them."""
    counts: dict[int, Counter[str]] = {job.pk: Counter() for job in jobs}
    rows = Call.objects.filter(job__in=jobs).values_list("job_id", "status").annotate(n=Count("pk"))
    for job_id, status, count in rows:
        counts[job_id][status] += count
    return [
        JobRow(job, found.total(), found[Call.Status.OK], sum(found[status] for status in FAILED))
        for job, found in zip(jobs, counts.values(), strict=True)
    ]


def project_jobs(project: Project) -> QuerySet[Job]:
    return Job.objects.filter(project=project).select_related("endpoint", "prompt", "dataset", "instrument", "project")


def usual_latency(endpoint: Endpoint) -> float | None:
    """Seconds that a call took of late: the median of the newest answered ones of one job; None without any."""
    answered = Call.objects.filter(job=OuterRef("pk"), status=Call.Status.OK, latency_seconds__isnull=False)
    job = Job.objects.filter(Exists(answered), endpoint=endpoint).order_by("-pk").first()
    if job is None:
        return None
    calls = Call.objects.filter(job=job, status=Call.Status.OK, latency_seconds__isnull=False).order_by("-pk")
    return median(seconds or 0.0 for seconds in calls.values_list("latency_seconds", flat=True)[:LATENCIES_READ])


def job_calls(job: Job, status: str) -> QuerySet[Call]:
    """The job's calls in the order in which they are asked, without the large columns."""
    calls = Call.objects.filter(job=job).select_related("item", "respondent").order_by("id")
    calls = calls.defer("messages", "reply", "reasoning", "item__content")
    return calls.filter(status=status) if status in Call.Status.values else calls


def endpoints_with_use(project: Project) -> QuerySet[Endpoint]:
    return project.endpoints.annotate(job_count=Count("jobs")).order_by("name")


def latest_prompts(project: Project) -> QuerySet[Prompt]:
    """The newest version of each prompt, with `versions` and `used`."""
    newer = Prompt.objects.filter(project=project, name=OuterRef("name"), version__gt=OuterRef("version"))
    return project.prompts.filter(~Exists(newer)).annotate(used=Count("jobs")).order_by("name")


def known_countries(project: Project) -> list[str]:
    """Countries of the people who answered and of the items (fields `country` and `..._country`), sorted."""
    people = Respondent.objects.filter(project=project).exclude(kind=RespondentKind.MODEL)
    found: set[Any] = set(people.values_list("attributes__country", flat=True).distinct())
    with connection.cursor() as cursor:
        cursor.execute(COUNTRIES, [project.pk])
        found.update(row[0] for row in cursor.fetchall())
    return sorted(name for name in found if isinstance(name, str) and name)


def job_for_preview(prompt: Prompt) -> Job | None:
    """The newest job with the prompt in any version, or of the project without one."""
    jobs = project_jobs(prompt.project)
    return jobs.filter(prompt__name=prompt.name).first() or jobs.first()
